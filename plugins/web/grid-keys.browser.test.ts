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
