import { readFile } from 'node:fs/promises'
import test from 'ava'
import { bootForTest, type TestFetch } from 'pounce/sdk/testing'
import { browserTests } from '../../test/support/real-browsers.ts'
import { formWith, newDataset, ok, upload } from '../../test/support/scene.ts'
import { webBuild } from '../../test/support/web-build.ts'
import { webPage } from '../../test/support/web-pages.ts'

const { test: inBrowser, launch } = browserTests(test, 'chromium')
const dist = new URL('./dist/', import.meta.url)

test.before(webBuild)

interface Chunk {
  readonly file: string
  readonly name?: string
  readonly css?: readonly string[]
  readonly imports?: readonly string[]
}

const builtChunks = async () => JSON.parse(await readFile(new URL('.vite/manifest.json', dist), 'utf8')) as Record<string, Chunk>

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
  const chunks = await builtChunks()
  const first = loadedWith('main.tsx', chunks).union(loadedWith('pages/home.tsx', chunks))
  const filesOf = (names: Iterable<string>) => [...names].map(name => chunks[name]?.file ?? '')
  const firstBytes = await bytesOf(filesOf(first))
  t.true(firstBytes <= 200_000, `${firstBytes} bytes at first`)
  const styles = await bytesOf([...first].flatMap(name => chunks[name]?.css ?? []))
  t.true(styles <= 15_000, `${styles} bytes of styles`)
  const pages = Object.keys(chunks).filter(name => name.startsWith('pages/'))
  t.true(pages.length > 10)
  t.deepEqual([...loadedWith('frame/main.ts', chunks)], ['frame/main.ts'], 'frames load nothing of pages')
  for (const page of pages) {
    const bytes = await bytesOf(filesOf(loadedWith(page, chunks).difference(first)))
    t.true(bytes <= 60_000, `${page}: ${bytes} bytes`)
  }
})

/**
 * Compressed kB of the libraries of viewers as they were chosen (`web/design.md`, section 7); a tenth is left for what is ours. Workers are not counted,
 * nor what viewers share.
 */
const viewerLibraries: Readonly<Record<string, readonly [kB: number, ...loadedLater: readonly string[]]>> = {
  'deep-zoom': [89],
  pdf: [121],
  sound: [15],
  text: [96],
  markdown: [27],
  geo: [108],
  model: [167, 'viewers/model/gltf.ts'],
  vega: [302, 'vega-lite'],
}

test('a viewer loads a tenth more than its library at most', async t => {
  const chunks = await builtChunks()
  const page = loadedWith('main.tsx', chunks).union(loadedWith('pages/file.tsx', chunks))
  for (const [viewer, [kB, ...later]] of Object.entries(viewerLibraries)) {
    const parts = [`viewers/${viewer}/index.ts`, ...later.map(end => Object.keys(chunks).find(name => name.includes(end)) ?? end)]
    const own = parts.map(part => loadedWith(part, chunks)).reduce((all, some) => all.union(some))
    const files = [...own.difference(page)].filter(name => chunks[name]?.name !== 'viewers').map(name => chunks[name]?.file ?? '')
    const bytes = await bytesOf(files)
    t.log(viewer, bytes)
    t.true(bytes > 1000 && bytes <= kB * 1100, `${viewer}: ${bytes} bytes of ${kB * 1100}`)
  }
})

/** A file that no viewer fits, and a picture of it as extractors make them. */
const withPreview = async (call: TestFetch, dataset: string, picture: Uint8Array): Promise<string> => {
  const file = await upload(call, dataset, Uint8Array.from([7, 7]), 'rain.raw', { type: 'application/octet-stream' })
  const { id } = await ok<{ id: string }>(call('/api/previews', { method: 'POST', body: formWith(picture, 'rain.jpg', 'image/jpeg') }))
  await ok(call(`/api/files/${file}/previews/${id}`, { method: 'POST', json: {} }))
  return file
}

inBrowser(
  'home and search are at most 10 requests besides their data, a dataset with its README 15, a file with its viewer 20',
  async t => {
    const server = await bootForTest({ t })
    const call = server.as(server.admin.key)
    const dataset = await newDataset(call, { name: 'Stations' })
    const add = (name: string, type: string, bytes: string | Uint8Array) => upload(call, dataset, bytes, name, { type })
    const read = (name: string) => readFile(new URL(`./sample/${name}`, import.meta.url))
    const picture = await read('hill.jpg')
    const pages: readonly (readonly [path: string, shown: string, most: number])[] = [
      ['/', 'main :text("Stations")', 10],
      ['/search?query=rain', 'main :text("rain.csv")', 10],
      [`/files/${await add('rain.csv', 'text/csv', 'station,rain\nKöln,7\n')}`, '[role=grid]', 20],
      [`/files/${await add('rain.py', 'text/x-python', 'print(7)\n')}`, '.cm-content', 20],
      [`/files/${await add('hill.jpg', 'image/jpeg', picture)}`, '.viewer-picture img', 20],
      [`/files/${await add('leaf-area.pdf', 'application/pdf', await read('leaf-area.pdf'))}`, '.part canvas', 20],
      [`/files/${await withPreview(call, dataset, picture)}`, '.viewer-picture img', 20],
      [`/datasets/${(await add('README.md', 'text/markdown', '# Rain')) && dataset}`, '.readme .prose :text("Rain")', 15],
    ]
    await server.drained()
    const browser = await launch()
    t.teardown(() => browser.close())
    for (const [path, shown, most] of pages) {
      const { page, problems } = await webPage(t, browser, server.url, server.admin)
      const requests: string[] = []
      page.on('request', request => {
        const { pathname } = new URL(request.url())
        if (!pathname.startsWith('/api/')) requests.push(pathname)
      })
      await page.goto(path)
      await page.getByRole('heading', { level: 1 }).waitFor()
      await page.locator(shown).first().waitFor()
      // All that the page loads, also what is shown later.
      await page.waitForLoadState('networkidle')
      t.log(path, requests.length)
      t.true(requests.length <= most, `${path}: ${requests.length} requests, ${requests.join(' ')}`)
      t.deepEqual(problems, [])
    }
  },
)
