import { readFile } from 'node:fs/promises'
import test, { type ExecutionContext } from 'ava'
import type { Page } from 'playwright-core'
import { bootForTest, type TestFetch, usualOrFull } from 'pounce/sdk/testing'
import { browserTests } from '../../test/support/real-browsers.ts'
import { newDataset, ok, upload } from '../../test/support/scene.ts'
import { webBuild } from '../../test/support/web-build.ts'
import { webPage } from '../../test/support/web-pages.ts'

const { test: inBrowser, launch } = browserTests(test, 'chromium')

test.before(webBuild)

const megabyte = 1_000_000
const pageRows = 200
/** With `POUNCE_TEST_MATRIX=full`, every page of rows is loaded, and more files are opened. */
const pagesLoaded = usualOrFull(100, 500)
const opened = usualOrFull(20, 50)

/** Bytes of live JavaScript objects, after garbage collection. */
const heapOf = async (page: Page): Promise<number> => {
  const session = await page.context().newCDPSession(page)
  await session.send('HeapProfiler.collectGarbage')
  const { usedSize } = await session.send('Runtime.getHeapUsage')
  await session.detach()
  return usedSize
}

/** Fakes a list of `total` files from the only one in the dataset: creating a million files takes minutes. */
const withFiles = async (page: Page, call: TestFetch, dataset: string, total: number): Promise<ReadonlySet<number>> => {
  const loaded = new Set<number>()
  const { entries } = await ok<{ entries: readonly { id: string }[] }>(call(`/api/datasets/${dataset}/entries`))
  await page.route('**/api/datasets/*/entries*', route => {
    const query = new URL(route.request().url()).searchParams
    const skip = Number(query.get('skip') ?? 0)
    loaded.add(skip)
    const count = Math.max(0, Math.min(total - skip, Number(query.get('limit') ?? pageRows)))
    const rows = Array.from({ length: count }, (_, at) => ({
      ...entries[0],
      id: (skip + at).toString(16).padStart(24, '0'),
      name: `reading ${(skip + at + 1).toLocaleString('en')}.bin`,
    }))
    return route.fulfill({ json: { entries: rows, total, totalBytes: total } })
  })
  return loaded
}

const setUp = async (t: ExecutionContext) => {
  const server = await bootForTest({ t })
  const call = server.as(server.admin.key)
  const dataset = await newDataset(call, { name: 'Many readings' })
  await upload(call, dataset, 'seven', 'reading.txt')
  const browser = await launch()
  t.teardown(() => browser.close())
  const { page, problems } = await webPage(t, browser, server.url, server.admin)
  return { call, dataset, page, problems }
}

inBrowser('scrolling through 100,000 rows takes at most 2,000 elements and 80 MB of heap', async t => {
  const { call, dataset, page, problems } = await setUp(t)
  const loaded = await withFiles(page, call, dataset, 100_000)
  await page.goto(`/datasets/${dataset}`)
  await page.getByText('reading 1.bin', { exact: true }).waitFor()
  // A page of rows is loaded when a part of it is in view.
  await page.evaluate(`(async () => {
    const grid = document.querySelector('[role=grid]')
    const step = grid.scrollHeight / ${pagesLoaded}
    for (let top = 0; top < grid.scrollHeight; top += step) {
      grid.scrollTop = top
      for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame)
    }
    grid.scrollTop = grid.scrollHeight
  })()`)
  await page.getByText('reading 100,000.bin', { exact: true }).waitFor()
  await page.waitForLoadState('networkidle')
  t.true(loaded.size > pagesLoaded * 0.9, `${loaded.size} pages of rows were loaded`)
  const elements = await page.locator('*').count()
  const heap = await heapOf(page)
  t.log(`${elements} elements, ${Math.round(heap / megabyte)} MB`)
  t.true(elements <= 2000, `${elements} elements`)
  t.true(heap <= 80 * megabyte, `${heap} bytes`)
  t.deepEqual(problems, [])
})

inBrowser('the last of 1,000,000 rows can be reached', async t => {
  const { call, dataset, page, problems } = await setUp(t)
  await withFiles(page, call, dataset, 1_000_000)
  await page.goto(`/datasets/${dataset}`)
  await page.getByText('reading 1.bin', { exact: true }).waitFor()
  await page.locator('.grid-body [tabindex="0"]').focus()
  await page.keyboard.press('End')
  await page.getByText('reading 1,000,000.bin', { exact: true }).waitFor()
  await page.keyboard.press('ArrowUp')
  await page.getByText('reading 999,999.bin', { exact: true }).waitFor()
  t.deepEqual(problems, [])
})

inBrowser('opening and closing files leaves at most 10 MB on the heap', async t => {
  const { call, dataset, page, problems } = await setUp(t)
  const picture = await readFile(new URL('./sample/hill.jpg', import.meta.url))
  const kinds: readonly (readonly [ending: string, type: string, bytes: string | Uint8Array])[] = [
    ['csv', 'text/csv', `station,rain\n${'Köln,7\n'.repeat(2000)}`],
    ['jpg', 'image/jpeg', picture],
    ['json', 'application/json', JSON.stringify(Array.from({ length: 2000 }, (_, at) => ({ at })))],
    ['md', 'text/markdown', '# Notes\n\nRain.\n'.repeat(500)],
    ['py', 'text/x-python', 'print(7)\n'.repeat(2000)],
  ]
  const warm = 10
  const names: string[] = []
  for (let n = 0; n < warm + opened; n += 1) {
    const [ending = '', type = '', bytes = ''] = kinds[n % kinds.length] ?? []
    names.push(`file ${String(n).padStart(2, '0')}.${ending}`)
    await upload(call, dataset, bytes, names.at(-1), { type })
  }
  const walk = async (from: number, to: number): Promise<void> => {
    await page
      .getByRole('row', { name: names[from] ?? '' })
      .getByRole('link')
      .click()
    for (let at = from; at < to; at += 1) {
      if (at > from) await page.keyboard.press('j')
      await page.getByRole('heading', { level: 1, name: names[at] ?? '' }).waitFor()
      await page.locator('.part[aria-busy=true]').waitFor({ state: 'detached' })
    }
    await page.getByRole('link', { name: 'Many readings' }).first().click()
    await page.getByRole('grid').waitFor()
    await page.waitForLoadState('networkidle')
  }
  await page.goto(`/datasets/${dataset}`)
  // Code shared by all viewers stays loaded.
  await walk(0, warm)
  const before = await heapOf(page)
  await walk(warm, names.length)
  const left = (await heapOf(page)) - before
  t.log(`${Math.round(before / megabyte)} MB, ${(left / megabyte).toFixed(1)} MB more`)
  t.true(left <= 10 * megabyte, `${left} bytes`)
  t.deepEqual(problems, [])
})
