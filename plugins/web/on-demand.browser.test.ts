import test from 'ava'
import type { Page } from 'playwright-core'
import { bootForTest } from 'pounce/sdk/testing'
import { sharedBrowserTests } from '../../test/support/real-browsers.ts'
import { newDataset, ok, upload } from '../../test/support/scene.ts'
import { unexpected, waitForPath, webPage } from '../../test/support/web-pages.ts'

const server = await bootForTest({ config: { access: { private: false } } })
const call = server.as(server.admin.key)
const { test: inBrowser, browser } = sharedBrowserTests(test, 'chromium')
test.after.always(() => server.stop())

const unreachable = (page: Page) => page.getByText('The server is unreachable. Trying again.')
const description = (page: Page) => page.getByRole('textbox', { name: 'Description' })
/** Without what the browser logs about failed requests. */
const serious = (problems: readonly string[]): readonly string[] =>
  unexpected(problems).filter(problem => !/net::ERR_|status of 404|live\?since/.test(problem))

const opened = async (t: Parameters<typeof webPage>[0], path: string) => {
  const opening = await webPage(t, browser(), server.url, server.admin)
  await opening.page.goto(path)
  return opening
}

inBrowser('a dialog and a page whose code is not loaded yet wait for the connection, and unsaved text stays', async t => {
  const dataset = await newDataset(call, { name: 'Rowan' })
  const { page, problems } = await opened(t, `/datasets/${dataset}`)
  await page.getByRole('button', { name: 'Edit description' }).click()
  await description(page).fill('At the pond')
  await page.context().setOffline(true)
  await page.getByRole('button', { name: 'New folder' }).click()
  await unreachable(page).waitFor()
  t.is(await description(page).inputValue(), 'At the pond')
  await page.context().setOffline(false)
  const dialog = page.getByRole('dialog', { name: 'New folder' })
  await dialog.getByLabel('Name of the folder').fill('2026')
  await dialog.getByRole('button', { name: 'Create folder' }).click()
  await page.getByRole('link', { name: '2026' }).first().waitFor()
  t.is(await description(page).inputValue(), 'At the pond')

  // The question whether to discard it needs no connection.
  await page.context().setOffline(true)
  await page.getByRole('link', { name: 'Explore' }).click()
  await page.getByRole('dialog', { name: 'Leave without saving?' }).getByRole('button', { name: 'Discard changes' }).click()
  await unreachable(page).waitFor()
  await page.context().setOffline(false)
  await waitForPath(page, '/datasets')
  await page.getByRole('heading', { name: 'Explore' }).waitFor()
  t.deepEqual(serious(problems), [])
})

inBrowser('a viewer and added files wait for the connection', async t => {
  const dataset = await newDataset(call, { name: 'Rowan' })
  const file = await upload(call, dataset, 'a,b\n1,2\n', 'plot.csv', { type: 'text/csv' })
  const viewing = await opened(t, `/files/${file}`)
  await viewing.page.getByRole('gridcell', { name: '2' }).waitFor()
  await viewing.page.context().setOffline(true)
  await viewing.page.getByText('Text', { exact: true }).click()
  await unreachable(viewing.page).waitFor()
  await viewing.page.context().setOffline(false)
  await viewing.page.getByText('a,b').waitFor()

  const adding = await opened(t, `/datasets/${dataset}`)
  await adding.page.getByRole('button', { name: 'Add files' }).waitFor()
  await adding.page.context().setOffline(true)
  await adding.page.locator('input[data-add=files]').setInputFiles([{ name: 'late.txt', mimeType: '', buffer: Buffer.from('late') }])
  await unreachable(adding.page).waitFor()
  await adding.page.context().setOffline(false)
  await adding.page.getByRole('grid').getByRole('link', { name: 'late.txt' }).waitFor()
  t.deepEqual(serious([...viewing.problems, ...adding.problems]), [])
})

inBrowser('code that an updated server does not have any longer is reported, and unsaved text stays', async t => {
  const dataset = await newDataset(call, { name: 'Rowan' })
  const { page, problems } = await opened(t, `/datasets/${dataset}`)
  await page.getByRole('button', { name: 'Edit description' }).click()
  await description(page).fill('At the pond')
  await page.context().route(/\/web\/assets\/(?:open-dialog|explore)-/, route => route.fulfill({ status: 404 }))
  await page.getByRole('button', { name: 'New folder' }).click()
  await page.getByText('The web interface was updated.').waitFor()
  t.is(await description(page).inputValue(), 'At the pond')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await description(page).waitFor({ state: 'detached' })
  t.like(await ok(call(`/api/datasets/${dataset}?view=full`)), { description: 'At the pond' })

  await page.getByRole('link', { name: 'Explore' }).click()
  const failed = page.getByRole('main').getByRole('alert')
  await failed.getByText('The web interface was updated.').waitFor()
  await page.context().unrouteAll()
  await failed.getByRole('button', { name: 'Reload' }).click()
  await page.getByRole('heading', { name: 'Explore' }).waitFor()
  t.deepEqual(serious(problems), [])
})

inBrowser('a comparison without a second file shows this', async t => {
  const dataset = await newDataset(call, { name: 'Rowan' })
  const file = await upload(call, dataset)
  const { page, problems } = await opened(t, `/compare?left=${file}`)
  await page.getByRole('heading', { name: 'hello.txt' }).waitFor()
  await page.getByText('No file is selected').waitFor()
  t.is(await unreachable(page).count(), 0)
  t.deepEqual(serious(problems), [])
})
