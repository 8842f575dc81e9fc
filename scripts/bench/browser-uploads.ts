import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, open, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { Browser, Page } from 'playwright-core'
import { chromiumForTests } from '../../test/support/real-browsers.ts'
import { account, newKey, type Server, sent, startPounce } from './servers.ts'
import { median, type Row, spread } from './table.ts'

const mebibyte = 1024 * 1024
const smallBytes = 20_000
const filesEach = 10

/** Folders of small files with distinct contents. */
const writeFolders = async (root: string, count: number): Promise<void> => {
  for (let written = 0; written < count; written++) {
    const folder = join(root, `plot ${Math.floor(written / filesEach)}`)
    if (written % filesEach === 0) await mkdir(folder, { recursive: true })
    await writeFile(join(folder, `reading ${written}.bin`), randomBytes(smallBytes))
  }
}

const writeLarge = async (path: string, sizeBytes: number): Promise<void> => {
  await using file = await open(path, 'w')
  for (let written = 0; written < sizeBytes; written += mebibyte) await file.write(randomBytes(Math.min(mebibyte, sizeBytes - written)))
  await file.sync()
}

const newDataset = (server: Server, key: string): Promise<string> =>
  sent(
    server,
    '/api/datasets/createempty',
    { 'x-api-key': key, 'content-type': 'application/json' },
    JSON.stringify({ name: 'Uploads', description: '' }),
  )

const datasetPage = async (browser: Browser, { url }: Server, dataset: string): Promise<Page> => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, baseURL: url })
  const answer = await context.request.post('/api/login', { data: account })
  if (!answer.ok()) throw new Error(`Signing in: ${answer.status()}`)
  const page = await context.newPage()
  await page.goto(`/datasets/${dataset}`)
  await page.getByRole('button', { name: 'Add files' }).waitFor()
  // Let the page finish prefetching, which is not part of the upload.
  await pause(1500)
  return page
}

/** Seconds from choosing files or a folder until the tray reports all of them as uploaded, by the page's clock. */
const secondsInBrowser = async (server: Server, key: string, input: string, path: string, count: number): Promise<number> => {
  // A new browser for each run, just as curl is a new process: earlier uploads slow down later ones.
  await using browser = await chromiumForTests()
  const page = await datasetPage(browser, server, await newDataset(server, key))
  const all = count.toLocaleString('en')
  // Playwright polls for text twice a second; a MutationObserver in the page is exact.
  await page.evaluate(`globalThis.uploaded = new Promise((resolve, reject) => {
    let from = 0
    document.addEventListener('change', () => { from = performance.now() }, { capture: true, once: true })
    const look = () => {
      const text = document.querySelector('.upload-tray h2')?.textContent
      if (text?.startsWith('${all} of ${all}')) resolve((performance.now() - from) / 1000)
    }
    new MutationObserver(look).observe(document.body, { subtree: true, childList: true, characterData: true })
    setTimeout(() => reject(new Error('Not uploaded within 10 minutes')), 600000)
  }), undefined`)
  await page.locator(input).setInputFiles(path)
  return await page.evaluate<number>('uploaded')
}

const secondsOfCurl = async ({ url }: Server, key: string, dataset: string, path: string): Promise<number> => {
  const { stdout } = await promisify(execFile)('curl', [
    ...['--silent', '--show-error', '--fail', '--output', '/dev/null', '--write-out', '%{time_total}'],
    ...['--header', `X-API-Key: ${key}`, '--form', `File=@${path}`, `${url}/api/uploadToDataset/${dataset}`],
  ])
  return Number(stdout)
}

/** Folders of small files, and one large file compared with curl, uploaded by Chromium on this machine while extractors run. */
export const browserUploads = async (rounds: number, count: number, largeBytes: number): Promise<readonly Row[]> => {
  const folder = await mkdtemp(join(tmpdir(), 'pounce-bench-uploads-'))
  const [small, large] = [join(folder, 'campaign'), join(folder, 'survey.bin')]
  const perSecond: number[] = []
  const [inBrowser, byCurl]: [number[], number[]] = [[], []]
  try {
    await writeFolders(small, count)
    await writeLarge(large, largeBytes)
    for (let round = 0; round < rounds; round++) {
      // New servers, so that extractors still busy with earlier files do not interfere.
      const first = await startPounce()
      perSecond.push(count / (await secondsInBrowser(first, await newKey(first), 'input[webkitdirectory]', small, count)))
      await first.stop()
      for (const isCurl of round % 2 === 0 ? [true, false] : [false, true]) {
        const server = await startPounce()
        const key = await newKey(server)
        const seconds = isCurl
          ? await secondsOfCurl(server, key, await newDataset(server, key), large)
          : await secondsInBrowser(server, key, 'input[data-add=files]', large, 1)
        ;(isCurl ? byCurl : inBrowser).push(largeBytes / 1e6 / seconds)
        await server.stop()
      }
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
  const files = `web · ${count.toLocaleString('en')} × 20 kB in ${count / filesEach} folders`
  const one = `web · ${largeBytes / mebibyte} MiB up`
  return [
    { workload: files, subject: 'Chromium, to 100 files/s', figure: spread(perSecond, 'files/s'), ratio: median(perSecond) / 100, goal: 1 },
    { workload: one, subject: 'curl, multipart', figure: spread(byCurl, 'MB/s') },
    {
      workload: one,
      subject: 'Chromium, resumable',
      figure: spread(inBrowser, 'MB/s'),
      ratio: median(inBrowser) / median(byCurl),
      goal: 0.8,
    },
  ]
}
