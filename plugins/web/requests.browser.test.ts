import { readFile } from 'node:fs/promises'
import test from 'ava'
import { bootForTest } from 'pounce/sdk/testing'
import { browserTests } from '../../test/support/real-browsers.ts'
import { newDataset, upload } from '../../test/support/scene.ts'
import { webBuild } from '../../test/support/web-build.ts'
import { webPage } from '../../test/support/web-pages.ts'

const { test: inBrowser, launch } = browserTests(test, 'chromium')
const dist = new URL('./dist/', import.meta.url)

test.before(webBuild)

interface Chunk {
  readonly file: string
  readonly css?: readonly string[]
  readonly imports?: readonly string[]
}

/** Names of chunks that a chunk loads before it runs, itself included. */
const loadedWith = (name: string, chunks: Readonly<Record<string, Chunk>>): ReadonlySet<string> => {
  const names = new Set([name])
  for (const each of names) for (const imported of chunks[each]?.imports ?? []) names.add(imported)
  return names
}

/** Compressed bytes of files of the build. */
const bytesOf = async (files: Iterable<string>): Promise<number> => {
  const sizes = [...new Set(files)].map(async file => {
    const compressed = await readFile(new URL(`${file}.gz`, dist)).catch(() => readFile(new URL(file, dist)))
    return compressed.length
  })
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
}

test('the home page has at most 200 kB of compressed scripts with all that they import, another page 60 kB more, styles 15 kB', async t => {
  const chunks = JSON.parse(await readFile(new URL('.vite/manifest.json', dist), 'utf8')) as Record<string, Chunk>
  const first = loadedWith('main.tsx', chunks).union(loadedWith('pages/home.tsx', chunks))
  const filesOf = (names: Iterable<string>) => [...names].map(name => chunks[name]?.file ?? '')
  const firstBytes = await bytesOf(filesOf(first))
  t.true(firstBytes <= 200_000, `${firstBytes} bytes at first`)
  const styles = await bytesOf([...first].flatMap(name => chunks[name]?.css ?? []))
  t.true(styles <= 15_000, `${styles} bytes of styles`)
  const pages = Object.keys(chunks).filter(name => name.startsWith('pages/'))
  t.true(pages.length > 10)
  for (const page of pages) {
    const bytes = await bytesOf(filesOf(loadedWith(page, chunks).difference(first)))
    t.true(bytes <= 60_000, `${page}: ${bytes} bytes`)
  }
})

inBrowser('the home page is at most 15 requests besides its data, other pages 20, that of a file with its viewer 25', async t => {
  const server = await bootForTest({ t })
  const call = server.as(server.admin.key)
  const dataset = await newDataset(call, { name: 'Stations' })
  const file = await upload(call, dataset, 'station,rain\nKöln,7\n', 'rain.csv', { type: 'text/csv' })
  await server.drained()
  const browser = await launch()
  t.teardown(() => browser.close())
  for (const [path, most] of Object.entries({ '/': 15, [`/datasets/${dataset}`]: 20, [`/files/${file}`]: 25, '/search?query=rain': 20 })) {
    const { page, problems } = await webPage(t, browser, server.url, server.admin)
    const requests: string[] = []
    page.on('request', request => {
      const { pathname } = new URL(request.url())
      if (!pathname.startsWith('/api/')) requests.push(pathname)
    })
    await page.goto(path)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page
      .getByText(path === '/' ? 'Stations' : /rain/)
      .first()
      .waitFor()
    // All that the page loads, also what is shown later.
    await page.waitForLoadState('networkidle')
    t.log(path, requests.length)
    t.true(requests.length <= most, `${path}: ${requests.length} requests, ${requests.join(' ')}`)
    t.deepEqual(problems, [])
  }
})
