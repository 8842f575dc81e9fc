import { fileURLToPath } from 'node:url'
import test from 'ava'
import { bootForTest } from 'pounce/sdk/testing'
import { browserTests } from '../../test/support/real-browsers.ts'
import { newDataset, upload } from '../../test/support/scene.ts'
import { webBuild } from '../../test/support/web-build.ts'
import { axeFindings, webPage } from '../../test/support/web-pages.ts'

const { test: inBrowser, launch } = browserTests(test, 'chromium')
const server = await bootForTest({ also: [fileURLToPath(new URL('.', import.meta.url))] })
const call = server.as(server.admin.key)
test.before(webBuild)
test.after.always(() => server.stop())

inBrowser('a plugin adds a tab and an action to datasets, and a page of its own', async t => {
  const dataset = await newDataset(call, { name: 'Beech plots' })
  const empty = await newDataset(call, { name: 'Nothing yet' })
  for (const name of ['a.txt', 'b.txt']) await upload(call, dataset, name, name, { type: 'text/plain' })
  const browser = await launch()
  t.teardown(() => browser.close())
  const { page, problems } = await webPage(t, browser, server.url, server.admin)
  await page.goto('/')
  await page.getByRole('link', { name: 'Newest', exact: true }).click()
  await page.getByRole('heading', { level: 1, name: 'Newest' }).waitFor()
  await page.getByRole('button', { name: 'Beech plots' }).click()

  await page.getByRole('button', { name: 'File types' }).click()
  await page.getByRole('cell', { name: 'text/plain' }).waitFor()
  t.is(new URL(page.url()).searchParams.get('tab'), 'example.file-types.tab')
  t.deepEqual(await axeFindings(page), [])
  await page.reload()
  await page.getByRole('cell', { name: 'text/plain' }).waitFor()

  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'List file names' }).click()
  await page.getByRole('dialog').getByText('a.txt').waitFor()
  t.deepEqual(await axeFindings(page), [])

  await page.goto(`/datasets/${empty}`)
  await page.getByRole('heading', { level: 1, name: 'Nothing yet' }).waitFor()
  await page.waitForLoadState('networkidle')
  t.is(await page.getByRole('button', { name: 'File types' }).count(), 0, 'nothing to show, no tab')
  t.deepEqual(problems, [])
})
