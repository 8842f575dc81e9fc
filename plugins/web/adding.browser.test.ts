import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import test from 'ava'
import { bootForTest } from 'pounce/sdk/testing'
import { bagZip } from '../../test/support/bags.ts'
import { browserTests } from '../../test/support/real-browsers.ts'
import { newDataset, newFolder, ok, upload } from '../../test/support/scene.ts'
import { webBuild } from '../../test/support/web-build.ts'
import { axeFindings, webPage } from '../../test/support/web-pages.ts'

const { test: inBrowser, launch } = browserTests(test, 'chromium')
test.before(webBuild)

inBrowser('files come from addresses, a dataset from a bag; a file names the other ones of its name', async t => {
  const outside = createServer((request, response) => {
    if (request.url?.startsWith('/gone')) response.writeHead(404).end('gone')
    else response.end('a,b\n1,2\n')
  })
  await new Promise<void>(resolve => outside.listen(0, '127.0.0.1', resolve))
  t.teardown(() => new Promise<void>(resolve => outside.close(() => resolve())))
  const source = `http://127.0.0.1:${(outside.address() as AddressInfo).port}`
  const server = await bootForTest({ t, config: { outbound: { allow: ['127.0.0.1'] } } })
  const call = server.as(server.admin.key)
  const dataset = await newDataset(call, { name: 'Stations' })
  const folder = await newFolder(call, dataset, 'raw')
  const old = await upload(call, dataset, 'a,b\n', 'rain.csv', { query: `folder_id=${folder}` })
  const browser = await launch()
  t.teardown(() => browser.close())
  const { page, problems } = await webPage(t, browser, server.url, server.admin)
  await page.goto(`/datasets/${dataset}?folder=${folder}`)
  await page.getByRole('button', { name: 'Add files' }).click()
  await page.getByRole('menuitem', { name: 'From addresses on the web' }).click()
  await page.getByLabel('Addresses').fill(`${source}/rain.csv\n${source}/gone.csv`)
  t.deepEqual(await axeFindings(page), [])
  await page.getByRole('dialog').getByRole('button', { name: 'Add files' }).click()
  await page.getByRole('alert').getByText('answered 404').waitFor()
  t.is(await page.getByLabel('Addresses').inputValue(), `${source}/gone.csv`)
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
  const { entries } = await ok<{ entries: { id: string; name: string }[] }>(call(`/api/datasets/${dataset}/entries?folder=${folder}`))
  t.deepEqual(
    entries.map(({ name }) => name),
    ['rain.csv', 'rain.csv'],
  )

  await page.goto(`/files/${old}`)
  await page.getByRole('heading', { name: 'Versions' }).waitFor()
  await page.getByText('this one').waitFor()
  const other = entries.find(({ id }) => id !== old)?.id
  await page.locator(`a[href$="/files/${other}"]`).click()
  await page.waitForURL(`**/files/${other}`)

  await page.goto('/datasets')
  await page.getByRole('button', { name: 'Create dataset' }).click()
  await page.getByLabel('Or from a BagIt bag').setInputFiles({
    name: 'soil.zip',
    mimeType: 'application/zip',
    buffer: bagZip({ 'leaf.txt': 'oak' }),
  })
  await page.getByRole('dialog').getByRole('button', { name: 'Create dataset' }).click()
  await page.waitForURL(/\/datasets\/[0-9a-f]{24}$/)
  await page.getByRole('row', { name: /leaf\.txt/ }).waitFor()
  t.deepEqual(problems, [])
})
