import test from 'ava'
import { type AuthProvider, AuthProviders, definePlugin, provide, type VerifiedIdentity, wire } from 'pounce/sdk'
import { bootForTest } from 'pounce/sdk/testing'
import { callsOf } from '../../test/support/calls.ts'
import { newPerson } from '../../test/support/people.ts'
import { sharedBrowserTests } from '../../test/support/real-browsers.ts'
import { newDataset, ok, upload } from '../../test/support/scene.ts'
import { letIn, newSpace } from '../../test/support/spaces-and-people.ts'
import { unexpected, waitForPath, webPage } from '../../test/support/web-pages.ts'

const { test: inBrowser, browser } = sharedBrowserTests(test, 'chromium')

inBrowser('an expired session is renewed on the page, and the action continues', async t => {
  const server = await bootForTest({ t })
  const { page, problems } = await webPage(t, browser(), server.url, server.admin)
  await page.goto('/datasets')
  await page.getByRole('button', { name: 'Create dataset' }).first().click()
  const dialog = page.getByRole('dialog', { name: 'Create dataset' })
  await dialog.getByLabel('Name').fill('Typed before')
  await page.context().clearCookies()
  await dialog.getByRole('button', { name: 'Create dataset' }).click()
  const requested = page.getByRole('dialog', { name: 'You are signed out' })
  await requested.getByLabel('Password').fill(server.admin.password)
  await requested.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.waitForURL(/\/datasets\/[0-9a-f]{24}$/)
  const [dataset] = (await (await server.as(server.admin.key)('/api/datasets')).json()) as { name: string }[]
  t.is(dataset?.name, 'Typed before')

  // Session changes in one tab apply to the others.
  const other = await page.context().newPage()
  await other.goto('/datasets')
  await other.getByRole('row', { name: /Typed before/ }).waitFor()
  await page.getByRole('button', { name: /^Account of/ }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await other.getByRole('dialog', { name: 'You are signed out' }).waitFor()
  await page.goto('/login')
  await page.getByLabel('Email address').fill(server.admin.email)
  await page.getByLabel('Password').fill(server.admin.password)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await other.getByRole('dialog', { name: 'You are signed out' }).waitFor({ state: 'detached' })
  await newDataset(server.as(server.admin.key), { name: 'Made elsewhere' })
  await other.getByRole('row', { name: /Made elsewhere/ }).waitFor()
  t.deepEqual(unexpected(problems), [])
})

inBrowser('a download of an ended session continues after signing in', async t => {
  const server = await bootForTest({ t })
  const call = server.as(server.admin.key)
  const dataset = await newDataset(call, { name: 'Oaks' })
  const file = await upload(call, dataset, 'plot\n1\n', 'plots.csv', { type: 'text/csv' })
  const { page, problems } = await webPage(t, browser(), server.url, server.admin)
  const signedOut = page.getByRole('dialog', { name: 'You are signed out' })
  const starts: readonly (readonly [path: string, name: string, start: () => Promise<void>])[] = [
    [`/files/${file}`, 'plots.csv', () => page.getByRole('link', { name: 'Download', exact: true }).first().click()],
    [
      `/datasets/${dataset}`,
      'Oaks.zip',
      async () => {
        await page.getByRole('button', { name: 'Download', exact: true }).click()
        await page.getByRole('dialog').getByRole('button', { name: 'Download ZIP' }).click()
      },
    ],
  ]
  for (const [path, name, start] of starts) {
    await page.goto(path)
    await page.getByRole('button', { name: /^Account of/ }).waitFor()
    await page.context().clearCookies()
    const started = page.waitForEvent('download')
    await start()
    await signedOut.getByLabel('Password').fill(server.admin.password)
    await signedOut.getByRole('button', { name: 'Sign in', exact: true }).click()
    t.is((await started).suggestedFilename(), name)
  }
  t.deepEqual(unexpected(problems), [])
})

inBrowser('signing in does not use a response about the session before', async t => {
  const server = await bootForTest({ t })
  const { page, problems } = await webPage(t, browser(), server.url)
  await page.goto('/login?next=/datasets')
  await page.getByLabel('Email address').fill(server.admin.email)
  await page.getByLabel('Password').fill(server.admin.password)
  // Another tab signs in: this one asks who is signed in, and gets no response.
  let resolveRequest = (): void => undefined
  const requested = new Promise<void>(resolve => {
    resolveRequest = resolve
  })
  await page.route('**/api/session', () => resolveRequest(), { times: 1 })
  const other = await page.context().newPage()
  await other.goto('/login?next=/spaces')
  await other.getByLabel('Email address').fill(server.admin.email)
  await other.getByLabel('Password').fill(server.admin.password)
  await other.getByRole('button', { name: 'Sign in', exact: true }).click()
  await requested
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await waitForPath(page, '/datasets')
  await page.getByText('No datasets yet').waitFor()
  t.deepEqual(unexpected(problems), [])
})

inBrowser('another user who signs in on an open page sees nothing that the previous user started', async t => {
  const server = await bootForTest({ t, config: { access: { private: false } } })
  const bob = await newPerson(server, 'bob')
  const dataset = await newDataset(server.as(server.admin.key), { name: 'Oaks' })
  const { page, problems } = await webPage(t, browser(), server.url, server.admin)
  const other = await page.context().newPage()
  await other.goto('/')
  await page.goto(`/datasets/${dataset}`)
  await page.getByRole('button', { name: 'Edit description' }).click()
  await page.getByRole('textbox', { name: 'Description' }).fill('A secret draft')
  await other.getByRole('button', { name: /^Account of/ }).click()
  await other.getByRole('menuitem', { name: 'Sign out' }).click()
  const requested = page.getByRole('dialog', { name: 'You are signed out' })
  await requested.getByLabel('Email address').fill(bob.email)
  await requested.getByLabel('Password').fill(bob.password)
  await requested.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.getByRole('button', { name: 'Account of bob Number 1' }).waitFor()
  await page.getByRole('heading', { level: 1, name: 'Oaks' }).waitFor()
  t.is(await page.getByRole('textbox', { name: 'Description' }).count(), 0)
  t.is(await page.getByRole('button', { name: 'Edit description' }).count(), 0)
  t.is(await page.getByRole('button', { name: 'Add files' }).count(), 0)
  t.deepEqual(unexpected(problems), [])
})

inBrowser('a file that may be viewed but not downloaded shows the reason, and anonymous users a sign-in link', async t => {
  const server = await bootForTest({ t, config: { access: { private: false } } })
  const call = server.as(server.admin.key)
  const file = await upload(call, await newDataset(call), 'plot\n1\n', 'plots.csv', { type: 'text/csv' })
  const { page } = await webPage(t, browser(), server.url, await newPerson(server, 'bob'))
  await page.goto(`/files/${file}`)
  await page.getByText('You may see this file, but not download it.').waitFor()
  t.is(await page.getByRole('note').getByRole('link', { name: 'Sign in' }).count(), 0)
  const stranger = await webPage(t, browser(), server.url)
  await stranger.page.goto(`/files/${file}`)
  await stranger.page.getByRole('note').getByRole('link', { name: 'Sign in' }).click()
  await stranger.page.getByLabel('Email address').fill(server.admin.email)
  await stranger.page.getByLabel('Password').fill(server.admin.password)
  await stranger.page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await stranger.page.getByRole('link', { name: 'Download', exact: true }).first().waitFor()
  t.is(await stranger.page.getByRole('note').count(), 0)
})

inBrowser('users of a directory sign in with their user name', async t => {
  class Directory implements AuthProvider {
    readonly id = 'directory'

    async password(login: string, password: string): Promise<VerifiedIdentity | undefined> {
      if (login !== 'grace' || password !== 'theirs') return undefined
      return {
        ...{ provider: 'directory', subject: 'uid=grace', email: 'grace@example.org', isEmailVerified: false },
        ...{ firstName: 'Grace', lastName: 'Hopper', groups: [] },
      }
    }
  }
  wire(Directory)
  const directory = definePlugin({ id: 'auth.directory', summary: 'For tests.', provides: [provide(AuthProviders, Directory)] })
  const server = await bootForTest({ t, also: [directory] })
  const { page, problems } = await webPage(t, browser(), server.url)
  await page.goto('/login?next=/spaces')
  await page.getByLabel('Email address or user name').fill('grace')
  await page.getByLabel('Password').fill('theirs')
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await waitForPath(page, '/spaces')
  t.deepEqual(unexpected(problems), [])
})

inBrowser('what is typed is kept when the language changes, and pages opened directly are among those recently used', async t => {
  const server = await bootForTest({ t })
  const dataset = await newDataset(server.as(server.admin.key), { name: 'Oaks' })
  await upload(server.as(server.admin.key), dataset, 'x', 'plot.txt')
  const { page, problems } = await webPage(t, browser(), server.url, server.admin)
  // The page of the dataset is complete before it is known who is signed in.
  const held = Promise.withResolvers<void>()
  await page.route('**/api/session', async route => {
    await held.promise
    await route.continue()
  })
  await page.goto(`/datasets/${dataset}`)
  await page.getByRole('heading', { level: 1, name: 'Oaks' }).waitFor()
  held.resolve()
  await page.getByRole('button', { name: 'Edit description' }).click()
  await page.getByRole('textbox', { name: 'Description' }).fill('A draft')
  await page.getByRole('button', { name: /^Account of/ }).click()
  await page.getByRole('menuitemradio', { name: 'Deutsch' }).click()
  t.is(await page.getByRole('textbox', { name: 'Beschreibung' }).inputValue(), 'A draft')
  await page.getByRole('columnheader', { name: 'Größe' }).waitFor()
  await page.getByRole('row', { name: 'plot.txt' }).getByRole('checkbox', { name: 'plot.txt auswählen' }).waitFor()
  await page.getByRole('button', { name: 'Dateien hinzufügen' }).waitFor()
  t.is(await page.getByText('Skip to the content').count(), 0)

  await page.goto('/')
  await page.locator('section', { hasText: 'Zuletzt verwendet' }).getByRole('link', { name: 'Oaks' }).waitFor()
  t.deepEqual(unexpected(problems), [])
})

inBrowser('what a user may no longer do is not offered after a change of the role in a space, nor after a refusal', async t => {
  const server = await bootForTest({ t })
  const bob = await newPerson(server, 'bob')
  const call = server.as(server.admin.key)
  const owner = callsOf(call)
  const space = await newSpace(owner)
  const dataset = await newDataset(call, { name: 'Oaks', space: [space] })
  const role = (name: string): Promise<void> => letIn(owner, space, name, bob)
  await role('Editor')
  const { page, problems } = await webPage(t, browser(), server.url, bob)
  const add = page.getByRole('button', { name: 'New folder' })
  await page.goto(`/datasets/${dataset}`)
  await add.waitFor()
  await role('Viewer')
  await add.waitFor({ state: 'detached' })
  await role('Editor')
  await add.waitFor()

  // The change is not reported.
  await page.route('**/api/live*', route => route.abort())
  await page.reload()
  await add.click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name of the folder').fill('raw')
  await role('Viewer')
  await page.keyboard.press('Enter')
  await dialog.getByText('Permission denied').waitFor()
  await page.keyboard.press('Escape')
  await add.waitFor({ state: 'detached' })
  t.deepEqual(
    unexpected(problems).filter(problem => !/api\/live/.test(problem)),
    [],
  )
})

inBrowser('what a user may view is no longer offered after the removal from a space, nor after a change that finds nothing', async t => {
  const server = await bootForTest({ t, config: { access: { private: true } } })
  const bob = await newPerson(server, 'bob')
  const call = server.as(server.admin.key)
  const owner = callsOf(call)
  const space = await newSpace(owner)
  const dataset = await newDataset(call, { name: 'Oaks', space: [space] })
  const removal = () => ok(call(`/api/spaces/${space}/removeUser?removeUser=${bob.id}`, { method: 'POST' }))
  await letIn(owner, space, 'Editor', bob)
  const { page } = await webPage(t, browser(), server.url, bob)
  const add = page.getByRole('button', { name: 'New folder' })
  const gone = page.getByText('This was deleted, or you may no longer see it.')
  await page.goto(`/datasets/${dataset}`)
  await add.waitFor()
  await removal()
  await gone.waitFor()
  t.is(await add.count(), 0)

  await letIn(owner, space, 'Editor', bob)
  // The change is not reported.
  await page.route('**/api/live*', route => route.abort())
  await page.reload()
  await add.click()
  await page.getByRole('dialog').getByLabel('Name of the folder').fill('raw')
  await removal()
  await page.keyboard.press('Enter')
  await page.getByRole('dialog').getByText('not found or not accessible').waitFor()
  await page.keyboard.press('Escape')
  await gone.waitFor()
  t.is(await add.count(), 0)
})
