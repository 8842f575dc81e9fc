import { readFile } from 'node:fs/promises'
import test from 'ava'
import mime from 'mime-types'
import type { Page } from 'playwright-core'
import { bootForTest } from 'pounce/sdk/testing'
import { pdf } from '../../scripts/test-data/pdf.ts'
import { sharedBrowserTests } from '../../test/support/real-browsers.ts'
import { formWith, newDataset, ok, upload } from '../../test/support/scene.ts'
import { until } from '../../test/support/until.ts'
import { axeFindings, sidewaysScroll, webPage } from '../../test/support/web-pages.ts'

const server = await bootForTest({})
const call = server.as(server.admin.key)
// Nine pages at once would render so slowly that frames time out.
const { test: inBrowser, browser } = sharedBrowserTests(test, 'chromium')
let dataset: string
test.before(async () => {
  dataset = await newDataset(call, { name: 'Viewers' })
})
test.after.always(() => server.stop())

const typeOf = (name: string): string => mime.lookup(name) || 'application/octet-stream'

const keep = async (name: string): Promise<string> =>
  upload(call, dataset, await readFile(new URL(`../../test/data/${name}`, import.meta.url)), name, { type: typeOf(name) })

/** Opens the page of a file, and waits until its viewer is ready. */
const show = async (page: Page, id: string, query = ''): Promise<void> => {
  await page.goto(`/files/${id}${query}`)
  await page.locator('.part[aria-busy=false]').waitFor({ timeout: 45_000 })
}

const viewOf = (page: Page): string | null => new URL(page.url()).searchParams.get('view')

inBrowser('a PDF is rendered by page, its text is searched by keyboard, and the page is in the URL', async t => {
  const { page, problems } = await webPage(t, browser(), server.url, server.admin)
  await show(page, await keep('paper.pdf'))
  await page.locator('.pdf-text').getByText('Abstract').waitFor()
  await page.locator('.pdf-pages').focus()
  await page.keyboard.press('Control+f')
  await page.keyboard.type('LITTER traps')
  await page.getByRole('status').filter({ hasText: '1 of 1 match' }).waitFor()
  await page.waitForURL(/view=2/)
  // The match is marked once its page is rendered.
  await until('the match to be highlighted', () => page.evaluate<boolean>("CSS.highlights.has('pdf-current')"))
  t.is(await page.evaluate("[...CSS.highlights.get('pdf-current')].map(range => range.toString()).join()"), 'Litter traps')
  await page.locator('.pdf-pages').focus()
  // A key has no effect until the page has scrolled to the match.
  await until('the first page to be shown', async () => {
    await page.keyboard.press('ArrowLeft')
    return !new URL(page.url()).searchParams.has('view')
  })
  await page.keyboard.press('+')
  await page.waitForURL(/view=1(?:@|%40)/)
  await page.reload()
  await page.locator('.pdf-pages').waitFor()
  t.not(await page.getByRole('combobox', { name: /^Zoom/ }).inputValue(), 'width')
  t.deepEqual(problems, [])
})

/** A NetCDF-3 file with one array of numbers, all 0 but the last. */
const longNetcdf = (length: number): Buffer => {
  const header = Buffer.alloc(128)
  const words = [0x43444601, 0, 10, 1, 1, 0x78000000, length, 0, 0, 11, 1, 1, 0x76000000, 1, 0, 0, 0, 5, 4 * length, 128]
  for (const [at, word] of words.entries()) header.writeUInt32BE(word, 4 * at)
  const values = Buffer.alloc(4 * length)
  values.writeFloatBE(7.5, 4 * (length - 1))
  return Buffer.concat([header, values])
}

inBrowser('HDF5 and NetCDF are shown as a tree with tables, plots and maps, and only parts of a large file are read', async t => {
  const { page, problems } = await webPage(t, browser(), server.url, server.admin)
  await show(page, await keep('field.h5'))
  await page.getByRole('tree').getByRole('treeitem').first().focus()
  for (const key of ['End', 'Home', 'ArrowDown', 'ArrowDown', 'ArrowRight']) await page.keyboard.press(key)
  await page.getByRole('treeitem', { name: /image/ }).waitFor()
  for (let step = 0; step < 3; step++) await page.keyboard.press('ArrowDown')
  const chosen = page.getByRole('region', { name: 'Chosen item' })
  await chosen.getByRole('heading', { name: 'image' }).waitFor()
  // Row 3, column 4 of x × y.
  t.is(await chosen.getByRole('row').nth(4).getByRole('cell').nth(4).textContent(), '12')
  await chosen.getByLabel('Show as').selectOption('map')
  const map = chosen.getByRole('img', { name: /Heat map of 40 rows and 60 columns/ })
  await map.focus()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('ArrowRight')
  await chosen.getByText('Row 1, column 1: 1', { exact: true }).waitFor()
  await until('the view in the URL', async () => viewOf(page) === 'map:/entry/image')

  await show(page, await keep('sst.nc'), '?view=table:/sst')
  // Index 0 of time: the first value is missing; 1 × 10 + 2 is packed as a tenth, from 10.
  const cells = chosen.getByRole('row')
  t.is(await cells.nth(1).getByRole('cell').nth(0).textContent(), '')
  t.is(await cells.nth(2).getByRole('cell').nth(2).textContent(), '11.2')
  await chosen.getByLabel('Show as').selectOption('plot')
  await chosen.getByRole('img', { name: /Line plot of 9 values/ }).waitFor()

  const length = 10_000_000
  const large = await upload(call, dataset, longNetcdf(length), 'long.nc', { type: 'application/x-netcdf' })
  let received = 0
  page.on('response', response => {
    if (response.url().includes(`/api/files/${large}`)) received += Number(response.headers()['content-length'] ?? 0)
  })
  await show(page, large, '?view=table:/v')
  await chosen.getByRole('spinbutton', { name: 'From row' }).fill(String(length))
  await page.keyboard.press('Tab')
  await chosen.getByText(`Rows ${length - 50} to ${length - 1} of ${length}`).waitFor()
  t.is(await chosen.getByRole('row').nth(50).getByRole('cell').textContent(), '7.5')
  t.true(received > 0 && received < 4_000_000, `${received} of 40,000,128 bytes`)
  t.deepEqual(problems, [])
})

inBrowser('tables of HDF5 show all digits of integers and numbers, and nothing for a dataset without values', async t => {
  const { page, problems } = await webPage(t, browser(), server.url, server.admin)
  const file = await keep('whole-numbers.h5')
  const chosen = page.getByRole('region', { name: 'Chosen item' })
  for (const [name, shown] of [
    ['time', ['1700000000123456789', '1700000000123456790', '1700000000123456791']],
    ['id', ['18446744073709551615', '0']],
    ['seconds', ['1700000000.123456', '0.1']],
    ['single', ['0.1', '16777216']],
    ['none', ['']],
  ] as const) {
    await show(page, file, `?view=table:/${name}`)
    await chosen.getByRole('heading', { name }).waitFor()
    const values = chosen.locator('tbody td')
    await values.first().waitFor()
    t.deepEqual(await values.allTextContents(), shown)
  }
  await show(page, file, '?view=plot:/time')
  await chosen.getByRole('img', { name: /Line plot of 3 values/ }).waitFor()
  t.deepEqual(problems, [])
})

inBrowser('maps show features of GeoJSON and shapefiles with their attributes, and georeferenced pictures', async t => {
  const { page, problems } = await webPage(t, browser(), server.url, server.admin)
  await show(page, await keep('areas.geojson'))
  const attributes = page.getByRole('table', { name: /Attributes/ })
  await page.getByRole('button', { name: 'Next feature' }).press('Enter')
  await page.getByRole('button', { name: 'Next feature' }).press('Enter')
  await page.getByText('Feature 2 of 4: Point').waitFor()
  t.deepEqual(await attributes.getByRole('cell').allTextContents(), ['Köln', '3', '9', '<b>near the bridge</b>'])
  await until('the view in the URL', async () => (viewOf(page) ?? '2') === '2')
  await show(page, await keep('plots.zip'), '?view=2')
  t.deepEqual(await attributes.getByRole('cell').allTextContents(), ['Übungsfeld', '8'])
  await show(page, await keep('elevation.tif'))
  await page.getByText('180 × 90 pixels, bands: 1, int16, EPSG:4326').waitFor()
  await page.getByRole('application', { name: /Map of elevation\.tif/ }).waitFor()
  t.deepEqual(problems, [])
})

inBrowser('no other viewer is shown while the best one reads whether it can show the file', async t => {
  const { page, problems } = await webPage(t, browser(), server.url, server.admin)
  const zip = await keep('plots.zip')
  const isRead = Promise.withResolvers<void>()
  await page.route(`**/api/files/${zip}?tracking=false`, async route => {
    await isRead.promise
    await route.continue()
  })
  const previews = page.waitForResponse(`**/api/files/${zip}/listpreviews`)
  await page.goto(`/files/${zip}`)
  await previews
  // The list of previews has been rendered.
  await page.evaluate('new Promise(shown => requestAnimationFrame(() => requestAnimationFrame(shown)))')
  t.is(await page.locator('.part').count(), 0)
  isRead.resolve()
  await page.getByRole('application', { name: /Map of plots\.zip/ }).waitFor()
  t.deepEqual(problems, [])
})

inBrowser('links of a PDF lead to pages and URLs, and perform no other actions', async t => {
  const { page, problems } = await webPage(t, browser(), server.url, server.admin)
  const pages = Array.from({ length: 4 }, (_, at) => [`Page ${at + 1}`])
  const links = [3, 'https://example.org/a?b=1', 'mailto:ann@example.org', 'javascript:alert(1)', 'file:///etc/passwd']
  const bytes = pdf({ title: 'Links', author: 'Ann', pages, links })
  await show(page, await upload(call, dataset, bytes, 'links.pdf', { type: 'application/pdf' }))
  const found = page.locator('.pdf-link')
  await found.first().waitFor()
  t.is(await found.count(), 3)
  const web = page.getByRole('link', { name: 'https://example.org/a?b=1' })
  t.is(await web.getAttribute('rel'), 'noopener noreferrer nofollow')
  t.is(await web.getAttribute('target'), '_blank')
  // 200 of 595 points wide, as in the document.
  const [box, paper] = [await web.boundingBox(), await page.locator('.pdf-page').first().boundingBox()]
  t.true(Math.abs((box?.width ?? 0) / (paper?.width ?? 1) - 200 / 595) < 0.01)
  t.deepEqual(await axeFindings(page), [])
  await page.getByRole('button', { name: 'Page 3 of 4' }).focus()
  await page.keyboard.press('Enter')
  await page.waitForURL(url => url.searchParams.get('view') === '3')
  t.deepEqual(problems, [])
})

inBrowser('sections of a picture are drawn at their positions, and listed below it', async t => {
  const { page, problems } = await webPage(t, browser(), server.url, server.admin)
  const photo = await keep('photo.jpg')
  const section = (json: object) => ok(call('/api/sections', { method: 'POST', json: { file_id: photo, ...json } }))
  await show(page, photo)
  const { width, height } = await page.locator('.picture-frame img').evaluate(img => {
    const { naturalWidth, naturalHeight } = img as unknown as { naturalWidth: number; naturalHeight: number }
    return { width: naturalWidth, height: naturalHeight }
  })
  await section({ area: { x: width / 4, y: height / 2, w: width / 2, h: height / 4 }, description: 'Crown' })
  await section({ area: { x: width * 2, y: 0, w: 10, h: 10 }, description: 'Outside' })
  await section({ startTime: 1, description: 'A time' })
  await page.reload()
  const crown = page.getByRole('list', { name: 'Sections' }).getByRole('button', { name: 'Crown' })
  await crown.waitFor()
  t.is(await page.locator('.picture-area').count(), 1)
  const [area, frame] = [await page.locator('.picture-area').boundingBox(), await page.locator('.picture-frame img').boundingBox()]
  t.truthy(area && frame)
  if (area && frame) {
    t.true(Math.abs((area.x - frame.x) / frame.width - 0.25) < 0.02)
    t.true(Math.abs((area.y - frame.y) / frame.height - 0.5) < 0.02)
    t.true(Math.abs(area.width / frame.width - 0.5) < 0.02)
  }
  await crown.focus()
  await page.keyboard.press('Enter')
  await page.waitForURL(url => url.searchParams.get('view') === '1')
  t.is(await crown.getAttribute('aria-pressed'), 'true')
  t.deepEqual(await axeFindings(page), [])
  await page.setViewportSize({ width: 320, height: 700 })
  t.true((await sidewaysScroll(page)) <= 0)
  t.deepEqual(problems, [])
})

inBrowser('large pictures can be zoomed, models rotated, sound played with section markers, and charts have a table', async t => {
  const { page, problems } = await webPage(t, browser(), server.url, server.admin)
  await show(page, await keep('sections.tif'))
  await page.getByLabel('Page').selectOption('2 of 3')
  await page.getByText('180 × 90 pixels, bands: 1, uint16').waitFor()
  for (const name of ['pebble.glb', 'draco.glb', 'pebble.ply']) {
    await show(page, await keep(name))
    await page.getByText('320 triangles, 162 vertices').waitFor()
  }
  await page.getByRole('application', { name: /3D model/ }).focus()
  await page.keyboard.press('ArrowLeft')
  await page.waitForURL(/view=0\.34/)

  const tone = await keep('tone.wav')
  await ok(call('/api/sections', { method: 'POST', json: { file_id: tone, startTime: 0.5, endTime: 0.75, description: 'Louder' } }))
  await show(page, tone)
  await page.getByRole('button', { name: /0:00\.5 – 0:00\.7 Louder/ }).click()
  await page.getByText('0:00.5 / 0:01.0').waitFor()
  await page.getByRole('group', { name: /Waveform/ }).focus()
  await page.keyboard.press('Home')
  await page.getByText('0:00.0 / 0:01.0').waitFor()
  await page.keyboard.press(' ')
  await page.getByRole('button', { name: 'Pause', exact: true }).waitFor()

  await show(page, await keep('leaf-area.vl.json'))
  await page.getByRole('img', { name: 'Leaf area by plot' }).waitFor()
  await page.getByText('Data of the chart').click()
  t.is(await page.getByRole('table').getByRole('row').count(), 7)
  t.deepEqual(problems, [])
})

const dzi = `<?xml version="1.0"?><Image xmlns="http://schemas.microsoft.com/deepzoom/2008" Format="jpg" Overlap="0" TileSize="1024"><Size Width="640" Height="427"/></Image>`

inBrowser('tiles generated by an extractor are shown for a file without another viewer', async t => {
  const { page, problems } = await webPage(t, browser(), server.url, server.admin)
  const make = async (path: string, body: FormData): Promise<string> => (await ok<{ id: string }>(call(path, { method: 'POST', body }))).id
  const attach = (path: string) => ok(call(path, { method: 'POST', json: {} }))
  const file = await upload(call, dataset, 'slide', 'slide.svs', { type: 'application/octet-stream' })
  const preview = await make('/api/previews', formWith(dzi, 'slide.dzi', 'application/xml'))
  await attach(`/api/files/${file}/previews/${preview}`)
  const picture = await readFile(new URL('../../test/data/photo.jpg', import.meta.url))
  for (let level = 0; level <= 10; level++) {
    const tile = await make('/api/tiles', formWith(picture, '0_0_x.jpg', 'image/jpeg'))
    await attach(`/api/previews/${preview}/tiles/${tile}/${level}`)
  }
  const loaded = page.waitForResponse(response => response.url().endsWith(`${preview}_files/10/0_0.jpg`))
  await show(page, file)
  t.is((await loaded).status(), 200)
  await page.getByRole('application', { name: /Picture slide\.dzi/ }).waitFor()
  t.deepEqual(problems, [])
})

const refused: readonly (readonly [name: string, viewer: string, sentence: RegExp])[] = [
  ['damaged.pdf', 'pdf', /not a PDF that can be read/],
  ['damaged.h5', 'hdf5', /not an HDF5 or NetCDF file/],
  ['damaged.nc', 'hdf5', /not an HDF5 or NetCDF file/],
  ['damaged.geojson', 'geo', /not a readable GeoJSON, shapefile or GeoTIFF/],
  ['damaged-shapes.zip', 'geo', /not a readable GeoJSON, shapefile or GeoTIFF/],
  ['damaged.tif', 'deep-zoom', /picture cannot be read/],
  ['huge.tif', 'deep-zoom', /50000 × 50000 pixels are too many/],
  ['damaged.glb', 'model', /model cannot be read/],
  ['outside-links.gltf', 'model', /needs another file, https:\/\/example\.org\/mesh\.bin/],
  ['damaged.wav', 'sound', /sound cannot be played/],
  ['damaged.vl.json', 'vega', /chart cannot be drawn/],
  ['outside-data.vl.json', 'vega', /needs data from https:\/\/example\.org\/data\.csv/],
]

inBrowser('a model with vertices at no place is reported as damaged', async t => {
  const { page } = await webPage(t, browser(), server.url, server.admin)
  await show(page, await upload(call, dataset, 'v nan nan nan\nv 1 1 1\nv 1 0 0\nf 1 2 3\n', 'lost.obj', { type: 'model/obj' }))
  await page.getByRole('main').getByRole('alert').getByText('This model cannot be read').waitFor()
  t.is(await page.getByText('NaN').count(), 0)
})

inBrowser('damaged files, oversized pictures and external references show a message and a download link', async t => {
  const { page, problems } = await webPage(t, browser(), server.url, server.admin)
  for (const [name, viewer, sentence] of refused) {
    await show(page, await keep(name), `?viewer=web.${viewer}`)
    const alert = page.getByRole('main').getByRole('alert')
    t.regex((await alert.textContent()) ?? '', sentence, name)
    t.true(await alert.getByRole('link', { name: 'Download' }).isVisible(), name)
  }
  const photo = await readFile(new URL('../../test/data/picture.png', import.meta.url))
  const cut = 'The picture file is incomplete'
  await show(page, await upload(call, dataset, photo.subarray(0, 200), 'cut.png', { type: 'image/png' }), '?viewer=web.picture')
  await page.getByRole('main').getByRole('alert').getByText(cut).waitFor()
  await show(page, await upload(call, dataset, '\n \n', 'blank.md', { type: 'text/markdown' }))
  await page.getByText('There is no text in this file.').waitFor()
  // If a file has the expected last bytes, only its end is read; otherwise it is read as a whole and decoded.
  for (const [bytes, range] of [
    [photo, /^bytes=[1-9]/],
    [Buffer.concat([photo, Buffer.from('a trailer')]), /^bytes=0-/],
  ] as const) {
    const read = page.waitForResponse(response => range.test(response.request().headers()['range'] ?? ''))
    await show(page, await upload(call, dataset, bytes, `whole.png`, { type: 'image/png' }), '?viewer=web.picture')
    await read
    t.is(await page.getByText(cut).count(), 0)
  }
  t.deepEqual(problems, [])
})

inBrowser('axe finds nothing on these viewers in light and dark mode, and none scrolls horizontally at 320 pixels', async t => {
  const { page } = await webPage(t, browser(), server.url, server.admin)
  const findings: string[] = []
  const shown: readonly (readonly [name: string, query?: string])[] = [
    ['paper.pdf'],
    ['field.h5', '?view=map:/entry/image'],
    ['sst.nc', '?view=table:/sst'],
    ['areas.geojson', '?view=2'],
    ['sections.tif'],
    ['pebble.glb'],
    ['tone.wav'],
    ['leaf-area.vl.json'],
  ]
  for (const [name, query] of shown) {
    await page.emulateMedia({ colorScheme: 'light' })
    await page.setViewportSize({ width: 1280, height: 860 })
    await show(page, await keep(name), query)
    findings.push(...(await axeFindings(page)).map(finding => `${name} light: ${finding}`))
    await page.emulateMedia({ colorScheme: 'dark' })
    await page.setViewportSize({ width: 320, height: 700 })
    findings.push(...(await axeFindings(page)).map(finding => `${name} dark: ${finding}`))
    const pixels = await sidewaysScroll(page)
    if (pixels > 0) findings.push(`${name} scrolls sideways by ${pixels} pixels`)
  }
  t.deepEqual(findings, [])
})
