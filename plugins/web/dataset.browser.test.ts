import { setTimeout } from 'node:timers/promises'
import test from 'ava'
import type { Page } from 'playwright-core'
import { bootForTest } from 'pounce/sdk/testing'
import { browserTests } from '../../test/support/real-browsers.ts'
import { formWith, newDataset, newFolder, ok, upload } from '../../test/support/scene.ts'
import { until } from '../../test/support/until.ts'
import { webBuild } from '../../test/support/web-build.ts'
import { axeFindings, sidewaysScroll, webPage } from '../../test/support/web-pages.ts'

const { test: inBrowser, launch } = browserTests(test, 'chromium')
const server = await bootForTest({})
const call = server.as(server.admin.key)
test.before(webBuild)
test.after.always(() => server.stop())

interface Entries {
  readonly entries: readonly { readonly id: string; readonly name: string; readonly kind: string }[]
  readonly total: number
}

const files = 150
const nameOf = (n: number): string => `plot ${n}.csv`

const entriesOf = (dataset: string, query = ''): Promise<Entries> =>
  ok<Entries>(call(`/api/datasets/${dataset}/entries?limit=1000${query}`))
const namesIn = async (dataset: string, query = ''): Promise<readonly string[]> =>
  (await entriesOf(dataset, query)).entries.map(({ name }) => name)

/** A dataset with files, folders, a README with scripts, and a name with markup. */
const filledDataset = async (): Promise<string> => {
  const dataset = await newDataset(call, { name: 'Leaf area', description: 'Beech plots' })
  const raw = await newFolder(call, dataset, 'raw')
  await newFolder(call, dataset, '2026', raw)
  for (let n = 1; n <= files; n++) await upload(call, dataset, 'x'.repeat(n), nameOf(n), { type: 'text/csv' })
  await upload(call, dataset, '<b>bold</b>', '<img src=x onerror=alert(1)>.html', { type: 'text/html' })
  const readme =
    '# Method\n\n[bad](javascript:alert(1)) <script>document.title = "taken"</script><img src=x onerror="document.title = \'taken\'">'
  await upload(call, dataset, readme, 'README.md', { type: 'text/markdown' })
  return dataset
}

/** Makes a page report that it is hidden until `showPage()`: in a headless browser, all tabs are visible. */
const asIfHidden = `
  let state = 'hidden'
  Object.defineProperty(document, 'hidden', { get: () => state === 'hidden' })
  Object.defineProperty(document, 'visibilityState', { get: () => state })
  globalThis.showPage = () => {
    state = 'visible'
    document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))
  }`

const tagsOf = async (id: string | undefined): Promise<readonly string[]> =>
  (await ok<{ tags: string[] }>(call(`/api/files/${id}/tags`))).tags.toSorted()

const chosen = (page: Page): Promise<string> => page.locator('.selection-count').innerText()
const activeRow = (page: Page): Promise<string> => page.evaluate<string>("document.activeElement?.querySelector('a')?.textContent ?? ''")

inBrowser('files are navigated, searched, sorted, selected, tagged, renamed, moved and deleted with the keyboard', async t => {
  const dataset = await filledDataset()
  const browser = await launch()
  t.teardown(() => browser.close())
  const { page, problems } = await webPage(t, browser, server.url, server.admin)
  await page.goto(`/datasets/${dataset}`)
  const grid = page.getByRole('grid')
  await grid.waitFor()
  t.is(await grid.getAttribute('aria-rowcount'), String(files + 4))
  t.is(await page.getByRole('heading', { level: 1 }).innerText(), 'Leaf area')
  await page.getByRole('heading', { name: 'Method' }).waitFor()
  t.is(await page.title(), 'Leaf area · Pounce')
  t.is(await page.locator('.readme a[href]').count(), 0)
  t.deepEqual(await axeFindings(page), [])

  // Arrows, End, Home, and type-ahead.
  const press = async (...keys: readonly string[]): Promise<void> => {
    for (const key of keys) await page.keyboard.press(key)
  }
  await page.locator('.grid-body [tabindex="0"]').focus()
  await press('ArrowDown', 'ArrowDown')
  t.is(await activeRow(page), nameOf(1))
  await press('End')
  await until('the last row to be focused', async () => (await activeRow(page)) === 'README.md')
  // On a busy machine, the pause between two keys may exceed the type-ahead timeout: the name is then typed again.
  const goTo = (name: string): Promise<boolean> =>
    until(`the row of ${name} to be focused`, async () => {
      await press('Escape', 'Home')
      await page.keyboard.type(name)
      return (await activeRow(page)).startsWith(name)
    })
  await goTo('plot 12')
  t.is(await activeRow(page), nameOf(12))

  // Ranges, all, and all but one.
  await press(' ', 'Shift+ArrowDown', 'Shift+ArrowDown')
  t.is(await chosen(page), '3 selected, 39\u00a0B')
  await press('Control+a', ' ')
  t.is(await chosen(page), `${files + 2} selected`)
  await press('Escape')
  t.is(await page.locator('.selection-bar').count(), 0)

  // Tags for selected files.
  await goTo('plot 12')
  await press(' ', 'Shift+ArrowDown')
  await page.getByRole('toolbar').getByRole('button', { name: 'Tag', exact: true }).click()
  await page.getByLabel('Tags').fill('beech, leaf area')
  await press('Enter')
  await page.getByText('Tagged 2 files').waitFor()
  const tagged = (await entriesOf(dataset)).entries.find(({ name }) => name === nameOf(13))
  t.deepEqual(await tagsOf(tagged?.id), ['beech', 'leaf area'])

  // Tags for all files, by a server job, and undo: one of them has the tag already, and keeps it.
  await ok(call(`/api/files/${tagged?.id}/tags`, { method: 'POST', json: { tags: ['oak'] } }))
  await page.locator('.grid-body [tabindex="0"]').focus()
  await press('Control+a')
  await page.getByRole('toolbar').getByRole('button', { name: 'Tag', exact: true }).click()
  await page.getByLabel('Tags').fill('oak')
  await press('Enter')
  await page.getByText(`Tagged ${files + 2} files`).waitFor()
  const other = (await entriesOf(dataset)).entries.find(({ name }) => name === nameOf(20))
  t.deepEqual(await tagsOf(other?.id), ['oak'])
  await page
    .getByText(`Tagged ${files + 2} files`)
    .locator('..')
    .getByRole('button', { name: 'Undo' })
    .click()
  await page.getByText(`Removed tags from ${files + 2} files`).waitFor()
  t.deepEqual(await tagsOf(tagged?.id), ['beech', 'leaf area', 'oak'])
  t.deepEqual(await tagsOf(other?.id), [])

  // Renaming in the row.
  await page.locator('.grid-body [tabindex="0"]').focus()
  await press('Escape', 'F2')
  await page.getByLabel('New name').fill('another name.csv')
  await press('Enter')
  await until('the new name to be stored', async () => (await namesIn(dataset)).includes('another name.csv'))
  await page.getByRole('row', { name: 'another name.csv' }).waitFor()

  // A new folder; files are moved into it and back.
  await page.getByRole('button', { name: 'New folder' }).click()
  await page.getByLabel('Name of the folder').fill('kept')
  await press('Enter')
  await page.getByRole('grid').getByRole('link', { name: 'kept', exact: true }).waitFor()
  const kept = (await entriesOf(dataset)).entries.find(({ name }) => name === 'kept')?.id ?? ''
  await page
    .getByRole('row', { name: 'plot 1.csv' })
    .getByRole('button', { name: /^Actions/ })
    .click()
  await page.getByRole('menuitem', { name: 'Move' }).click()
  await page.getByRole('dialog').getByText('kept', { exact: true }).click()
  await page.getByRole('button', { name: 'Move here' }).click()
  await page.getByText('Moved plot 1.csv to kept').waitFor()
  t.deepEqual(await namesIn(dataset, `&folder=${kept}`), ['plot 1.csv'])
  await page.getByText('Moved plot 1.csv to kept').locator('..').getByRole('button', { name: 'Undo' }).click()
  await until('the file to be moved back', async () => (await namesIn(dataset)).includes('plot 1.csv'))
  // Wait before clicking rows, since those below it move.
  await page.getByRole('row', { name: 'plot 1.csv' }).waitFor()

  // A folder and a file are copied to another dataset.
  const otherPlots = await newDataset(call, { name: 'Other plots' })
  await newFolder(call, otherPlots, 'here')
  for (const name of ['raw', 'plot 4.csv']) await page.getByRole('row', { name }).getByRole('checkbox').click()
  await page.getByRole('toolbar').getByRole('button', { name: 'Copy', exact: true }).click()
  const copying = page.getByRole('dialog', { name: 'Copy 2 items' })
  t.deepEqual(await axeFindings(page), [])
  await copying.getByRole('button', { name: 'Another dataset' }).click()
  await copying.getByLabel('Find a dataset').first().fill('other pl')
  await copying.getByRole('button', { name: 'Other plots' }).click()
  await copying.getByText('here', { exact: true }).click()
  await copying.getByRole('button', { name: 'Copy here' }).click()
  await page.getByText(/^Copied \d+ items to here$/).waitFor()
  const here = (await entriesOf(otherPlots)).entries[0]?.id ?? ''
  t.deepEqual(await namesIn(otherPlots, `&folder=${here}`), ['raw', 'plot 4.csv'])
  t.deepEqual(await namesIn(otherPlots, '&recursive=true'), ['2026', 'here', 'raw', 'plot 4.csv'])
  t.true((await namesIn(dataset)).includes('plot 4.csv'))
  // The selection is cleared.
  await page.locator('.selection-bar').waitFor({ state: 'detached' })

  // The dialog names what is deleted.
  await page.getByRole('row', { name: 'plot 2.csv' }).getByRole('checkbox').click()
  await page.getByRole('row', { name: 'plot 3.csv' }).getByRole('checkbox').click()
  await page.locator('.grid-body [tabindex="0"]').focus()
  await press('Delete')
  await page.getByRole('heading', { name: 'Delete 2 items?' }).waitFor()
  t.deepEqual(await axeFindings(page), [])
  await page.getByRole('button', { name: 'Delete 2 items' }).click()
  await page.getByText('Deleted 2 items').waitFor()
  t.false((await namesIn(dataset)).includes('plot 2.csv'))
  t.deepEqual(problems, [])
})

inBrowser('the URL contains folder, order and filter; changes by others appear through events', async t => {
  const dataset = await filledDataset()
  const browser = await launch()
  t.teardown(() => browser.close())
  const { page, problems } = await webPage(t, browser, server.url, server.admin)
  await page.goto(`/datasets/${dataset}?sort=size&order=descending`)
  const rows = page.locator('.grid-body > [role="row"]')
  await rows.first().waitFor()
  t.is(await page.getByRole('columnheader', { name: 'Size' }).getAttribute('aria-sort'), 'descending')
  await page.getByRole('row', { name: nameOf(files) }).waitFor()

  await page.getByRole('button', { name: 'Name', exact: true }).click()
  await page.waitForURL(url => !url.searchParams.has('sort'))
  await page.getByLabel('Find in this folder').fill('plot 14')
  await page.waitForURL(url => url.searchParams.get('find') === 'plot 14')
  await until('the number of search results', async () => (await page.getByRole('grid').getAttribute('aria-rowcount')) === '12')
  await page.getByLabel('Find in this folder').fill('nowhere')
  await page.getByText('Nothing found for “nowhere”').waitFor()
  await page.getByLabel('Find in this folder').fill('')

  // Into a folder and back, which restores the focus and the position in the list.
  await page.getByRole('grid').getByRole('link', { name: 'raw' }).click()
  await page.waitForURL(url => url.searchParams.has('folder'))
  await page.getByRole('row', { name: '2026' }).waitFor()
  t.is(await page.getByRole('navigation', { name: 'Folder', exact: true }).innerText(), 'Leaf area\nraw')
  await page.goBack()
  await page
    .getByRole('row', { name: nameOf(1) })
    .first()
    .waitFor()

  // Uploads by others appear automatically; in a hidden tab, once it is visible.
  const hiddenTab = await page.context().newPage()
  await hiddenTab.addInitScript(asIfHidden)
  await hiddenTab.goto(`/datasets/${dataset}`)
  // The page requests its README last. This tab has no event stream, which would prevent `networkidle`.
  await hiddenTab.getByRole('region', { name: 'README.md' }).waitFor()
  await hiddenTab.waitForLoadState('networkidle')
  const loads: string[] = []
  hiddenTab.on('request', request => request.url().includes('/api/') && loads.push(request.url()))
  await upload(call, dataset, 'x', 'a new one.txt')
  await page.getByRole('link', { name: 'a new one.txt' }).waitFor()
  t.deepEqual(loads, [])
  await hiddenTab.evaluate('showPage()')
  await hiddenTab.getByRole('link', { name: 'a new one.txt' }).waitFor()
  await hiddenTab.close()

  // In-place edits of name and tags, and copying of the identifier.
  await page.getByRole('button', { name: 'Rename' }).click()
  await page.getByLabel('Name', { exact: true }).fill('Leaf area 2026')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: 'Leaf area 2026' }).waitFor()
  t.is((await ok<{ name: string }>(call(`/api/datasets/${dataset}`))).name, 'Leaf area 2026')
  await page.getByRole('button', { name: 'Add tags' }).click()
  await page.getByLabel('Tags').fill('beech')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Remove the tag beech' }).waitFor()
  await page.getByRole('button', { name: `Copy the identifier ${dataset}` }).click()
  t.is(await page.evaluate('navigator.clipboard.readText()'), dataset)

  // Dark mode, and the size of a phone.
  await page.emulateMedia({ colorScheme: 'dark' })
  t.deepEqual(await axeFindings(page), [])
  await page.setViewportSize({ width: 390, height: 844 })
  await page.getByRole('row', { name: 'a new one.txt' }).getByRole('checkbox').click()
  t.true((await sidewaysScroll(page)) <= 0)
  t.deepEqual(await axeFindings(page), [])
  await page.setViewportSize({ width: 320, height: 700 })
  t.true((await sidewaysScroll(page)) <= 0)
  t.deepEqual(problems, [])
})

inBrowser('a refused name stays in the field, and deleting a folder shows the number of its files', async t => {
  const dataset = await newDataset(call, { name: 'Plots' })
  const folder = await newFolder(call, dataset, 'raw')
  await newFolder(call, dataset, '2026', folder)
  for (const name of ['a.csv', 'b.csv']) await upload(call, dataset, 'x', name, { query: `folder_id=${folder}` })
  await upload(call, dataset, 'x', 'plot.csv')
  const browser = await launch()
  t.teardown(() => browser.close())
  const { page } = await webPage(t, browser, server.url, server.admin)
  await page.goto(`/datasets/${dataset}`)
  await page.getByRole('row', { name: 'plot.csv' }).waitFor()
  // With a slow connection the next name is typed before the last one is saved.
  await page.route('**/api/files/*/filename', async route => {
    await setTimeout(500)
    await route.continue()
  })
  await page.locator('.grid-body [tabindex="0"]').focus()
  await page.keyboard.press('End')
  await page.keyboard.press('F2')
  const field = page.getByLabel('New name')
  await field.fill('plot/1.csv')
  await page.keyboard.press('Enter')
  await page.locator('.toasts').getByText('name must be text').waitFor()
  await until('the refused name to stay in the field', async () => (await field.inputValue()) === 'plot/1.csv')
  await field.fill('plot 1.csv')
  await page.keyboard.press('Enter')
  await page.getByRole('row', { name: 'plot 1.csv' }).waitFor()
  // An unchanged refused name is not submitted again.
  await page.keyboard.press('F2')
  await field.fill('..')
  await page.keyboard.press('Enter')
  await until('the refused name to stay in the field', async () => (await field.inputValue()) === '..')
  t.is(await page.getByText('Somebody else changed this meanwhile').count(), 0)
  await page.getByPlaceholder('Find in this folder').focus()
  await field.waitFor({ state: 'detached' })
  t.deepEqual(await namesIn(dataset), ['raw', 'plot 1.csv'])

  await page.locator('.grid-body [tabindex="0"]').focus()
  await page.keyboard.press('Home')
  await page.keyboard.press('Delete')
  await page.getByRole('dialog').getByText('Items in it, with those in folders below: 3.').waitFor()
})

inBrowser('keys act on the selection; focus and selection survive navigation through folders, search and files', async t => {
  const dataset = await newDataset(call, { name: 'Oaks' })
  for (const name of ['2024', '2025', '2026']) await newFolder(call, dataset, name)
  const folder = (await entriesOf(dataset)).entries.find(({ name }) => name === '2025')?.id ?? ''
  for (let n = 1; n <= 9; n++) {
    await ok(call(`/api/uploadToDataset/${dataset}?extract=false&folder_id=${folder}`, { method: 'POST', body: formWith('x', nameOf(n)) }))
  }
  const browser = await launch()
  t.teardown(() => browser.close())
  const { page, problems } = await webPage(t, browser, server.url, server.admin)
  await page.goto(`/datasets/${dataset}`)
  const rowOf = (name: string) => page.getByRole('row', { name: new RegExp(name) })
  const focused = (name: string) => until(`the focus on ${name}`, async () => (await activeRow(page)) === name)
  await rowOf('2025').getByRole('link').click()
  await rowOf('plot 9').click({ position: { x: 400, y: 10 } })
  await page.keyboard.press('Backspace')
  await focused('2025')
  await page.keyboard.press('Enter')
  await focused('plot 1.csv')

  // All but the focused row.
  await page.keyboard.press('Control+a')
  await page.keyboard.press(' ')
  t.is(await chosen(page), '8 selected, 8\u00a0B')
  await page.keyboard.press('Delete')
  await page.getByRole('dialog', { name: 'Delete 8 items?' }).getByRole('button', { name: 'Cancel' }).click()
  await focused('plot 1.csv')

  await page.keyboard.press('/')
  await page.keyboard.press('Escape')
  t.is(await activeRow(page), 'plot 1.csv')

  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: 'plot 1.csv' }).waitFor()
  await page.goBack()
  await rowOf('plot 9').waitFor()
  t.is(await chosen(page), '8 selected, 8\u00a0B')
  await focused('plot 1.csv')
  await page.goBack()
  await rowOf('2026').waitFor()
  t.is(await page.locator('.selection-bar').count(), 0)
  t.deepEqual(problems, [])
})

inBrowser('a folder copied to where it is gets a name of its own, and is no target itself', async t => {
  const copied = await newDataset(call, { name: 'Copied plots' })
  const folder = await newFolder(call, copied, 'A')
  await newFolder(call, copied, 'below', folder)
  await upload(call, copied, 'x', 'a.txt', { query: `extract=false&folder_id=${folder}` })
  const browser = await launch()
  t.teardown(() => browser.close())
  const { page, problems } = await webPage(t, browser, server.url, server.admin)
  await page.goto(`/datasets/${copied}`)
  await page.getByRole('checkbox', { name: 'Select A', exact: true }).click()
  await page.getByRole('toolbar').getByRole('button', { name: 'Copy', exact: true }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('Copied plots', { exact: true }).waitFor()
  t.is(await dialog.getByRole('radio').count(), 1)
  await dialog.getByRole('button', { name: 'Copy here' }).click()
  await page.getByText(/^Copied \d+ items to Copied plots$/).waitFor()
  const { entries } = await entriesOf(copied)
  t.deepEqual(
    entries.map(({ name }) => name),
    ['A', 'A (1)'],
  )
  t.deepEqual(await namesIn(copied, `&folder=${folder}`), ['below', 'a.txt'])
  t.deepEqual(await namesIn(copied, `&folder=${entries[1]?.id}`), ['below', 'a.txt'])
  t.deepEqual(problems, [])
})
