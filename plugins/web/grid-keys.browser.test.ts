import test from 'ava'
import type { Page } from 'playwright-core'
import { bootForTest } from 'pounce/sdk/testing'
import { sharedBrowserTests } from '../../test/support/real-browsers.ts'
import { newDataset, newFolder, ok, upload } from '../../test/support/scene.ts'
import { until } from '../../test/support/until.ts'
import { axeFindings, webPage } from '../../test/support/web-pages.ts'

const server = await bootForTest({})
const call = server.as(server.admin.key)
const { test: inBrowser, browser } = sharedBrowserTests(test, 'chromium')
test.after.always(() => server.stop())

const isRowFocused = (page: Page, name: string): Promise<boolean> =>
  page.evaluate<boolean>(`document.activeElement.querySelector('a')?.textContent === ${JSON.stringify(name)}`)

inBrowser('typing the beginning of a name finds rows that are not loaded yet', async t => {
  const dataset = await newDataset(call, { name: 'Oaks' })
  const names = [...Array.from({ length: 449 }, (_, n) => `plot ${n}.txt`), 'zebra tracks.txt']
  for (let at = 0; at < names.length; at += 10) await Promise.all(names.slice(at, at + 10).map(name => upload(call, dataset, 'x', name)))
  const { page, problems } = await webPage(t, browser(), server.url, server.admin)
  const isFocused = (name: string) => async () => (await page.evaluate("document.activeElement.querySelector('a')?.textContent")) === name
  await page.goto(`/datasets/${dataset}`)
  await page.getByRole('row', { name: 'plot 0.txt' }).waitFor()
  await page.locator('.grid-body [tabindex="0"]').focus()
  await page.keyboard.type('zebra t')
  await until('the row of the name to be focused', isFocused('zebra tracks.txt'))
  await page.keyboard.press('Home')
  await page.keyboard.type('plot 4')
  await until('the next row with this prefix to be focused', isFocused('plot 4.txt'))
  // The focus leaves the row before the names are loaded.
  let release = (): void => undefined
  const isReleased = new Promise<void>(resolve => {
    release = resolve
  })
  await page.route(/\/entries\?.*skip=/, route => isReleased.then(() => route.continue()))
  const requested = page.waitForRequest(/skip=/)
  await page.keyboard.press('Home')
  await page.keyboard.type('zebra')
  await requested
  await page.keyboard.press('ArrowDown')
  const loaded = page.waitForResponse(/skip=/)
  release()
  await loaded
  await page.keyboard.press('ArrowDown')
  await until('the row below to be focused', isFocused('plot 2.txt'))
  t.deepEqual(problems, [])
})

inBrowser('keys act on the row that has the focus, however it got it', async t => {
  const dataset = await newDataset(call, { name: 'Plots' })
  for (const name of ['one.txt', 'two.txt']) await upload(call, dataset, 'x', name)
  const { page, problems } = await webPage(t, browser(), server.url, server.admin)
  await page.goto(`/datasets/${dataset}`)
  const row = page.getByRole('row', { name: 'two.txt' })
  // As a screen reader does.
  await row.focus()
  await page.keyboard.press('Delete')
  await page.getByRole('dialog', { name: 'Delete two.txt?' }).waitFor()
  await page.keyboard.press('Escape')
  await row.focus()
  await page.keyboard.press('F2')
  t.is(await page.getByLabel('New name').inputValue(), 'two.txt')
  t.deepEqual(problems, [])
})

inBrowser('a link that has the focus keeps it while rows change their order', async t => {
  const dataset = await newDataset(call, { name: 'Plots' })
  for (const name of ['three.txt', 'two.txt', 'zero.txt']) await upload(call, dataset, 'x', name)
  const moving = await upload(call, dataset, 'x', 'one.txt')
  const { page, problems } = await webPage(t, browser(), server.url, server.admin)
  await page.goto(`/datasets/${dataset}`)
  const names = (): Promise<readonly string[]> => page.locator('.grid-body a').allTextContents()
  for (const [before, after, linked, order] of [
    ['one.txt', 'turned.txt', 'zero.txt', ['three.txt', 'turned.txt', 'two.txt', 'zero.txt']],
    ['turned.txt', 'unit.txt', 'two.txt', ['three.txt', 'two.txt', 'unit.txt', 'zero.txt']],
  ] as const) {
    await page.getByRole('row', { name: before }).focus()
    await page.getByRole('link', { name: linked }).focus()
    await ok(call(`/api/files/${moving}/filename`, { method: 'PUT', json: { name: after } }))
    await until('the rows to be sorted', names, seen => seen.join() === order.join())
    const focused = (): Promise<string> =>
      page.evaluate<string>("document.activeElement.closest('[role=row]')?.querySelector('a')?.textContent")
    await until('the row of the link to be focused', focused, name => name === linked, 5_000)
  }
  t.deepEqual(problems, [])
})

inBrowser('an empty folder has the focus when it is opened by a key, and is left by one', async t => {
  const dataset = await newDataset(call, { name: 'Plots' })
  await newFolder(call, dataset, 'empty')
  const { page, problems } = await webPage(t, browser(), server.url, server.admin)
  await page.goto(`/datasets/${dataset}`)
  for (const key of ['Backspace', 'Alt+ArrowUp']) {
    await page.getByRole('row', { name: 'empty' }).focus()
    await page.keyboard.press('Enter')
    await page.getByText('This folder is empty').waitFor()
    await page.waitForFunction("document.activeElement.getAttribute('aria-label') === 'Files in empty'")
    t.deepEqual(await axeFindings(page), [])
    await page.keyboard.press(key)
    await page.getByRole('row', { name: 'empty' }).waitFor()
  }
  t.deepEqual(problems, [])
})

inBrowser('what the menu of a row opens gets the focus, and returns it to the row', async t => {
  const dataset = await newDataset(call, { name: 'Spruces' })
  for (const name of ['one.txt', 'two.txt']) await upload(call, dataset, 'x', name)
  const { page, problems } = await webPage(t, browser(), server.url, server.admin)
  const choose = async (row: string, item: string | RegExp): Promise<void> => {
    await page.getByRole('row', { name: row }).focus()
    await page.keyboard.press('Shift+F10')
    const chosen = page.getByRole('menuitem', { name: item, exact: true })
    await chosen.waitFor()
    t.deepEqual(await axeFindings(page), [])
    await chosen.focus()
    await page.keyboard.press('Enter')
  }
  const isBack = (row: string) => until(`the focus to be back in the row of ${row}`, () => isRowFocused(page, row))
  await page.goto(`/datasets/${dataset}`)
  await page.getByRole('row', { name: 'two.txt' }).waitFor()
  await choose('two.txt', 'Rename')
  await until('the name to have the focus', () => page.evaluate<boolean>("document.activeElement.value === 'two.txt'"))
  await page.keyboard.press('Escape')
  for (const item of ['Tag', 'Move', 'Delete']) {
    await choose('two.txt', item)
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).waitFor()
    await page.keyboard.press('Escape')
    await isBack('two.txt')
  }
  await page.goto('/datasets')
  await page.getByRole('row', { name: 'Spruces' }).waitFor()
  for (const item of ['Edit dataset', 'Add to a collection']) {
    await choose('Spruces', item)
    await page.getByRole('dialog').getByRole('textbox').first().waitFor()
    await page.keyboard.press('Escape')
    await isBack('Spruces')
  }
  t.deepEqual(problems, [])
})

inBrowser('the list has the focus when the selection bar and the selected rows are gone', async t => {
  const dataset = await newDataset(call, { name: 'Firs' })
  for (const name of ['a.txt', 'b.txt', 'c.txt']) await upload(call, dataset, 'x', name)
  const { page, problems } = await webPage(t, browser(), server.url, server.admin)
  const pressed = async (name: string | RegExp): Promise<void> => {
    await page.getByRole('toolbar').getByRole('button', { name }).focus()
    await page.keyboard.press('Enter')
  }
  const remove = async (): Promise<void> => {
    await pressed('Delete')
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).focus()
    await page.keyboard.press('Enter')
  }
  await page.goto(`/datasets/${dataset}`)
  await page.getByRole('row', { name: 'a.txt' }).focus()
  await page.keyboard.press(' ')
  await pressed('Clear selection')
  await until('the row to have the focus', () => isRowFocused(page, 'a.txt'))
  await page.keyboard.press(' ')
  await remove()
  await until('the next row to have the focus', () => isRowFocused(page, 'b.txt'))
  await page.keyboard.press('Control+a')
  const message = page.locator('.toast').first()
  await message.getByRole('button', { name: 'Close' }).focus()
  await page.keyboard.press('Enter')
  await message.waitFor({ state: 'detached' })
  t.is(await page.evaluate('document.activeElement.id'), 'content')
  await remove()
  await until('the empty list to have the focus', () => page.evaluate<boolean>("document.activeElement.matches('.grid-empty')"))
  t.deepEqual(problems, [])
})

inBrowser('what is selected is marked in forced colours, too', async t => {
  const dataset = await newDataset(call, { name: 'Larches' })
  await upload(call, dataset, 'x', 'a.txt')
  const { page } = await webPage(t, browser(), server.url, server.admin)
  const outlineOf = (selector: string): Promise<string> =>
    page.evaluate<string>(`getComputedStyle(document.querySelector(${JSON.stringify(selector)})).outlineStyle`)
  await page.emulateMedia({ forcedColors: 'active' })
  await page.goto('/admin/access')
  await page.locator('.access-option[data-selected]').waitFor()
  t.is(await outlineOf('.access-option[data-selected]'), 'solid')
  t.is(await outlineOf('.access-option:not([data-selected])'), 'none')
  await page.goto('/collections')
  await page.locator('.tab[aria-current]').waitFor()
  t.is(await outlineOf('.tab[aria-current]'), 'solid')
  t.is(await outlineOf('.tab:not([aria-current])'), 'none')
})

inBrowser('sorting a list and leaving a folder by its path keep the focus', async t => {
  const dataset = await newDataset(call, { name: 'Alders' })
  await upload(call, dataset, 'x', 'a.txt')
  const folder = await newFolder(call, dataset, 'wet')
  const { page, problems } = await webPage(t, browser(), server.url, server.admin)
  const heading = page.getByRole('columnheader', { name: 'Name' }).getByRole('button')
  await page.goto('/datasets')
  for (const order of ['ascending', 'descending']) {
    await heading.focus()
    await page.keyboard.press('Enter')
    await page.locator(`[role=columnheader][aria-sort=${order}]`).waitFor()
    await until('the heading to have the focus', () => page.evaluate<boolean>("document.activeElement.matches('.grid-sort')"))
  }
  await page.goto(`/datasets/${dataset}?folder=${folder}`)
  await page.getByRole('navigation', { name: 'Folder', exact: true }).getByRole('link', { name: 'Alders' }).focus()
  await page.keyboard.press('Enter')
  await until('the folder that was left to have the focus', () => isRowFocused(page, 'wet'))
  t.deepEqual(problems, [])
})

inBrowser('closing and emptying the upload tray keep the focus', async t => {
  const dataset = await newDataset(call, { name: 'Willows' })
  const { page, problems } = await webPage(t, browser(), server.url, server.admin)
  await page.goto(`/datasets/${dataset}`)
  await page.getByRole('button', { name: 'Add files' }).waitFor()
  await page.locator('input[data-add=files]').setInputFiles({ name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('a') })
  await page.getByText('1 of 1 file uploaded').waitFor()
  const tray = page.getByRole('region', { name: 'Uploads', exact: true })
  await tray.getByRole('button', { name: 'Clear the list' }).focus()
  await page.keyboard.press('Enter')
  await until('the tray to have the focus', () => page.evaluate<boolean>("document.activeElement.matches('.upload-tray')"))
  await tray.getByRole('button', { name: 'Close' }).focus()
  await page.keyboard.press('Enter')
  await tray.waitFor({ state: 'detached' })
  await until('the button of the tray to have the focus', () => page.evaluate<boolean>("document.activeElement.textContent === 'Uploads'"))
  t.deepEqual(problems, [])
})
