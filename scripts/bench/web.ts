import { rm } from 'node:fs/promises'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { chromiumForTests } from '../../test/support/real-browsers.ts'
import { fill } from './entries.ts'
import { onePart } from './load.ts'
import { account, newKey, type Server, sent, startPounce } from './servers.ts'
import { median, type Row, spread } from './table.ts'

/** A slow connection: round-trip latency in milliseconds, throughput in bytes per second. */
const network = { offline: false, latency: 40, downloadThroughput: 1_600_000, uploadThroughput: 1_600_000 }
const framesScrolled = 240
const pixelsPerFrame = 160

/** Records the browser's performance entries from the first script on; runs in the page. */
const observe = `
  globalThis.seen = { lcp: 0, longest: 0, inputs: [] }
  const watch = (type, take, options = {}) =>
    new PerformanceObserver(list => list.getEntries().forEach(take)).observe({ type, buffered: true, ...options })
  watch('largest-contentful-paint', ({ startTime }) => { seen.lcp = startTime })
  watch('longtask', ({ duration }) => { seen.longest = Math.max(seen.longest, duration) })
  watch('event', ({ duration }) => seen.inputs.push(duration), { durationThreshold: 16 })
`

interface Seen {
  readonly lcp: number
  readonly longest: number
  readonly inputs: readonly number[]
}
const seenOn = (page: Page): Promise<Seen> => page.evaluate<Seen>('seen')

const signedIn = async (browser: Browser, baseURL: string): Promise<BrowserContext> => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, baseURL })
  const answer = await context.request.post('/api/login', { data: account })
  if (!answer.ok()) throw new Error(`Signing in: ${answer.status()}`)
  await context.addInitScript({ content: observe })
  return context
}

/** Opens a page over a slow connection with an empty cache. */
const paintOf = async (browser: Browser, url: string, path: string, shown: string): Promise<number> => {
  const context = await signedIn(browser, url)
  const page = await context.newPage()
  const session = await context.newCDPSession(page)
  await session.send('Network.enable')
  await session.send('Network.emulateNetworkConditions', network)
  await page.goto(path)
  await page.locator(shown).first().waitFor()
  await page.waitForLoadState('networkidle')
  const { lcp } = await seenOn(page)
  await context.close()
  return lcp
}

/** Milliseconds between frames while an element scrolls, sorted. */
const framesOf = (page: Page, scroller: string): Promise<readonly number[]> =>
  page.evaluate<number[]>(`new Promise(resolve => {
    const element = document.querySelector(${JSON.stringify(scroller)})
    const taken = []
    let last = performance.now()
    const step = now => {
      taken.push(now - last)
      last = now
      element.scrollTop += ${pixelsPerFrame}
      if (taken.length < ${framesScrolled}) requestAnimationFrame(step)
      else resolve(taken.slice(1).sort((one, other) => one - other))
    }
    requestAnimationFrame(step)
  })`)

const bare = `<!doctype html><style>div{block-size:600px;overflow:auto}p{block-size:40px;margin:0}</style><div>${'<p>a row of text</p>'.repeat(2000)}</div>`

const part = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0

/** Milliseconds from a key press to its result, measured in the page. */
const timeOf = async (act: () => Promise<unknown>): Promise<number> => {
  const from = performance.now()
  await act()
  return performance.now() - from
}

const tablesInARow = 6

/** Opens the page of the first of several tables; a key leads to the next one. */
const tables = async (page: Page, server: Server): Promise<void> => {
  const key = { 'x-api-key': await newKey(server) }
  const json = { ...key, 'content-type': 'application/json' }
  const dataset = await sent(server, '/api/datasets/createempty', json, JSON.stringify({ name: 'Tables', description: '' }))
  const files: string[] = []
  for (let n = 0; n < tablesInARow; n += 1) {
    const text = `station,rain\n${Array.from({ length: 2000 }, (_, at) => `plot ${at},${at * n}`).join('\n')}\n`
    const { type, body } = onePart(`table ${n}.csv`, 'text/csv', Buffer.from(text))
    files.push(await sent(server, `/api/uploadToDataset/${dataset}?extract=false`, { ...key, 'content-type': type }, body))
  }
  await page.goto(`/files/${files[0]}?dataset=${dataset}`)
  await page.getByRole('button', { name: 'Next file (J)' }).waitFor()
  await page.locator('.part [role=grid]').waitFor()
}

/** Milliseconds from the key press until the next table is drawn below its name, by the page's clock. */
const nextFile = async (page: Page, name: string): Promise<number> => {
  await page.evaluate(`globalThis.drawn = new Promise(resolve => {
    let from = 0
    addEventListener('keydown', () => { from = performance.now() }, { capture: true, once: true })
    const look = () => {
      if (document.querySelector('h1')?.textContent !== '${name}') return
      if (!document.querySelector('.part:not([aria-busy=true]) [role=gridcell]')) return
      watch.disconnect()
      resolve(performance.now() - from)
    }
    const watch = new MutationObserver(look)
    watch.observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true })
  }), undefined`)
  await page.keyboard.press('j')
  return page.evaluate<number>('drawn')
}

/** The pages of a dataset with many files in Chromium on this machine, compared with a page that only contains rows. */
export const web = async (rounds: number, count: number): Promise<readonly Row[]> => {
  const { folder, dataset } = await fill(count)
  const server = await startPounce({ folder })
  const browser = await chromiumForTests()
  const found: Row[] = []
  const add = (workload: string, subject: string, values: readonly number[], goal?: number): number =>
    found.push({
      ...{ workload: `web · ${workload}`, subject, figure: spread(values, 'ms') },
      ...(goal === undefined ? {} : { ratio: median(values) / goal, goal: 1, isCeiling: true }),
    })
  const many = async (once: () => Promise<number>): Promise<readonly number[]> => {
    const taken: number[] = []
    for (let n = 0; n < rounds; n++) taken.push(await once())
    return taken
  }
  try {
    const files = (await (
      await fetch(`${server.url}/api/datasets/${dataset}/entries?limit=1`, { headers: await signIn(server.url) })
    ).json()) as {
      entries: readonly { id: string }[]
    }
    for (const [name, path, shown] of [
      ['dataset', `/datasets/${dataset}`, '.grid-body [role=row]'],
      ['file', `/files/${files.entries[0]?.id}`, '.page-margin'],
      ['search', '/search?query=measurement', 'h1'],
    ] as const)
      add(
        `largest paint at 40 ms and 1.6 MB/s`,
        `page of a ${name}, to 1,500 ms`,
        await many(() => paintOf(browser, server.url, path, shown)),
        1500,
      )

    const context = await signedIn(browser, server.url)
    const page = await context.newPage()
    const blank = await context.newPage()
    await blank.setContent(bare)
    const frames: { readonly ours: (readonly number[])[]; readonly bare: (readonly number[])[] } = { ours: [], bare: [] }
    const jumps: number[] = []
    const typed: number[] = []
    const inputs: number[] = []
    const longest: number[] = []
    for (let n = 0; n < rounds; n++) {
      await blank.bringToFront()
      frames.bare.push(await framesOf(blank, 'div'))
      await page.bringToFront()
      await page.goto(`/datasets/${dataset}`)
      await page.locator('.grid-body [role=row]').first().waitFor()
      frames.ours.push(await framesOf(page, '[role=grid]'))
      await page.locator('.grid-body [tabindex="0"]').focus()
      jumps.push(
        await timeOf(async () => {
          await page.keyboard.press('End')
          await page.locator(`.grid-body [role=row][aria-rowindex="${count + 1}"] a`).waitFor()
        }),
      )
      const before = (await seenOn(page)).inputs.length
      await page.getByLabel('Find in this folder').pressSequentially('measurement 77', { delay: 60 })
      await page.waitForURL(url => url.searchParams.get('find') === 'measurement 77')
      const seen = await seenOn(page)
      typed.push(Math.max(0, ...seen.inputs.slice(before)))
      inputs.push(Math.max(0, ...seen.inputs))
      longest.push(seen.longest)
    }
    const size = `${count.toLocaleString('en')} files`
    const nexts: number[] = []
    await tables(page, server)
    // Excluding the first one, which runs with cold compiler caches.
    for (let n = 1; n < tablesInARow; n += 1) nexts.push(await nextFile(page, `table ${n}.csv`))
    add('next file, a table', 'from the key until it is drawn, to 300 ms', nexts.slice(1), 300)
    add(
      '95th of 100 frames while scrolling',
      'bare rows',
      frames.bare.map(each => part(each, 0.95)),
    )
    add(
      '95th of 100 frames while scrolling',
      `${size}, to 20 ms`,
      frames.ours.map(each => part(each, 0.95)),
      20,
    )
    add(
      'slowest frame while scrolling',
      `${size}, to 100 ms`,
      frames.ours.map(each => part(each, 1)),
      100,
    )
    add('End to the last row', `${size}, to 300 ms`, jumps, 300)
    add('slowest letter in the filter', `${size}, to 100 ms`, typed, 100)
    add('slowest input of the walk (INP)', `${size}, to 200 ms`, inputs, 200)
    add('longest task of the walk', `${size}, to 200 ms`, longest, 200)
  } finally {
    await browser.close()
    await server.stop()
    await rm(folder, { recursive: true, force: true })
  }
  return found
}

const signIn = async (url: string): Promise<Record<string, string>> => {
  const answer = await fetch(`${url}/api/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(account),
  })
  return {
    cookie: answer.headers
      .getSetCookie()
      .map(each => each.split(';')[0])
      .join('; '),
  }
}
