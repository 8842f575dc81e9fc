import test from 'ava'
import { bootForTest } from 'pounce/sdk/testing'
import { sharedBrowserTests } from '../../test/support/real-browsers.ts'
import { newDataset, newFolder, ok, upload } from '../../test/support/scene.ts'
import { until } from '../../test/support/until.ts'
import { axeFindings, webPage } from '../../test/support/web-pages.ts'

const server = await bootForTest({})
const call = server.as(server.admin.key)
const { test: inBrowser, browser } = sharedBrowserTests(test, 'chromium')
test.after.always(() => server.stop())

const remove = (path: string): Promise<unknown> => ok(call(path, { method: 'DELETE' }))
const change = (method: 'PUT' | 'POST', path: string, json = {}): Promise<unknown> => ok(call(path, { method, json }))

inBrowser('what others rename and delete changes the list, the selection and the dialog about it', async t => {
  const dataset = await newDataset(call, { name: 'Oaks' })
  const folder = await newFolder(call, dataset, 'gone soon')
  const [one, two] = [await upload(call, dataset, 'x', 'one.txt'), await upload(call, dataset, 'x', 'two.txt')]
  const { page, problems } = await webPage(t, browser(), server.url, server.admin)
  await page.goto(`/datasets/${dataset}`)
  const row = (name: string) => page.getByRole('row', { name })
  for (const name of ['one.txt', 'two.txt', 'gone soon']) await row(name).getByRole('checkbox').click()
  const selected = page.locator('.selection-count')
  t.is(await selected.innerText(), '3 selected')
  await remove(`/api/files/${two}`)
  await row('two.txt').waitFor({ state: 'detached' })
  await remove(`/api/datasets/${dataset}/deleteFolder/${folder}`)
  await row('gone soon').waitFor({ state: 'detached' })
  await until('the selection without deleted entries', async () => (await selected.innerText()) === '1 selected, 1\u00a0B')
  await change('PUT', `/api/files/${one}/filename`, { name: 'first.txt' })
  await row('first.txt').waitFor()
  await page.getByRole('toolbar').getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('dialog', { name: 'Delete first.txt?' }).waitFor()
  t.deepEqual(problems, [])
})

inBrowser('the path of a folder and of a file follows renames and moves of the folders and the dataset above', async t => {
  const dataset = await newDataset(call, { name: 'Oaks' })
  const outer = await newFolder(call, dataset, 'outer')
  const inner = await newFolder(call, dataset, 'inner', outer)
  const file = await upload(call, dataset, 'x', 'plot.txt', { query: `extract=false&folder_id=${inner}` })
  const { page, problems } = await webPage(t, browser(), server.url, server.admin)
  const shown = (label: string, text: string): Promise<boolean> =>
    until(`the path ${text}`, async () => (await page.getByRole('navigation', { name: label, exact: true }).innerText()) === text)
  await page.goto(`/datasets/${dataset}`)
  for (const name of ['outer', 'inner']) await page.getByRole('grid').getByRole('link', { name }).click()
  await shown('Folder', 'Oaks\nouter\ninner')
  await change('POST', `/api/datasets/${dataset}/moveFolder/${inner}`)
  await shown('Folder', 'Oaks\ninner')
  await change('PUT', `/api/datasets/${dataset}/updateName/${inner}`, { name: 'raw' })
  await shown('Folder', 'Oaks\nraw')

  await page.getByRole('grid').getByRole('link', { name: 'plot.txt' }).click()
  await shown('Location', 'Oaks\nraw')
  await change('PUT', `/api/datasets/${dataset}/updateName/${inner}`, { name: 'cooked' })
  await shown('Location', 'Oaks\ncooked')
  await change('POST', `/api/datasets/${dataset}/moveFolder/${inner}?into=${outer}`)
  await shown('Location', 'Oaks\nouter / cooked')
  await change('PUT', `/api/datasets/${dataset}/title`, { name: 'Beeches' })
  await shown('Location', 'Beeches\nouter / cooked')
  t.is(new URL(page.url()).pathname, `/files/${file}`)

  // The open folder is deleted.
  await page.getByRole('navigation', { name: 'Location' }).getByRole('link', { name: 'outer / cooked' }).click()
  await page.getByRole('row', { name: 'plot.txt' }).waitFor()
  await remove(`/api/datasets/${dataset}/deleteFolder/${inner}`)
  await page.getByText('This folder does not exist, or was deleted').waitFor()
  // Without a tooltip.
  await page.mouse.move(5, 400)
  await page.getByRole('tooltip').waitFor({ state: 'detached' })
  t.deepEqual(await axeFindings(page), [])
  await page.getByRole('button', { name: 'To the dataset' }).click()
  await page.getByRole('row', { name: 'outer' }).waitFor()
  t.deepEqual(
    problems.filter(problem => !/status of 404/.test(problem)),
    [],
  )
})

inBrowser('text typed into the filter right before a folder is opened does not filter the folder', async t => {
  const dataset = await newDataset(call, { name: 'Oaks' })
  await upload(call, dataset, 'x', 'plot.txt', { query: `extract=false&folder_id=${await newFolder(call, dataset, 'raw')}` })
  const { page, problems } = await webPage(t, browser(), server.url, server.admin)
  await page.clock.install()
  await page.goto(`/datasets/${dataset}`)
  await page.getByRole('grid').getByRole('link', { name: 'raw' }).waitFor()
  await page.evaluate(`{
    const field = document.querySelector('.browser-find input')
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(field, 'nowhere')
    field.dispatchEvent(new Event('input', { bubbles: true }))
    document.querySelector('.grid-body a').click()
  }`)
  await page.getByRole('row', { name: 'plot.txt' }).waitFor()
  // The pause in typing after which a filter applies is over.
  await page.clock.runFor(1000)
  t.false(new URL(page.url()).searchParams.has('find'))
  t.is(await page.getByPlaceholder('Find in this folder').inputValue(), '')
  await page.getByRole('row', { name: 'plot.txt' }).waitFor()
  t.deepEqual(problems, [])
})

inBrowser('what is typed into the filter of a list while the list is being filtered is kept', async t => {
  await newDataset(call, { name: 'Hornbeam' })
  const { page, problems } = await webPage(t, browser(), server.url, server.admin)
  await page.goto('/datasets')
  await page.getByRole('row', { name: 'Hornbeam' }).waitFor()
  await page.evaluate(`{
    const field = document.querySelector('.find input')
    const type = text => {
      Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(field, text)
      field.dispatchEvent(new Event('input', { bubbles: true }))
    }
    type('Horn')
    // Right after the page has begun to filter, before it shows that.
    const { replaceState } = history
    history.replaceState = (...given) => {
      history.replaceState = replaceState
      type('Hornb')
      replaceState.apply(history, given)
    }
  }`)
  await page.waitForURL(url => url.searchParams.get('filter') === 'Hornb')
  await page.getByRole('row', { name: 'Hornbeam' }).waitFor()
  t.deepEqual(problems, [])
})

inBrowser('moving everything that is listed can be undone, without what was in the target before', async t => {
  const dataset = await newDataset(call, { name: 'Oaks' })
  const kept = await newFolder(call, dataset, 'kept')
  await newFolder(call, dataset, 'raw')
  for (const name of ['a.txt', 'b.txt']) await upload(call, dataset, 'x', name)
  await upload(call, dataset, 'x', 'before.txt', { query: `extract=false&folder_id=${kept}` })
  const { page, problems } = await webPage(t, browser(), server.url, server.admin)
  await page.goto(`/datasets/${dataset}`)
  await page.getByRole('row', { name: 'a.txt' }).waitFor()
  await page.locator('.grid-body [tabindex="0"]').focus()
  // All but the first row, which is the target.
  for (const key of ['Control+a', ' ']) await page.keyboard.press(key)
  await page.getByRole('toolbar').getByRole('button', { name: 'Move', exact: true }).click()
  await page.getByRole('dialog').getByText('kept', { exact: true }).click()
  await page.getByRole('button', { name: 'Move here' }).click()
  const moved = page.getByText('Moved 3 items to kept')
  await moved.waitFor()
  await page.getByRole('row', { name: 'a.txt' }).waitFor({ state: 'detached' })
  await moved.locator('..').getByRole('button', { name: 'Undo' }).click()
  for (const name of ['raw', 'a.txt', 'b.txt']) await page.getByRole('row', { name }).waitFor()
  const inKept = await ok<{ entries: { name: string }[] }>(call(`/api/datasets/${dataset}/entries?folder=${kept}`))
  t.deepEqual(
    inKept.entries.map(({ name }) => name),
    ['before.txt'],
  )
  t.deepEqual(problems, [])
})

inBrowser('the path of an open file follows its folder into another dataset', async t => {
  const [oaks, beeches] = [await newDataset(call, { name: 'Oaks' }), await newDataset(call, { name: 'Beeches' })]
  const outer = await newFolder(call, oaks, 'outer')
  const inner = await newFolder(call, oaks, 'inner', outer)
  const file = await upload(call, oaks, 'x', 'plot.txt', { query: `extract=false&folder_id=${inner}` })
  await server.drained()
  const { page, problems } = await webPage(t, browser(), server.url, server.admin)
  const path = page.getByRole('navigation', { name: 'Location', exact: true })
  await page.goto(`/files/${file}`)
  await until('the path in the first dataset', async () => (await path.innerText()) === 'Oaks\nouter / inner')
  await change('POST', '/api/bulk', { act: 'move', resources: [{ type: 'folder', id: outer }], to: { dataset: beeches } })
  await until('the path in the other dataset', async () => (await path.innerText()) === 'Beeches\nouter / inner')
  t.deepEqual(problems, [])
})

inBrowser('moving everything found in folders can be undone, and where it cannot, the dialog shows it', async t => {
  const dataset = await newDataset(call, { name: 'Oaks' })
  const kept = await newFolder(call, dataset, 'kept')
  const raw = await newFolder(call, dataset, 'raw')
  await newFolder(call, dataset, 'deep', raw)
  await upload(call, dataset, 'x', 'before.txt', { query: `extract=false&folder_id=${kept}` })
  for (let n = 0; n < 11; n++) {
    await upload(call, dataset, 'x', `top ${n}.txt`)
    await upload(call, dataset, 'x', `low ${n}.txt`, { query: `extract=false&folder_id=${raw}` })
  }
  const paths = async (): Promise<readonly string[]> =>
    (
      await ok<{ entries: { path: string[]; name: string }[] }>(call(`/api/datasets/${dataset}/entries?recursive=true&limit=100`))
    ).entries.map(({ path, name }) => [...path, name].join('/'))
  const before = await paths()
  const { page, problems } = await webPage(t, browser(), server.url, server.admin)
  const moveDialog = async (): Promise<void> => {
    await page.getByRole('row', { name: 'low 3.txt' }).waitFor()
    await page.locator('.grid-body [tabindex="0"]').focus()
    // All but the second row, which is the target.
    for (const key of ['Home', 'Control+a', 'ArrowDown', ' ']) await page.keyboard.press(key)
    await page.getByRole('toolbar').getByRole('button', { name: 'Move', exact: true }).click()
  }
  await page.goto(`/datasets/${dataset}?below=1`)
  await moveDialog()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('kept', { exact: true }).click()
  t.false(await dialog.getByText('cannot be undone').isVisible())
  await page.getByRole('button', { name: 'Move here' }).click()
  const moved = page.getByText('Moved 24 items to kept')
  await moved.waitFor()
  t.true((await paths()).every(path => path.startsWith('kept')))
  await moved.locator('..').getByRole('button', { name: 'Undo' }).click()
  await until('everything to be where it was', async () => JSON.stringify(await paths()) === JSON.stringify(before))

  // As in a list of more files.
  await page.route(/\/entries\?.*recursive=true/, async route => {
    const response = await route.fetch()
    await route.fulfill({ response, json: { ...(await response.json()), total: 10_100 } })
  })
  await page.reload()
  await moveDialog()
  await dialog.getByText('Moving more than 10,000 files of several folders cannot be undone.').waitFor()
  t.deepEqual(problems, [])
})

inBrowser('a dialog about a folder is closed by the back button of the browser, which leaves the folder', async t => {
  const dataset = await newDataset(call, { name: 'Oaks' })
  await newFolder(call, dataset, 'raw')
  const { page, problems } = await webPage(t, browser(), server.url, server.admin)
  await page.goto(`/datasets/${dataset}`)
  await page.getByRole('grid').getByRole('link', { name: 'raw' }).click()
  await page.getByText('This folder is empty').waitFor()
  await page.getByRole('button', { name: 'New folder' }).click()
  await page.getByLabel('Name of the folder').fill('inner')
  await page.goBack()
  await page.getByRole('row', { name: 'raw' }).waitFor()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  t.deepEqual(problems, [])
})

inBrowser('back from a file that was opened by a click, the list is where it was', async t => {
  const dataset = await newDataset(call, { name: 'Oaks' })
  const names = Array.from({ length: 80 }, (_, n) => `plot ${n}.txt`)
  for (let at = 0; at < names.length; at += 10) await Promise.all(names.slice(at, at + 10).map(name => upload(call, dataset, 'x', name)))
  const { page, problems } = await webPage(t, browser(), server.url, server.admin)
  await page.goto(`/datasets/${dataset}`)
  await page.getByRole('row', { name: 'plot 0.txt' }).waitFor()
  await page.locator('.data-grid').evaluate(grid => grid.scrollTo({ top: 1600 }))
  const scrolled = (): Promise<number> => page.locator('.data-grid').evaluate(grid => grid.scrollTop)
  await page.getByRole('grid').getByRole('link', { name: 'plot 45.txt' }).click()
  await page.getByRole('heading', { level: 1, name: 'plot 45.txt' }).waitFor()
  await page.goBack()
  await until(
    'the row to be focused',
    async () => (await page.evaluate("document.activeElement.querySelector('a')?.textContent")) === 'plot 45.txt',
  )
  t.is(await scrolled(), 1600)
  t.deepEqual(problems, [])
})

inBrowser('a double click on a button of a dialog does not open the row behind it', async t => {
  const dataset = await newDataset(call, { name: 'Oaks' })
  const names = Array.from({ length: 30 }, (_, n) => `plot ${n}.txt`)
  for (const name of names) await upload(call, dataset, 'x', name)
  const { page, problems } = await webPage(t, browser(), server.url, server.admin)
  await page.goto(`/datasets/${dataset}`)
  await page.getByRole('row', { name: 'plot 0.txt' }).click({ position: { x: 400, y: 10 } })
  await page.keyboard.press('Delete')
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).dblclick()
  await page.getByText('Deleted plot 0.txt').waitFor()
  t.is(new URL(page.url()).pathname, `/datasets/${dataset}`)
  await page.getByRole('row', { name: 'plot 3.txt' }).dblclick({ position: { x: 400, y: 10 } })
  await page.getByRole('heading', { level: 1, name: 'plot 3.txt' }).waitFor()
  t.deepEqual(problems, [])
})

inBrowser('a name that was copied from macOS, with its accents as characters of their own, is found', async t => {
  const dataset = await newDataset(call, { name: 'Oaks' })
  for (const name of ['Équateur.txt', 'plot.txt']) await upload(call, dataset, 'x', name)
  const { page, problems } = await webPage(t, browser(), server.url, server.admin)
  await page.goto(`/datasets/${dataset}`)
  await page.getByRole('searchbox', { name: 'Find in this folder' }).fill('Équateur'.normalize('NFD'))
  await page.getByRole('row', { name: 'plot.txt' }).waitFor({ state: 'detached' })
  await page.getByRole('row', { name: 'Équateur.txt' }).waitFor()
  t.deepEqual(problems, [])
})

inBrowser('a new name does not replace one that somebody else gave meanwhile, unnoticed', async t => {
  const dataset = await newDataset(call, { name: 'Plots' })
  const file = await upload(call, dataset, 'x', 'old.txt')
  const nameNow = async (): Promise<string> => (await ok<{ filename: string }>(call(`/api/files/${file}/metadata`))).filename
  const { page, problems } = await webPage(t, browser(), server.url, server.admin)
  await page.goto(`/datasets/${dataset}`)
  const field = page.getByLabel('New name')
  await page.getByRole('row', { name: 'old.txt' }).focus()
  await page.keyboard.press('F2')
  await field.fill('mine.txt')
  await change('PUT', `/api/files/${file}/filename`, { name: 'theirs.txt' })
  await page.getByRole('checkbox', { name: /theirs\.txt/ }).waitFor()
  await field.press('Enter')
  await page.getByText('Somebody else changed this meanwhile').waitFor()
  t.is(await field.inputValue(), 'mine.txt')
  t.is(await nameNow(), 'theirs.txt')
  await field.press('Enter')
  await page.getByRole('row', { name: 'mine.txt' }).waitFor()
  await until('the new name', nameNow, name => name === 'mine.txt')
  // The browser logs each refused request.
  t.deepEqual(
    problems.filter(each => !each.includes('412')),
    [],
  )
})

inBrowser('a name that is being typed stays when its row moves', async t => {
  const dataset = await newDataset(call, { name: 'Plots' })
  await upload(call, dataset, 'x', 'plot.txt')
  const { page, problems } = await webPage(t, browser(), server.url, server.admin)
  await page.goto(`/datasets/${dataset}`)
  await page.getByRole('row', { name: 'plot.txt' }).focus()
  await page.keyboard.press('F2')
  await page.keyboard.type('oak')
  await upload(call, dataset, 'x', 'ash.txt')
  await page.getByRole('row', { name: 'ash.txt' }).waitFor()
  await page.keyboard.type('s')
  t.is(await page.getByLabel('New name').inputValue(), 'oaks.txt')
  await page.keyboard.press('Enter')
  await page.getByRole('row', { name: 'oaks.txt' }).waitFor()
  t.deepEqual(problems, [])
})

inBrowser('an action on everything that is listed reports that the list cannot be read', async t => {
  const dataset = await newDataset(call, { name: 'Plots' })
  await upload(call, dataset, 'x', 'one.txt')
  const { page } = await webPage(t, browser(), server.url, server.admin)
  await page.goto(`/datasets/${dataset}`)
  await page.getByRole('row', { name: 'one.txt' }).focus()
  await page.keyboard.press('Control+a')
  await page.route(`**/api/datasets/${dataset}/entries?*`, route =>
    route.fulfill({ status: 500, json: { code: 'internal', message: 'The disk is on strike' } }),
  )
  const toolbar = page.getByRole('toolbar')
  for (const name of ['Delete', 'Copy names']) {
    await toolbar.getByRole('button', { name, exact: true }).click()
    const message = page.getByRole('status').getByText('The disk is on strike')
    await message.waitFor()
    await page.getByRole('status').getByRole('button', { name: 'Close' }).click()
    await message.waitFor({ state: 'detached' })
  }
  t.is(await page.getByRole('dialog').count(), 0)
})
