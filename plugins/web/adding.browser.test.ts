import { mkdir, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import test from 'ava'
import type { Page } from 'playwright-core'
import { bootForTest } from 'pounce/sdk/testing'
import { bagZip } from '../../test/support/bags.ts'
import { newPerson } from '../../test/support/people.ts'
import { browserTests } from '../../test/support/real-browsers.ts'
import { newDataset, newFolder, ok, upload } from '../../test/support/scene.ts'
import { tempFolder } from '../../test/support/temp-folder.ts'
import { until } from '../../test/support/until.ts'
import { webBuild } from '../../test/support/web-build.ts'
import { axeFindings, webPage } from '../../test/support/web-pages.ts'

const { test: inBrowser, launch } = browserTests(test, 'chromium')
test.before(webBuild)

inBrowser('files can be added from URLs, a dataset from a BagIt archive; a file lists others of the same name', async t => {
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
  await page.getByRole('menuitem', { name: 'From web addresses' }).click()
  await page.getByLabel('Addresses').fill(`${source}/rain.csv\nrain.csv`)
  await page.getByRole('dialog').getByRole('button', { name: 'Add files' }).click()
  await page.getByRole('alert').getByText('Line 2 is not a web address: “rain.csv”.').waitFor()
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

/** Drops local files or folders onto a page. */
const drop = async (page: Page, paths: readonly string[], y = 400): Promise<void> => {
  const session = await page.context().newCDPSession(page)
  const data = { items: [], files: [...paths], dragOperationsMask: 1 }
  for (const type of ['dragEnter', 'dragOver', 'drop'] as const) await session.send('Input.dispatchDragEvent', { type, x: 400, y, data })
}

inBrowser('a folder is uploaded with all of its files, whatever their names', async t => {
  const names = ['10:30.csv', 'a*b|c.txt', 'CON', ' first.txt', 'plain.txt', 'say "hi".txt', 'what?.txt', '<x>/in 100%22.txt', '観測/é.txt']
  const source = join(await tempFolder(t), 'odd "folder"')
  for (const name of names) {
    await mkdir(dirname(join(source, name)), { recursive: true })
    await writeFile(join(source, name), name)
  }
  await mkdir(join(source, 'empty'))
  const server = await bootForTest({ t })
  const call = server.as(server.admin.key)
  const [dropped, chosen] = [await newDataset(call, { name: 'Dropped' }), await newDataset(call, { name: 'Chosen' })]
  const browser = await launch()
  t.teardown(() => browser.close())
  const { page, problems } = await webPage(t, browser, server.url, server.admin)
  await page.goto(`/datasets/${dropped}`)
  await page.getByRole('button', { name: 'Add files' }).waitFor()
  await drop(page, [source])
  await page.getByText('9 of 9 files uploaded').waitFor()
  await page.goto(`/datasets/${chosen}`)
  await page.getByRole('button', { name: 'Add files' }).click()
  const choosing = page.waitForEvent('filechooser')
  await page.getByRole('menuitem', { name: 'Folder' }).click()
  await (await choosing).setFiles(source)
  await page.getByText('9 of 9 files uploaded').waitFor()
  type Named = { name: string; path: string[]; kind: string }
  for (const dataset of [dropped, chosen]) {
    const { entries } = await ok<{ entries: Named[] }>(call(`/api/datasets/${dataset}/entries?recursive=true&limit=100`))
    const paths = entries.filter(({ kind }) => kind === 'file').map(({ path, name }) => [...path, name].join('/'))
    t.deepEqual(paths.sort(), names.map(name => `odd "folder"/${name}`).sort())
  }
  t.deepEqual(problems, [])
})

inBrowser('a folder that cannot be read is reported, and what was dropped with it is uploaded', async t => {
  const source = await tempFolder(t)
  await mkdir(join(source, 'locked'))
  await writeFile(join(source, 'plain.txt'), 'oak')
  const server = await bootForTest({ t })
  const dataset = await newDataset(server.as(server.admin.key), { name: 'Plots' })
  const browser = await launch()
  t.teardown(() => browser.close())
  const { page, problems } = await webPage(t, browser, server.url, server.admin)
  // Tests run as root, who can read every folder.
  await page.addInitScript(`{
    const { webkitGetAsEntry } = DataTransferItem.prototype
    const readEntries = (_, fail) => fail(new DOMException('Not readable', 'NotReadableError'))
    DataTransferItem.prototype.webkitGetAsEntry = function () {
      const entry = webkitGetAsEntry.call(this)
      if (entry.isDirectory) entry.createReader = () => ({ readEntries })
      return entry
    }
  }`)
  await page.goto(`/datasets/${dataset}`)
  await page.getByRole('button', { name: 'Add files' }).waitFor()
  await drop(page, [join(source, 'locked'), join(source, 'plain.txt')])
  await page.getByText('locked cannot be read').waitFor()
  await page.getByText('1 of 1 file uploaded').waitFor()
  t.deepEqual(problems, [])
})

inBrowser('a second tab leaves an upload to the first one, which continues it after a reload', async t => {
  const source = join(await tempFolder(t), 'plots')
  await mkdir(source)
  for (const name of ['a.txt', 'b.txt']) await writeFile(join(source, name), name)
  const server = await bootForTest({ t })
  const call = server.as(server.admin.key)
  const dataset = await newDataset(call, { name: 'Plots' })
  const browser = await launch()
  t.teardown(() => browser.close())
  const { page } = await webPage(t, browser, server.url, server.admin)
  const sent: string[] = []
  await page
    .context()
    .route('**/api/uploadToDataset/**', route => void sent.push(route.request().frame().page() === page ? 'first' : 'second'))
  await page.goto(`/datasets/${dataset}`)
  await page.getByRole('button', { name: 'Add files' }).waitFor()
  await drop(page, [source])
  await page.locator('input[data-add=files]').setInputFiles({ name: 'c.txt', mimeType: 'text/plain', buffer: Buffer.from('c') })
  await until('the uploads to begin', () => sent.length === 3)

  const other = await page.context().newPage()
  await other.goto('/')
  await other.waitForLoadState('networkidle')
  await other.getByRole('button', { name: /^Uploads/ }).click()
  await other.getByText('Nothing is being uploaded').waitFor()
  t.deepEqual(sent, ['first', 'first', 'first'])
  await other.close()

  page.on('dialog', dialog => void dialog.accept())
  await page.reload()
  await page.getByText('Select it again on the dataset page').waitFor()
  // Requests that are still held are sent now.
  await page.context().unroute('**/api/uploadToDataset/**')
  await page.getByText('2 of 3 files uploaded').waitFor()
  const { entries } = await ok<{ entries: { name: string }[] }>(call(`/api/datasets/${dataset}/entries?recursive=true`))
  t.deepEqual(entries.map(({ name }) => name).sort(), ['a.txt', 'b.txt', 'plots'])
})

inBrowser('files can be dropped anywhere in the window; where none are taken, the page stays', async t => {
  const source = join(await tempFolder(t), 'a.txt')
  await writeFile(source, 'oak')
  const server = await bootForTest({ t })
  const call = server.as(server.admin.key)
  const dataset = await newDataset(call, { name: 'Plots' })
  const browser = await launch()
  t.teardown(() => browser.close())
  const { page, problems } = await webPage(t, browser, server.url, server.admin)
  await page.goto(`/datasets/${dataset}`)
  await page.getByRole('button', { name: 'Add files' }).waitFor()
  await drop(page, [source], 850)
  await page.getByText('1 of 1 file uploaded').waitFor()

  // The same file once more.
  await drop(page, [source])
  const question = page.getByRole('dialog', { name: '1 file is already in the dataset' })
  await question.getByText('under the same names').waitFor()
  await question.getByRole('button', { name: 'Upload all' }).click()
  await page.getByText('2 of 2 files uploaded').waitFor()
  const { entries } = await ok<{ entries: { name: string }[] }>(call(`/api/datasets/${dataset}/entries`))
  t.deepEqual(
    entries.map(({ name }) => name),
    ['a.txt', 'a.txt'],
  )

  await page.goto('/')
  await page.getByRole('heading', { level: 1 }).waitFor()
  await drop(page, [source])
  await page.getByRole('link', { name: 'Plots' }).first().click()
  await page.getByRole('heading', { level: 1, name: 'Plots' }).waitFor()
  t.is(page.context().pages().length, 1)
  t.deepEqual(problems, [])
})

inBrowser('files added while a question about others is open are asked about next', async t => {
  const server = await bootForTest({ t })
  const call = server.as(server.admin.key)
  const dataset = await newDataset(call, { name: 'Plots' })
  for (const name of ['a.txt', 'b.txt']) await upload(call, dataset, 'oak', name)
  const browser = await launch()
  t.teardown(() => browser.close())
  const { page, problems } = await webPage(t, browser, server.url, server.admin)
  await page.goto(`/datasets/${dataset}`)
  await page.getByRole('button', { name: 'Add files' }).waitFor()
  const add = (...names: readonly string[]): Promise<void> =>
    page.locator('input[data-add=files]').setInputFiles(names.map(name => ({ name, mimeType: 'text/plain', buffer: Buffer.from('oak') })))
  const question = page.getByRole('dialog', { name: '1 file is already in the dataset' })
  await add('a.txt', 'first.txt')
  await question.waitFor()
  const checked = page.waitForResponse('**/api/uploads/check')
  await add('b.txt', 'second.txt')
  await checked
  for (const uploaded of ['1 of 1 file uploaded', '2 of 2 files uploaded']) {
    await question.getByRole('button', { name: 'Skip 1 file' }).click()
    await page.getByText(uploaded).waitFor()
  }
  const { entries } = await ok<{ entries: { name: string }[] }>(call(`/api/datasets/${dataset}/entries`))
  t.deepEqual(
    entries.map(({ name }) => name),
    ['a.txt', 'b.txt', 'first.txt', 'second.txt'],
  )
  t.deepEqual(problems, [])
})

inBrowser('a file that is uploaded beside one of its name and size arrives after a failure or a reload', async t => {
  const server = await bootForTest({ t })
  const call = server.as(server.admin.key)
  const dataset = await newDataset(call, { name: 'Plots' })
  await upload(call, dataset, 'old', 'a.txt')
  const browser = await launch()
  t.teardown(() => browser.close())
  const { page } = await webPage(t, browser, server.url, server.admin)
  const source = join(await tempFolder(t), 'a.txt')
  const contents = async (): Promise<readonly string[]> => {
    const { entries } = await ok<{ entries: { id: string }[] }>(call(`/api/datasets/${dataset}/entries`))
    return Promise.all(entries.map(async ({ id }) => (await call(`/api/files/${id}`)).text()))
  }
  await page.goto(`/datasets/${dataset}`)
  await page.getByRole('button', { name: 'Add files' }).waitFor()
  await writeFile(source, 'new')
  await page.route('**/api/uploadToDataset/**', route => route.abort(), { times: 1 })
  await page.locator('input[data-add=files]').setInputFiles(source)
  await page.getByRole('button', { name: 'Upload all' }).click()
  await page.getByText('1 of 1 file uploaded').waitFor()
  t.deepEqual((await contents()).toSorted(), ['new', 'old'])

  await page.route('**/api/uploadToDataset/**', () => undefined)
  const begun = page.waitForRequest('**/api/uploadToDataset/**')
  await page.locator('input[data-add=files]').setInputFiles(source)
  await page.getByRole('button', { name: 'Upload all' }).click()
  await begun
  page.on('dialog', dialog => void dialog.accept())
  await page.reload()
  await page.getByText('Select it again on the dataset page').waitFor()
  await page.unroute('**/api/uploadToDataset/**')
  await page.locator('input[data-add=files]').setInputFiles(source)
  await page.getByText('1 of 1 file uploaded').waitFor()
  t.deepEqual((await contents()).toSorted(), ['new', 'new', 'old'])
})

inBrowser('uploads are sent whatever the browser believes about the network', async t => {
  const server = await bootForTest({ t })
  const dataset = await newDataset(server.as(server.admin.key), { name: 'Plots' })
  const browser = await launch()
  t.teardown(() => browser.close())
  const { page } = await webPage(t, browser, server.url, server.admin)
  await page.addInitScript("Object.defineProperty(navigator, 'onLine', { get: () => false })")
  const held = Promise.withResolvers<void>()
  await page.route('**/api/uploadToDataset/**', async route => {
    await held.promise
    await route.continue()
  })
  await page.goto(`/datasets/${dataset}`)
  await page.getByRole('button', { name: 'Add files' }).waitFor()
  await page.locator('input[data-add=files]').setInputFiles({ name: 'c.txt', mimeType: 'text/plain', buffer: Buffer.from('c') })
  await page.getByText('Uploading · 1\u00a0B').waitFor()
  t.is(await page.getByText('Waiting for the connection').count(), 0)
  held.resolve()
  await page.getByText('1 of 1 file uploaded').waitFor()
})

inBrowser('interrupted uploads of a user who is replaced while they are restored do not appear for the next one', async t => {
  const server = await bootForTest({ t, config: { access: { private: false } } })
  const dataset = await newDataset(server.as(server.admin.key), { name: 'Plots' })
  const bob = await newPerson(server, 'bob')
  const browser = await launch()
  t.teardown(() => browser.close())
  const { page } = await webPage(t, browser, server.url, server.admin)
  await page.route('**/api/uploadToDataset/**', () => undefined)
  await page.goto(`/datasets/${dataset}`)
  await page.getByRole('button', { name: 'Add files' }).waitFor()
  await page.locator('input[data-add=files]').setInputFiles({ name: 'secret.txt', mimeType: 'text/plain', buffer: Buffer.from('c') })
  await page.getByText('secret.txt').waitFor()
  page.on('dialog', dialog => void dialog.accept())
  const held = Promise.withResolvers<void>()
  const requested = page.waitForRequest('**/api/uploads/check')
  await page.route('**/api/uploads/check', async route => {
    await held.promise
    await route.continue()
  })
  await page.reload()
  await requested
  await page.context().request.post('/api/login', { data: { email: bob.email, password: bob.password } })
  await page.evaluate("new BroadcastChannel('pounce-session').postMessage('change')")
  await page.getByRole('button', { name: 'Account of bob Number 1' }).waitFor()
  const checked = page.waitForResponse('**/api/uploads/check')
  held.resolve()
  await checked
  await page.getByRole('button', { name: /^Uploads/ }).click()
  await page.getByText('Nothing is being uploaded').waitFor()
  t.is(await page.getByText('secret.txt').count(), 0)
})
