import test from 'ava'
import type { Page } from 'playwright-core'
import { bootForTest } from 'pounce/sdk/testing'
import { recordFailedRun } from '../../test/support/failed-run.ts'
import { browserTests } from '../../test/support/real-browsers.ts'
import { newDataset, ok, upload, uploadData } from '../../test/support/scene.ts'
import { webBuild } from '../../test/support/web-build.ts'
import { axeFindings, sidewaysScroll, webPage } from '../../test/support/web-pages.ts'

const { test: inBrowser, launch } = browserTests(test, 'chromium')
const server = await bootForTest({})
const call = server.as(server.admin.key)
test.before(webBuild)
test.after.always(() => server.stop())

/** What axe finds in light and dark, and pixels to scroll sideways on a small screen. */
const findings = async (page: Page): Promise<readonly string[]> => {
  const found = [...(await axeFindings(page))]
  await page.emulateMedia({ colorScheme: 'dark' })
  found.push(...(await axeFindings(page)))
  await page.emulateMedia({ colorScheme: 'light' })
  await page.setViewportSize({ width: 320, height: 800 })
  const pixels = await sidewaysScroll(page)
  await page.setViewportSize({ width: 1280, height: 860 })
  return pixels > 0 ? [...found, `${pixels} px wider than the window`] : found
}

inBrowser('a file shows what it is while extractors work on it, and the next one of its list is a key away', async t => {
  const dataset = await newDataset(call, { name: 'Stations' })
  await upload(call, dataset, '# Notes\n\n<script>document.title = "taken"</script>', 'a-notes.md', { type: 'text/markdown' })
  const table = await upload(call, dataset, 'station,rain\nKöln,7\n', 'b-rain.csv', { type: 'text/csv', query: '' })
  await upload(call, dataset, 'x'.repeat(300_000), 'c-long.txt')
  const broken = await upload(call, dataset, Buffer.from('not a picture'), 'd-broken.png', { type: 'image/png' })
  const browser = await launch()
  t.teardown(() => browser.close())
  const { page, problems } = await webPage(t, browser, server.url, server.admin)
  await page.goto(`/files/${table}?dataset=${dataset}`)
  t.is(await page.getByRole('heading', { level: 1 }).innerText(), 'b-rain.csv')
  // Without a reload: the table and what was found come with the events of the extractors.
  await page.getByRole('gridcell', { name: 'Köln' }).waitFor()
  await page.getByText('pounce.csv').first().waitFor()
  await page.getByRole('button', { name: 'Next file (J)' }).waitFor()
  t.deepEqual(await findings(page), [])

  await page.keyboard.press('k')
  await page.getByRole('heading', { level: 1, name: 'a-notes.md' }).waitFor()
  await page.getByRole('heading', { name: 'Notes', exact: true }).waitFor()
  t.is(await page.title(), 'a-notes.md · Pounce')
  await page.keyboard.press('j')
  await page.getByRole('heading', { level: 1, name: 'b-rain.csv' }).waitFor()
  await page.keyboard.press('j')
  await page.getByRole('heading', { level: 1, name: 'c-long.txt' }).waitFor()
  await page.getByText('1 line is longer than 20,000 characters and is cut.').waitFor()
  await page.keyboard.press('j')
  await page.getByText('The picture cannot be shown').waitFor()
  // The list shows the failure too, on a page that was loaded afterwards.
  await recordFailedRun(server, broken)
  await page.reload()
  await page.getByRole('heading', { name: 'Failed extractions' }).waitFor()
  await page.goto(`/datasets/${dataset}`)
  await page
    .getByRole('row', { name: /d-broken\.png/ })
    .getByText('Failed')
    .waitFor()
  t.deepEqual(problems, [])
})

inBrowser('a search says where hits are and why they match, is narrowed by facets, and points at what is wrong in a query', async t => {
  const dataset = await newDataset(call, { name: 'Beech plots', description: 'Leaf area of beeches' })
  await ok(call(`/api/datasets/${dataset}/tags`, { method: 'POST', json: { tags: ['red oak'] } }))
  await uploadData(call, dataset, 'stations.csv', 'text/csv')
  await server.drained()
  const browser = await launch()
  t.teardown(() => browser.close())
  const { page, problems } = await webPage(t, browser, server.url, server.admin)
  await page.goto('/')
  await page.getByRole('combobox', { name: 'Search' }).waitFor()
  await page.keyboard.press('/')
  await page.keyboard.type('beec')
  await page.getByRole('option', { name: 'Beech plots' }).waitFor()
  await page.keyboard.press('Enter')
  await page.waitForURL('**/search?query=beec')
  await page.locator('mark').first().waitFor()
  t.deepEqual(await findings(page), [])
  await page.getByRole('button', { name: 'red oak' }).click()
  await page.waitForURL(/query=beec\+tag%3D%3D%22red\+oak%22/)
  await page.getByRole('link', { name: 'Beech plots' }).first().waitFor()

  await page.goto('/search?query=stations')
  await page.getByRole('link', { name: 'stations.csv' }).waitFor()
  await page.getByRole('link', { name: 'Beech plots' }).waitFor()
  t.deepEqual(problems, [])

  await page.goto('/search?query=%28leaf')
  await page.getByText('The query cannot be understood').waitFor()
})

inBrowser('a query is built of rows or written as text, whichever is changed; it is saved, opened and deleted', async t => {
  await newDataset(call, { name: 'Alder plots', description: 'wet sand' })
  await newDataset(call, { name: 'Alder hill', description: 'dry sand' })
  await server.drained()
  const browser = await launch()
  t.teardown(() => browser.close())
  const { page, problems } = await webPage(t, browser, server.url, server.admin)
  await page.goto('/search?query=alder+NOT+description%3Adry')
  await page.getByRole('link', { name: 'Alder plots' }).waitFor()
  await page.getByRole('button', { name: 'Query builder' }).click()
  const text = page.getByLabel('Query as text')
  const rows = page.getByRole('combobox', { name: 'Field' })
  await rows.nth(1).waitFor()
  t.is(await rows.nth(1).inputValue(), 'description')
  t.is(await page.getByLabel('Negation').nth(1).inputValue(), 'true')
  t.deepEqual(await findings(page), [])

  await page.getByLabel('Negation').nth(1).selectOption('Without')
  await page.getByLabel('Comparison').nth(1).selectOption('contains phrase')
  await page.getByLabel('Value').nth(1).fill('wet "sand')
  t.is(await text.inputValue(), 'alder NOT description:"wet \\"sand"')
  await page.getByLabel('Value').nth(1).fill('wet sand')
  await page.getByLabel('Negation').nth(0).selectOption('Without')
  t.is(await text.inputValue(), 'NOT alder NOT description:"wet sand"')

  await text.fill('alder AND (sand')
  await page.locator('.query-error').waitFor()
  await text.fill('alder AND (sand OR clay)')
  await page.getByText('can only be edited as text').waitFor()
  await text.fill('name:hill OR depth>12')
  await rows.nth(1).waitFor()
  await page.waitForFunction("document.querySelectorAll('.query-row input')[2]?.value === 'depth'")
  await page.keyboard.press('Enter')
  await page.waitForURL(/query=name%3Ahill\+OR\+depth%3E12/)
  await page.getByRole('link', { name: 'Alder hill' }).waitFor()

  await page.getByRole('button', { name: 'Save search' }).click()
  await page.getByLabel('Name').fill('Hills')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.goto('/search')
  await page.getByRole('link', { name: 'Hills' }).click()
  await page.getByRole('link', { name: 'Alder hill' }).waitFor()
  await page.goto('/search')
  t.deepEqual(await findings(page), [])
  await page.getByRole('button', { name: 'Delete saved search Hills' }).click()
  await page.getByRole('link', { name: 'Hills' }).waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByRole('link', { name: 'Hills' }).waitFor()
  t.deepEqual(
    problems.filter(problem => !/status of 400/.test(problem)),
    [],
  )
})
