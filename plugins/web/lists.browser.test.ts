import test from 'ava'
import { bootForTest } from 'pounce/sdk/testing'
import { sharedBrowserTests } from '../../test/support/real-browsers.ts'
import { newDataset, ok } from '../../test/support/scene.ts'
import { until } from '../../test/support/until.ts'
import { webPage } from '../../test/support/web-pages.ts'

const server = await bootForTest({})
const call = server.as(server.admin.key)
const { test: inBrowser, browser } = sharedBrowserTests(test, 'chromium')
test.after.always(() => server.stop())

const refusal = { status: 500, json: { code: 'internal', message: 'The disk is on strike' } }

inBrowser('a page of a list or of hits that cannot be loaded leaves those before it', async t => {
  for (let number = 100; number < 230; number++) await newDataset(call, { name: `oak ${number}` })
  await server.drained()
  const { page } = await webPage(t, browser(), server.url, server.admin)
  let isBroken = true
  const afterFirst = ({ searchParams, pathname }: URL): boolean =>
    (pathname === '/api/datasets' && searchParams.has('after')) || (pathname === '/api/search' && searchParams.get('from') === '50')
  await page.route(afterFirst, route => (isBroken ? route.fulfill(refusal) : route.continue()))
  await page.goto('/datasets?sort=name')
  const row = (name: string) => page.getByRole('row', { name: new RegExp(name) })
  await row('oak 100').focus()
  await page.keyboard.press('End')
  await page.getByText(refusal.json.message).waitFor()
  await page.keyboard.press('Home')
  await row('oak 100').waitFor()
  isBroken = false
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByText(refusal.json.message).waitFor({ state: 'detached' })
  await row('oak 100').focus()
  await page.keyboard.press('End')
  await row('oak 229').waitFor()

  isBroken = true
  await page.goto('/search?query=oak')
  await page.getByRole('checkbox', { name: /oak/ }).first().check()
  const more = page.getByRole('button', { name: 'Show more' })
  await more.click()
  await page.getByText(refusal.json.message).waitFor()
  t.is(await page.locator('.hit').count(), 50)
  await page.getByRole('toolbar').getByText('1 selected').waitFor()
  isBroken = false
  await more.click()
  await until('more hits', async () => (await page.locator('.hit').count()) === 100)
})

inBrowser('the order of the lists of a space and of a collection is part of the URL', async t => {
  const { id: space } = await ok<{ id: string }>(call('/api/spaces', { method: 'POST', json: { name: 'Forest', description: '' } }))
  const { id: collection } = await ok<{ id: string }>(
    call('/api/collections', { method: 'POST', json: { name: 'Trees', description: '' } }),
  )
  for (const name of ['beech', 'ash', 'fir']) await newDataset(call, { name, space: [space], collection: [collection] })
  const { page, problems } = await webPage(t, browser(), server.url, server.admin)
  const names = async (): Promise<string> =>
    (await page.getByRole('row').allInnerTexts())
      .slice(1)
      .map(text => text.split('\n')[0]?.trim())
      .join()
  const isSorted = (): Promise<unknown> => until('the list sorted by name', names, shown => shown === 'ash,beech,fir')
  for (const path of [`/spaces/${space}`, `/collection/${collection}`]) {
    await page.goto(path)
    await page.getByRole('columnheader', { name: 'Name' }).getByRole('button').click()
    await isSorted()
    await page.getByRole('link', { name: 'fir' }).click()
    await page.getByRole('heading', { level: 1, name: 'fir' }).waitFor()
    await page.goBack()
    await isSorted()
    await page.reload()
    await isSorted()
  }
  t.deepEqual(problems, [])
})

inBrowser('the query builder searches for the value as it is written', async t => {
  await newDataset(call, { name: 'plots (2021)' })
  await server.drained()
  const { page, problems } = await webPage(t, browser(), server.url, server.admin)
  await page.goto('/search?query=name:nothing')
  await page.getByRole('button', { name: 'Query builder' }).click()
  const text = page.getByLabel('Query as text')
  for (const [value, query] of [
    ['AND', 'name:"AND"'],
    ['10:30', 'name:"10:30"'],
    ['plots 20', 'name:plots__20'],
    ['(2021)', 'name:"(2021)"'],
  ] as const) {
    await page.getByLabel('Value').fill(value)
    t.is(await text.inputValue(), query)
  }
  await page.getByRole('button', { name: 'Search', exact: true }).click()
  await page.getByRole('link', { name: 'plots (2021)' }).waitFor()
  t.deepEqual(problems, [])
})

inBrowser('hits that are deleted leave the selection', async t => {
  const [kept, gone] = [await newDataset(call, { name: 'narwhal one' }), await newDataset(call, { name: 'narwhal two' })]
  await server.drained()
  const { page, problems } = await webPage(t, browser(), server.url, server.admin)
  await page.goto('/search?query=narwhal')
  await page.getByText('2 hits').waitFor()
  for (const name of ['narwhal one', 'narwhal two']) await page.getByRole('checkbox', { name }).check()
  await page.getByRole('toolbar').getByText('2 selected').waitFor()
  await ok(call(`/api/datasets/${gone}`, { method: 'DELETE' }))
  await page.getByRole('toolbar').getByText('1 selected').waitFor()
  await ok(call(`/api/datasets/${kept}`, { method: 'DELETE' }))
  await page.getByRole('toolbar').waitFor({ state: 'detached' })
  t.deepEqual(problems, [])
})

inBrowser('a facet narrows a search for alternatives as a whole', async t => {
  const tagged = await newDataset(call, { name: 'wombat' })
  await newDataset(call, { name: 'quagga' })
  await ok(call(`/api/datasets/${tagged}/tags`, { method: 'POST', json: { tags: ['burrow'] } }))
  await server.drained()
  const { page, problems } = await webPage(t, browser(), server.url, server.admin)
  await page.goto('/search?query=quagga+OR+wombat')
  await page.getByText('2 hits').waitFor()
  await page.getByRole('button', { name: 'burrow' }).click()
  await page.getByText('1 hit', { exact: true }).waitFor()
  await page.getByRole('heading', { name: 'wombat', exact: true }).waitFor()
  t.is(new URL(page.url()).searchParams.get('query'), '(quagga OR wombat) tag=="burrow"')
  t.deepEqual(problems, [])
})

inBrowser('the lists and counts of a collection and a space follow what others move to the trash and restore', async t => {
  const json = { name: 'Woods', description: '' }
  const { id: space } = await ok<{ id: string }>(call('/api/spaces', { method: 'POST', json }))
  const { id: collection } = await ok<{ id: string }>(call('/api/collections', { method: 'POST', json: { ...json, space } }))
  const inside = { name: 'Inner woods', description: '', parentId: collection }
  const { id: child } = await ok<{ id: string }>(call('/api/collections/newCollectionWithParent', { method: 'POST', json: inside }))
  const dataset = await newDataset(call, { name: 'Ash', space: [space], collection: [collection] })
  const { page, problems } = await webPage(t, browser(), server.url, server.admin)
  await page.goto(`/collection/${collection}`)
  await page.getByText('1 dataset', { exact: true }).waitFor()
  await page.getByRole('link', { name: 'Inner woods' }).waitFor()
  const other = await page.context().newPage()
  await other.goto(`/spaces/${space}`)
  await other.getByText('1 dataset', { exact: true }).waitFor()

  await ok(call(`/api/datasets/${dataset}`, { method: 'DELETE' }))
  await other.getByText('1 dataset', { exact: true }).waitFor({ state: 'detached' })
  await page.getByText('0 datasets', { exact: true }).waitFor()
  await ok(call(`/api/collections/${child}`, { method: 'DELETE' }))
  await page.getByRole('link', { name: 'Inner woods' }).waitFor({ state: 'detached' })
  await ok(call(`/api/datasets/restore/${dataset}`, { method: 'PUT' }))
  await page.getByText('1 dataset', { exact: true }).waitFor()
  await other.getByText('1 dataset', { exact: true }).waitFor()
  t.deepEqual(problems, [])
})

inBrowser('a search that fails can be tried again', async t => {
  await newDataset(call, { name: 'Yew' })
  await server.drained()
  const { page } = await webPage(t, browser(), server.url, server.admin)
  let isBroken = true
  await page.route('**/api/search?*', route => (isBroken ? route.fulfill(refusal) : route.continue()))
  await page.goto('/search?query=yew')
  await page.getByText(refusal.json.message).waitFor()
  isBroken = false
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByText('1 hit', { exact: true }).waitFor()
})

inBrowser('the page of a deleted space or collection keeps its list, and the identifier is copied', async t => {
  const post = (path: string, json: object) => ok<{ id: string }>(call(path, { method: 'POST', json }))
  const { id: space } = await post('/api/spaces', { name: 'Heath', description: '' })
  const { id: collection } = await post('/api/collections', { name: 'Shrubs', description: '' })
  await newDataset(call, { name: 'Heather', space: [space], collection: [collection] })
  const { page } = await webPage(t, browser(), server.url, server.admin)
  for (const path of [`spaces/${space}`, `collections/${collection}`]) {
    await page.goto(`/${path}`)
    await page.getByRole('row', { name: /Heather/ }).waitFor()
    const id = path.split('/')[1] ?? ''
    await page.getByRole('button', { name: `Copy the identifier ${id}` }).click()
    await page.getByText('Copied').waitFor()
    t.is(await page.evaluate('navigator.clipboard.readText()'), id)
    await ok(call(`/api/${path}`, { method: 'DELETE' }))
    if (path.startsWith('collections')) await ok(call(`/api/${path}`, { method: 'DELETE' }))
    await page.getByText('This was deleted, or you may no longer see it').waitFor()
    await page.waitForLoadState('networkidle')
    t.is(await page.getByText('There is nothing at this address').count(), 0)
  }
})

inBrowser('a name written from right to left does not reorder the words around it', async t => {
  const { id } = await ok<{ id: string }>(call('/api/spaces', { method: 'POST', json: { name: 'قياسات (2026)', description: '' } }))
  const { page, problems } = await webPage(t, browser(), server.url, server.admin)
  await page.goto(`/spaces/${id}`)
  await page
    .getByRole('button', { name: /^Actions for/ })
    .first()
    .click()
  await page.getByRole('menuitem', { name: 'Delete space' }).click()
  const title = page.getByRole('dialog').getByRole('heading')
  await title.waitFor()
  // Where the year and the name are drawn.
  const [year = 0, name = 0] = await title.evaluate(element => {
    const text = (element as unknown as { firstChild: { data: string } }).firstChild
    const page = globalThis as unknown as {
      document: {
        createRange(): {
          setStart(of: object, at: number): void
          setEnd(of: object, at: number): void
          getBoundingClientRect(): { left: number }
        }
      }
    }
    return ['2026', 'ق'].map(part => {
      const range = page.document.createRange()
      const at = text.data.indexOf(part)
      range.setStart(text, at)
      range.setEnd(text, at + part.length)
      return range.getBoundingClientRect().left
    })
  })
  const before = await title.evaluate(element => (element as unknown as { textContent: string }).textContent)
  t.regex(before, /^Delete \u2068قياسات \(2026\)\u2069\?$/)
  t.true(year < name, 'within the name, the year is left of its first letter')
  t.deepEqual(problems, [])
})

inBrowser('the title of the home page is not broken within a word on a small screen', async t => {
  const { page } = await webPage(t, browser(), server.url, server.admin)
  await page.setViewportSize({ width: 360, height: 740 })
  await page.context().addCookies([{ name: 'pounce_language', value: 'de', url: server.url }])
  await page.goto('/')
  const title = page.getByRole('heading', { level: 1, name: 'Startseite' })
  await page.getByRole('button', { name: 'Datensatz anlegen' }).waitFor()
  const lines = await title.evaluate(element => {
    const page = globalThis as unknown as { getComputedStyle(of: unknown): { lineHeight: string } }
    const { height } = (element as unknown as { getBoundingClientRect(): { height: number } }).getBoundingClientRect()
    return Math.round(height / Number.parseFloat(page.getComputedStyle(element).lineHeight))
  })
  t.is(lines, 1)
})
