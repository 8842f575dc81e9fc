import { createHash, randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import type { Page } from 'playwright-core'
import { bootForTest, isFullRun } from 'pounce/sdk/testing'
import { adminKey, childAdmin, dataFolder, startChild } from '../../test/support/child-server.ts'
import { freePort } from '../../test/support/free-port.ts'
import { newPerson } from '../../test/support/people.ts'
import { browserTests } from '../../test/support/real-browsers.ts'
import { newDataset, ok } from '../../test/support/scene.ts'
import { until } from '../../test/support/until.ts'
import { webBuild } from '../../test/support/web-build.ts'
import { axeFindings, webPage } from '../../test/support/web-pages.ts'

const { test: inBrowser, launch } = browserTests(test, 'chromium')
test.before(webBuild)

/** Number of folders, and of files in each. The very last file is sent in parts. */
const [folders, filesEach] = isFullRun ? [200, 10] : [20, 10]
const wholeBytes = 20_000
const largeBytes = 9_000_000
const limitMs = isFullRun ? 600_000 : 120_000

/** A folder of files as users upload it, with their digests by path. */
const shipment = async (t: { teardown(end: () => Promise<void>): void }) => {
  const root = await mkdtemp(join(tmpdir(), 'pounce-shipment-'))
  t.teardown(() => rm(root, { recursive: true, force: true }))
  const digests = new Map<string, string>()
  for (let folder = 0; folder < folders; folder++)
    for (let file = 0; file < filesEach; file++) {
      const isLast = folder === folders - 1 && file === filesEach - 1
      const path = join(root, `plot ${folder % 20}`, `day-${folder}`, `Lösung ${file}.bin`)
      const bytes = randomBytes(isLast ? largeBytes : wholeBytes)
      await mkdir(dirname(path), { recursive: true })
      await writeFile(path, bytes)
      digests.set(path.slice(dirname(root).length + 1), createHash('sha256').update(bytes).digest('hex'))
    }
  return { root, digests }
}

interface Listed {
  readonly entries: readonly { readonly id: string; readonly kind: string; readonly name: string; readonly path?: readonly string[] }[]
}

inBrowser('a folder is uploaded completely, each file once, despite a page reload and a killed server', async t => {
  t.timeout(3 * limitMs)
  const [data, port, { root, digests }] = await Promise.all([dataFolder(t), freePort(), shipment(t)])
  const start = () => startChild(data, { POUNCE_HTTP__PORT: String(port) }).ready
  let server = await start()
  t.teardown(async () => {
    server.signal('SIGKILL')
    await server.ended
  })
  const key = await adminKey(server)
  const dataset = await newDataset(server.as(key), { name: 'Shipment' })
  const browser = await launch()
  t.teardown(() => browser.close())
  const { page } = await webPage(t, browser, server.url, childAdmin)
  const arrived = async (): Promise<number> => {
    const { total } = await ok<{ total: number }>(server.as(key)(`/api/datasets/${dataset}/entries?recursive=true&limit=1`))
    return total
  }
  const choose = async (): Promise<void> => {
    await page.getByRole('button', { name: 'Add files' }).waitFor()
    await page.locator('input[webkitdirectory]').setInputFiles(root)
  }
  const isDone = async (): Promise<boolean> => (await trayTitle(page)).replaceAll(',', '').startsWith(`${digests.size} of ${digests.size}`)

  await page.goto(`/datasets/${dataset}`)
  await choose()
  await until('a quarter of the files to be uploaded', async () => (await arrived()) > digests.size / 4, Boolean, limitMs)

  page.on('dialog', dialog => void dialog.accept())
  await page.reload()
  await page.getByText('Select the same folder again').waitFor()
  await choose()
  await until('half of the files to be uploaded', async () => (await arrived()) > digests.size / 2, Boolean, limitMs)

  server.signal('SIGKILL')
  await server.ended
  await page.getByText('The server is unreachable').first().waitFor()
  // Waiting uploads do not change; running ones could end during the accessibility check.
  t.deepEqual(await axeFindings(page), [])
  server = await start()
  await until('all files to be uploaded', isDone, Boolean, limitMs)

  const found = new Map<string, string>()
  for (let after = ''; ; ) {
    const response = await server.as(key)(`/api/datasets/${dataset}/entries?recursive=true&limit=1000${after}`)
    const { entries } = (await response.json()) as Listed
    for (const { id, kind, name, path = [] } of entries) {
      if (kind !== 'file') continue
      const bytes = Buffer.from(await (await server.as(key)(`/api/files/${id}`)).arrayBuffer())
      const at = [...path, name].join('/')
      t.false(found.has(at), `${at} exists twice`)
      found.set(at, createHash('sha256').update(bytes).digest('hex'))
    }
    const [, next] = /[?&](after=[^&>]+)/.exec(response.headers.get('link') ?? '') ?? []
    if (next === undefined) break
    after = `&${next}`
  }
  t.deepEqual(Object.fromEntries([...found].sort()), Object.fromEntries([...digests].sort()))
  t.is(basename(root), [...digests.keys()][0]?.split('/')[0] ?? '')
})

/** A page whose session ends during an upload, and the dialog that it then shows. */
const endedSession = async (t: ExecutionContext) => {
  const server = await bootForTest({ t })
  const dataset = await newDataset(server.as(server.admin.key), { name: 'Plots' })
  const browser = await launch()
  t.teardown(() => browser.close())
  const { page } = await webPage(t, browser, server.url, server.admin)
  await page.goto(`/datasets/${dataset}`)
  await page.getByRole('button', { name: 'Add files' }).waitFor()
  await page.context().clearCookies()
  await page.route('**/api/uploads/check', route => route.fulfill({ json: [] }))
  await page
    .locator('input[type=file]')
    .first()
    .setInputFiles({ name: 'plot 1.csv', mimeType: 'text/csv', buffer: Buffer.from('a,b') })
  await page.getByText('Sign in again to continue the uploads').waitFor()
  await page.unroute('**/api/uploads/check')
  await page.getByRole('button', { name: 'Follow' }).click()
  const question = page.getByRole('dialog', { name: 'You are signed out' })
  const signIn = async ({ email, password }: { readonly email: string; readonly password: string }): Promise<void> => {
    await question.getByLabel('Email address').fill(email)
    await question.getByLabel('Password').fill(password)
    await question.getByRole('button', { name: 'Sign in', exact: true }).click()
    await question.waitFor({ state: 'hidden' })
  }
  return { server, page, signIn }
}

inBrowser('uploads continue when their account signs in again', async t => {
  const { server, page, signIn } = await endedSession(t)
  await signIn(server.admin)
  await until('the file to be uploaded', async () => (await trayTitle(page)).replaceAll(',', '').startsWith('1 of 1'))
  t.is(await page.getByText('Sign in again to continue the uploads').count(), 0)
})

inBrowser('another account in the same browser gets none of the uploads', async t => {
  const { server, page, signIn } = await endedSession(t)
  const sent: string[] = []
  page.on('request', request => /uploadToDataset/.test(request.url()) && sent.push(request.url()))
  await signIn(await newPerson(server, 'grace'))
  await page.getByRole('button', { name: /^Account of grace/ }).waitFor()
  await page.getByRole('button', { name: 'Cancel plot 1.csv' }).waitFor({ state: 'detached' })
  t.deepEqual(sent, [])
})

inBrowser('after cancelling everything no other file is sent, and a reload restores none of them', async t => {
  const server = await bootForTest({ t })
  const dataset = await newDataset(server.as(server.admin.key), { name: 'Plots' })
  const browser = await launch()
  t.teardown(() => browser.close())
  const { page } = await webPage(t, browser, server.url, server.admin)
  const sent: string[] = []
  // No response: every started upload stays pending until it is cancelled.
  await page.route('**/api/uploadToDataset/**', route => void sent.push(route.request().url()))
  await page.goto(`/datasets/${dataset}`)
  await page.getByRole('button', { name: 'Add files' }).waitFor()
  const files = Array.from({ length: 30 }, (_, at) => ({ name: `plot ${at}.csv`, mimeType: 'text/csv', buffer: Buffer.from('a,b') }))
  await page.locator('input[data-add=files]').setInputFiles(files)
  await until('an upload to be sent', async () => sent.length > 0)
  await page.getByRole('button', { name: 'Cancel all' }).click()
  await page.getByText('of 30').waitFor({ state: 'detached' })
  t.true(sent.length < 10, `${sent.length} of 30 files were sent`)
  await page.reload()
  await page.getByRole('button', { name: 'Add files' }).waitFor()
  t.is(await page.getByText('plot 3.csv').count(), 0)
  const { total } = await ok<{ total: number }>(server.as(server.admin.key)(`/api/datasets/${dataset}/entries?limit=1`))
  t.is(total, 0)
})

inBrowser('a refused file is listed with the reason, and uploads without a connection are shown as waiting', async t => {
  const server = await bootForTest({ t })
  const dataset = await newDataset(server.as(server.admin.key), { name: 'Plots' })
  const browser = await launch()
  t.teardown(() => browser.close())
  const { page } = await webPage(t, browser, server.url, server.admin)
  const message = `The file cannot be stored, for a reason that takes several lines: ${'unusually-long-word'.repeat(4)} `.repeat(2)
  await page.route('**/api/uploadToDataset/**', route => route.fulfill({ status: 400, json: { code: 'odd', message } }))
  await page.goto(`/datasets/${dataset}`)
  await page.getByRole('button', { name: 'Add files' }).waitFor()
  const files = ['plot 1.csv', 'plot 2.csv'].map(name => ({ name, mimeType: 'text/csv', buffer: Buffer.from('a,b') }))
  await page.locator('input[data-add=files]').setInputFiles(files)
  const rows = page.locator('.upload-items li')
  await rows.locator('.failed').nth(1).waitFor()
  for (const width of [360, 1280]) {
    await page.setViewportSize({ width, height: 800 })
    // The list measures its rows after rendering.
    await until('the rows not to overlap', async () => {
      const [first, second] = await Promise.all([rows.nth(0).boundingBox(), rows.nth(1).boundingBox()])
      return first !== null && second !== null && first.y + first.height <= second.y + 1
    })
    for (const at of [0, 1]) {
      const [row, name, text] = await Promise.all(
        [rows.nth(at), rows.nth(at).locator('.upload-name'), rows.nth(at).locator('.failed')].map(part => part.boundingBox()),
      )
      if (!row || !name || !text) return t.fail('a part of the row is not shown')
      t.true(name.width > 100, `${name.width}`)
      t.true(text.y >= name.y + name.height - 1 && text.y + text.height <= row.y + row.height + 1, `${width}`)
      t.true(text.x + text.width <= row.x + row.width + 1)
    }
    t.deepEqual(await axeFindings(page), [])
  }
  await page.getByRole('button', { name: 'Cancel all' }).click()
  await page.getByRole('heading', { name: 'Uploads', exact: true }).waitFor()
  await page.getByText('Nothing is being uploaded').waitFor()
  t.is(await page.locator('.upload-tray').getByText('0 B').count(), 0)

  await page.unroute('**/api/uploadToDataset/**')
  await page.route('**/api/uploadToDataset/**', route => route.abort('internetdisconnected'))
  await page.locator('input[data-add=files]').setInputFiles(files)
  await page.getByText('The uploads will resume automatically').waitFor()
  await rows.getByText('Waiting for the connection').nth(1).waitFor()
  t.is(await page.locator('.upload-tray').getByText('/s').count(), 0)
  await page.unroute('**/api/uploadToDataset/**')
  await until('both files to be uploaded', async () => (await trayTitle(page)).startsWith('2 of 2'))
  t.is(await page.getByText('The uploads will resume automatically').count(), 0)
})

const trayTitle = (page: Page): Promise<string> => page.locator('.upload-tray h2').innerText()
