import test from 'ava'
import type { Page } from 'playwright-core'
import { bootForTest, type TestFetch } from 'pounce/sdk/testing'
import { newPerson } from '../../test/support/people.ts'
import { sharedBrowserTests } from '../../test/support/real-browsers.ts'
import { newDataset, ok } from '../../test/support/scene.ts'
import { axeFindings, unexpected, webPage } from '../../test/support/web-pages.ts'

/*
 * Where the focus is after an action that removes its own button.
 */

const server = await bootForTest({ config: { access: { private: true } } })
const call = server.as(server.admin.key)
const { test: inBrowser, browser } = sharedBrowserTests(test, 'chromium')
test.after.always(() => server.stop())

const send = <T = unknown>(to: TestFetch, path: string, json: object): Promise<T> => ok<T>(to(path, { method: 'POST', json }))

/** Presses a button with the keyboard. */
const press = async (page: Page, button: ReturnType<Page['getByRole']>): Promise<void> => {
  await button.focus()
  await page.keyboard.press('Enter')
}

/** Waits until an element has the focus. */
const focused = (element: ReturnType<Page['getByRole']>): Promise<void> => element.and(element.page().locator(':focus')).waitFor()

inBrowser('a facet that is chosen keeps the focus, and adds its condition once', async t => {
  const dataset = await newDataset(call, { name: 'Oaks by the pond' })
  await send(call, `/api/datasets/${dataset}/tags`, { tags: ['leaf area'] })
  await server.drained()
  const { page, problems } = await webPage(t, browser(), server.url, server.admin)
  await page.goto('/search?query=pond')
  const facets = page.getByRole('complementary', { name: 'Narrow the search' })
  const tag = facets.getByRole('button', { name: 'leaf area' })
  for (const _ of [1, 2]) {
    const loaded = page.waitForURL(/tag/)
    await press(page, tag)
    await loaded
    await page.getByText('1 hit', { exact: true }).waitFor()
    await focused(tag)
    t.is(new URL(page.url()).searchParams.get('query'), 'pond tag=="leaf area"')
  }
  await press(page, facets.getByRole('button', { name: 'Dataset', exact: true }))
  await press(page, facets.getByRole('button', { name: 'Search everywhere' }))
  await focused(facets)
  t.deepEqual(await axeFindings(page), [])
  t.deepEqual(problems, [])
})

inBrowser('a search on the search page gives the focus to the page', async t => {
  const { page, problems } = await webPage(t, browser(), server.url, server.admin)
  await page.goto('/search?query=oaks')
  await page
    .getByText('0 hits')
    .or(page.getByText('1 hit', { exact: true }))
    .waitFor()
  await page.keyboard.press('/')
  await page.keyboard.type('no such tree')
  await page.keyboard.press('Enter')
  await page.waitForURL(/no\+such/)
  await focused(page.getByRole('main'))
  t.deepEqual(problems, [])
})

inBrowser('copying without the clipboard API, as over plain http, keeps the focus', async t => {
  const { id } = await send<{ id: string }>(call, '/api/spaces', { name: 'Heath', description: '' })
  const { page } = await webPage(t, browser(), server.url, server.admin)
  const other = await page.context().newPage()
  await other.goto('/accessibility')
  await page.addInitScript("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
  await page.goto(`/spaces/${id}`)
  const copy = page.getByRole('button', { name: `Copy the identifier ${id}` })
  await press(page, copy)
  await page.getByText('Copied').waitFor()
  await focused(copy)
  await other.bringToFront()
  t.is(await other.evaluate('navigator.clipboard.readText()'), id)
})

inBrowser('the focus stays in the list of saved searches, in the query builder, and on the choice of who can read', async t => {
  for (const name of ['Oaks', 'Ashes']) await send(call, '/api/me/searches', { name, query: name })
  const { page, problems } = await webPage(t, browser(), server.url, server.admin)
  await page.goto('/search')
  const heading = page.getByRole('heading', { name: 'Saved searches' })
  await press(page, page.getByRole('button', { name: 'Delete saved search Oaks' }))
  await focused(heading)
  await press(page, page.getByRole('button', { name: 'Delete saved search Ashes' }))
  await heading.waitFor({ state: 'detached' })
  await focused(page.getByRole('main'))

  await page.goto('/search?query=oak%20ash')
  await page.getByRole('button', { name: 'Query builder' }).click()
  const conditions = page.getByRole('group', { name: 'Conditions' })
  await press(page, conditions.getByRole('button', { name: 'Remove condition' }).first())
  await focused(conditions.getByRole('button', { name: 'Add condition' }))

  // The setting is from the configuration here.
  const session = await ok<{ capabilities: object }>(call('/api/session'))
  let isPrivate = true
  const capabilities = () => ({ ...session.capabilities, private: isPrivate, accessOrigin: 'admin' })
  await page.route('**/api/session', async route => {
    const response = await route.fetch()
    await route.fulfill({ response, json: { ...(await response.json()), capabilities: capabilities() } })
  })
  await page.route('**/api/admin/access', route => {
    isPrivate = false
    return route.fulfill({ json: { private: false, origin: 'admin' } })
  })
  await page.goto('/admin/access')
  await page.getByRole('radio', { name: /^Public/ }).focus()
  await page.keyboard.press('Space')
  await press(page, page.getByRole('button', { name: 'Save' }))
  await page.getByRole('button', { name: 'Save' }).waitFor({ state: 'detached' })
  await focused(page.getByRole('radio', { name: /^Public/ }))
  t.deepEqual(problems, [])
})

inBrowser('an invitation is answered once, however often the button is pressed; the next one gets the focus', async t => {
  const [ann, bob] = [await newPerson(server, 'ann'), await newPerson(server, 'bob')]
  const ids: string[] = []
  for (const name of ['Oaks', 'Ashes', 'Limes']) {
    const { id } = await send<{ id: string }>(ann.call, '/api/spaces', { name, description: '' })
    ids.push(id)
    await send(ann.call, `/api/spaces/${id}/invite`, { emails: [bob.email], role: 'Viewer', message: 'Please join' })
  }
  const { page, problems } = await webPage(t, browser(), server.url, bob)
  let sent = 0
  let isRevoked = false
  await page.route('**/accept', async route => {
    sent += 1
    if (isRevoked) {
      const [revoked] = await ok<readonly { id: string }[]>(ann.call(`/api/spaces/${ids[1]}/invitations`))
      await ok(ann.call(`/api/spaces/${ids[1]}/invitations/${revoked?.id}`, { method: 'DELETE' }))
    }
    await route.continue()
  })
  await page.goto('/')
  const line = (name: string) => page.getByRole('listitem').filter({ hasText: `invites you to ${name}` })
  const accept = line('Oaks').getByRole('button', { name: 'Accept' })
  await accept.waitFor()
  t.deepEqual(await axeFindings(page), [])
  await accept.focus()
  await page.keyboard.press('Enter')
  await page.keyboard.press('Enter')
  await page.getByText('You are a member of Oaks now').waitFor()
  await line('Oaks').waitFor({ state: 'detached' })
  await focused(page.getByRole('heading', { name: 'Invitations' }))
  t.is(sent, 1)

  isRevoked = true
  await line('Ashes').getByRole('button', { name: 'Accept' }).click()
  await page.getByText('Invitation not found or not accessible').waitFor()
  await line('Ashes').waitFor({ state: 'detached' })
  await press(page, line('Limes').getByRole('button', { name: 'Decline' }))
  await page.getByText('The invitation to Limes is declined').waitFor()
  await focused(page.getByRole('main'))
  t.deepEqual(
    unexpected(problems).filter(problem => !problem.includes('status of 404')),
    [],
  )
})
