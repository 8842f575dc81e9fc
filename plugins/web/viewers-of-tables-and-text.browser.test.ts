import { readFile } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'
import test, { type ExecutionContext } from 'ava'
import type { Browser, Page } from 'playwright-core'
import { bootForTest } from 'pounce/sdk/testing'
import { zip } from '../../scripts/test-data/zip.ts'
import { browserTests } from '../../test/support/real-browsers.ts'
import { newDataset, upload } from '../../test/support/scene.ts'
import { until } from '../../test/support/until.ts'
import { webBuild } from '../../test/support/web-build.ts'
import { axeFindings, pageFindings, webPage } from '../../test/support/web-pages.ts'

const { test: inChromium, launch } = browserTests(test, 'chromium')
/** Serial, since the tests share a browser and reading tables uses the whole CPU. */
const inBrowser = inChromium.serial
const server = await bootForTest({})
const call = server.as(server.admin.key)
let browser: Browser | undefined
let dataset = ''
test.before(async () => {
  await webBuild()
  dataset = await newDataset(call, { name: 'Tables and text' })
})
test.after.always(() => Promise.all([browser?.close(), server.stop()]))

const dataFile = (name: string): Promise<Buffer> => readFile(new URL(`../../test/data/${name}`, import.meta.url))
const fileOf = async (name: string, content?: string | Uint8Array, type = 'application/octet-stream'): Promise<string> =>
  `/files/${await upload(call, dataset, content ?? (await dataFile(name)), name, { type })}`

const openPage = async (t: ExecutionContext) => {
  browser ??= await launch()
  return webPage(t, browser, server.url, server.admin)
}

/** Texts of the visible cells of a column. */
const column = (page: Page, at: number): Promise<readonly string[]> =>
  page
    .locator(`.cell-body [data-cell$=":${at}"]`)
    .evaluateAll(cells =>
      (cells as unknown as { readonly dataset: { readonly cell: string }; readonly textContent: string }[])
        .sort((one, other) => Number.parseInt(one.dataset.cell, 10) - Number.parseInt(other.dataset.cell, 10))
        .map(({ textContent }) => textContent),
    )

inBrowser('a table is sorted, filtered, summarized, plotted and copied, and its URL restores the view', async t => {
  const { page, problems } = await openPage(t)
  // 5,000 rows: n counts down from 5,000, and group is n modulo 4, missing if 0.
  const rows = Array.from({ length: 5000 }, (_, at) => 5000 - at)
  const content = `n,group,day\n${rows.map(n => `${n},${n % 4 === 0 ? '' : `g${n % 4}`},2026-03-${String(1 + (n % 28)).padStart(2, '0')}`).join('\n')}\n`
  await page.goto(await fileOf('counts.csv', content, 'text/csv'))
  const grid = page.getByRole('grid', { name: 'Table counts.csv' })
  await grid.waitFor()
  t.is(await grid.getAttribute('aria-rowcount'), '5001')
  await page.getByText('1 – 5,000').waitFor()

  // By keyboard to the last row, and back to the heading.
  await page.locator('[data-cell="0:0"]').click()
  await page.keyboard.press('Control+End')
  await page.locator('[data-cell="4999:2"]:focus').waitFor()
  await page.locator('[data-cell="4999:0"]', { hasText: /^1$/ }).waitFor()
  await page.getByRole('button', { name: 'n', exact: true }).click()
  await page.getByText('n, ascending').waitFor()
  await page.locator('[data-cell="0:0"]', { hasText: /^1$/ }).waitFor()
  t.deepEqual((await column(page, 0)).slice(0, 5), ['1', '2', '3', '4', '5'])

  await page.getByRole('button', { name: 'Statistics and filter of group' }).click()
  const panel = page.getByRole('complementary', { name: 'Column group' })
  await panel.getByText('1,250 (25%)').waitFor()
  t.deepEqual(await pageFindings(page), [])
  await panel.getByRole('button', { name: 'Filter: g3' }).click()
  await page.getByText('1,250 of 5,000 rows').waitFor()
  await page.locator('[data-cell="0:0"]', { hasText: /^3$/ }).waitFor()
  t.deepEqual((await column(page, 0)).slice(0, 3), ['3', '7', '11'])
  await page.keyboard.press('Escape')
  await page.getByRole('searchbox', { name: 'Find in all columns' }).fill('4999')
  await page.getByText('1 of 5,000 rows').waitFor()

  // The same view from its URL.
  await page.waitForURL(/4999/)
  await page.goto(page.url())
  await page.getByText('1 of 5,000 rows').waitFor()
  await page.getByRole('searchbox', { name: 'Find in all columns' }).fill('')
  await page.getByText('1,250 of 5,000 rows').waitFor()

  await page.locator('[data-cell="0:0"]', { hasText: /^3$/ }).click()
  await page.locator('[data-cell="1:1"]').click({ modifiers: ['Shift'] })
  await page.keyboard.press('Control+c')
  await page.getByText('4 cells copied').waitFor()
  t.is(await page.evaluate('navigator.clipboard.readText()'), '3\tg3\n7\tg3')

  await page.getByRole('button', { name: 'Plot' }).click()
  await page.getByRole('img', { name: 'Plot of n over day' }).waitFor()
  await page.getByText('Values as a table').click()
  // 20 steps of equal numbers of rows, under a row of headings.
  t.is(await page.getByRole('region', { name: 'Values as a table' }).getByRole('row').count(), 21)
  t.deepEqual(await pageFindings(page), [])
  t.deepEqual(problems, [])
})

inBrowser('100,000 rows are scrolled to the end, searched, sorted and filtered, also in a compressed file', async t => {
  const { page, problems } = await openPage(t)
  const count = 100_000
  const lines = Array.from(
    { length: count },
    (_, n) => `${n},site ${n % 977},${['oak', 'beech', 'ash', 'elm'][n % 4]},${(n * 7919) % count}`,
  )
  const content = `id,site,species,height\n${lines.join('\n')}\n`
  for (const [name, bytes, type] of [
    ['many.csv', content, 'text/csv'],
    ['many.csv.gz', gzipSync(content), 'application/gzip'],
  ] as const) {
    await page.goto(await fileOf(name, bytes, type))
    const grid = page.getByRole('grid', { name: `Table ${name}` })
    await grid.waitFor()
    await page.getByText('100,000 rows').waitFor()
    t.is(await grid.getAttribute('aria-rowcount'), String(count + 1))
    await page.locator('[data-cell="0:0"]').click()
    for (let times = 0; times < 5; times++) await page.keyboard.press('PageDown')
    await page.keyboard.press('Control+End')
    await page.locator('[data-cell="99999:3"]:focus', { hasText: String((99_999 * 7919) % count) }).waitFor()
    t.true((await page.locator('*').count()) < 2000)

    const find = page.getByRole('searchbox', { name: 'Find in all columns' })
    await find.fill('SITE 976')
    // There are 102 or 103 rows per site.
    await page.getByText('102 of 100,000 rows').waitFor()
    await page.locator('[data-cell="0:1"]', { hasText: 'site 976' }).waitFor()
    await find.fill('nowhere')
    await page.getByText('0 of 100,000 rows').waitFor()
    await find.fill('')
    await page.getByText('100,000 rows').waitFor()
    await page.getByRole('button', { name: 'height', exact: true }).click()
    await page.locator('[data-cell="0:3"]', { hasText: /^0$/ }).waitFor()
    await page.locator('[data-cell="1:0"]', { hasText: /^[1-9]\d+$/ }).waitFor()
    t.deepEqual((await column(page, 3)).slice(0, 4), ['0', '1', '2', '3'])
    await page.getByRole('button', { name: 'Statistics and filter of species' }).click()
    await page.getByRole('complementary', { name: 'Column species' }).getByRole('button', { name: 'Filter: elm' }).click()
    await page.getByText('25,000 of 100,000 rows').waitFor()
  }
  t.deepEqual(problems, [])
})

inBrowser('5,000 columns, a line of 30 MB, damaged and empty tables are shown or explained without blocking the page', async t => {
  const { page, problems } = await openPage(t)
  const line = (row: number): string => Array.from({ length: 5000 }, (_, at) => (row === 0 ? `c${at}` : row * at)).join('\t')
  await page.goto(await fileOf('wide.tsv', Array.from({ length: 30 }, (_, row) => line(row)).join('\n'), 'text/tab-separated-values'))
  await page.locator('[data-cell="0:0"]').click()
  await page.keyboard.press('End')
  await page.locator('[data-cell="0:4999"]', { hasText: '4999' }).waitFor()
  t.true((await page.locator('[data-cell]').count()) < 600)
  await page.goto(await fileOf('line.csv', 'ab,'.repeat(10_000_000), 'text/csv'))
  await page.getByText('The table has more columns: the first 10,000 are shown.').waitFor()
  await page.getByText('1 row is longer than 1 MB').waitFor()
  const late = Array.from({ length: 5000 }, (_, row) => (row === 4000 ? `${row},x,extra` : `${row},x`))
  await page.goto(await fileOf('late.csv', `time,value\n${late.join('\n')}\n`, 'text/csv'))
  await page.getByText('5,000 rows · 3 columns').waitFor()
  await page.getByPlaceholder('Find in all columns').fill('extra')
  await page.getByRole('gridcell', { name: 'extra' }).waitFor()
  await page.goto(await fileOf('damaged.csv', undefined, 'text/csv'))
  await page.getByRole('gridcell', { name: 'Aachen' }).waitFor()
  await page.goto(await fileOf('binary.csv', await dataFile('photo.jpg'), 'text/csv'))
  await page.getByText('The file is not a table: it holds binary data.').waitFor()
  t.deepEqual(await pageFindings(page), [])
  await page.goto(await fileOf('empty.csv', '', 'text/csv'))
  await page.getByText('The file is empty.').waitFor()
  t.deepEqual(problems, [])
})

inBrowser('Parquet is shown in the same grid as other tables, with its declared types', async t => {
  const { page, problems } = await openPage(t)
  await page.goto(await fileOf('trees.parquet'))
  await page.getByRole('gridcell', { name: 'Quercus robur' }).first().waitFor()
  await page.getByText('1,200 rows').waitFor()
  await page.getByText('5.01 – 16.99').waitFor()
  await page.getByRole('button', { name: 'File format' }).click()
  await page.getByText('ZSTD').waitFor()
  t.deepEqual(await pageFindings(page), [])
  await page.goto(await fileOf('damaged.parquet'))
  await page.getByText('The Parquet file is damaged or not complete.').waitFor()
  await page.getByRole('link', { name: 'Download' }).last().waitFor()
  t.deepEqual(problems, [])
})

inBrowser('text is highlighted and searched, JSON and XML are shown as trees, or as text if not well-formed', async t => {
  const { page, problems } = await openPage(t)
  const code = `# a comment\nimport math\n\n${'x'.repeat(30_000)}\n${Array.from({ length: 2000 }, (_, at) => `value_${at} = ${at}`).join('\n')}\n`
  await page.goto(await fileOf('script.py', code, 'text/x-python'))
  await page.getByText('1 line is longer than 20,000 characters and is cut.').waitFor()
  const text = page.getByRole('textbox', { name: 'script.py' })
  await text.getByText('import', { exact: true }).waitFor()
  t.deepEqual(await pageFindings(page), [])
  await text.click()
  await page.keyboard.press('Control+f')
  await page.keyboard.type('value_1777')
  await page.keyboard.press('Enter')
  // Line 1,777 of the values, which start at line 5.
  await page.waitForURL(/line%3D1782/)
  await page.locator('.cm-searchMatch').first().waitFor()

  await page.goto(await fileOf('Makefile', 'all: plots.csv\n', 'application/octet-stream'))
  await page.getByRole('textbox', { name: 'Makefile' }).getByText('all: plots.csv').waitFor()

  await page.goto(await fileOf('plots.json', undefined, 'application/json'))
  const tree = page.getByRole('tree', { name: 'Content of plots.json' })
  await tree.getByText('12345678901234567890').waitFor()
  t.deepEqual(await pageFindings(page), [])
  await tree.getByRole('treeitem').first().focus()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('ArrowDown')
  await page.getByText('$.plots', { exact: true }).waitFor()
  await page.keyboard.press('ArrowRight')
  await page.keyboard.press('Control+c')
  await page.getByRole('button', { name: 'Show as text' }).click()
  await page.getByRole('textbox', { name: 'plots.json' }).waitFor()
  await page.goto(await fileOf('damaged.json', undefined, 'application/json'))
  await page.getByText('The file is not valid JSON (line 15), so it is shown as text.').waitFor()
  for (const [line, text] of [
    [2, '{"a":1}\n{oops\n{"a":3}\n'],
    [4, '{"a":1}\n\n{"a":2}\n{"a":\n{"a":3}\n'],
  ] as const) {
    await page.goto(await fileOf(`line ${line}.jsonl`, text, 'application/x-ndjson'))
    await page.getByText(`The file is not valid JSON (line ${line}), so it is shown as text.`).waitFor()
  }

  const entities =
    '<!DOCTYPE a [<!ENTITY x SYSTEM "http://elsewhere.invalid/x">]><a b="1"><c>Köln</c><script>document.title = "taken"</script></a>'
  await page.goto(await fileOf('tree.xml', entities, 'application/xml'))
  await page.getByRole('treeitem', { name: 'Köln' }).waitFor()
  t.is(await page.title(), 'tree.xml · Pounce')
  for (const [name, bytes] of [
    ['bytes.txt', await dataFile('photo.jpg')],
    ['zeros.txt', Buffer.alloc(5000)],
  ] as const) {
    await page.goto(await fileOf(name, bytes, 'text/plain'))
    await page.getByText('The file is not text: it holds binary data.').waitFor()
  }
  t.deepEqual(problems, [])
})

inBrowser('links of Markdown lead to its headings, also from outside', async t => {
  const { page, problems } = await openPage(t)
  const text = `# Über uns\n\n[two](#part-two) [again](#part-two-1) [odd](#main)\n\n${'filler\n\n'.repeat(60)}## Part two\n\n${'filler\n\n'.repeat(60)}## Part *two*\n\nend\n`
  const file = await fileOf('long.md', text, 'text/markdown')
  const heading = (at: number): string => `document.querySelectorAll('.prose :is(h3, h4)')[${at}]?.getBoundingClientRect() ?? {}`
  const isShown = (at: number): Promise<boolean> =>
    until(`heading ${at} to be shown`, () =>
      page.evaluate<boolean>(`(({ top, bottom }) => top >= -1 && bottom <= innerHeight)(${heading(at)})`),
    )
  await page.goto(file)
  await page.getByRole('link', { name: 'two', exact: true }).click()
  await isShown(1)
  await page.goBack()
  await page.getByRole('link', { name: 'again' }).click()
  await isShown(2)
  await page.reload()
  await page.getByRole('heading', { name: 'Über uns' }).waitFor()
  await isShown(2)
  await page.goto('/')
  await page.goto(`${file}#part-two`)
  await isShown(1)
  t.is(await page.locator('.prose :is(h3, h4, a)[id]:not([id^="user-content-"])').count(), 0)
  const dataset = await newDataset(call, { name: 'Long' })
  await upload(call, dataset, text, 'README.md', { type: 'text/markdown' })
  await page.goto(`/datasets/${dataset}#%C3%BCber-uns`)
  await page.getByRole('region', { name: 'README.md' }).getByRole('link', { name: 'two', exact: true }).click()
  await isShown(1)
  await page.reload()
  await page.getByRole('region', { name: 'README.md' }).waitFor()
  await isShown(1)
  t.deepEqual(problems, [])
})

inBrowser('Markdown with a table of 50,000 rows shows the first ones, and Markdown that is nested too deeply its text', async t => {
  const { page, problems } = await openPage(t)
  const rows = Array.from({ length: 50_000 }, (_, at) => `|${at}|b|`)
  await page.goto(await fileOf('rows.md', ['|a|b|', '|-|-|', ...rows].join('\n'), 'text/markdown'))
  await page.getByText('The first 2,000 of 50,000 rows are shown; the file contains all.').waitFor()
  t.is(await page.locator('.viewer-markdown tbody tr').count(), 2001)
  await page.goto(await fileOf('nested.md', `${'>'.repeat(20_000)} deep`, 'text/markdown'))
  await page.locator('.viewer-markdown', { hasText: '>>>> deep' }).waitFor()
  t.deepEqual(problems, [])
})

inBrowser('task lists of Markdown show which tasks are done; headings are below that of the page', async t => {
  const { page, problems } = await openPage(t)
  await page.goto(await fileOf('tasks.md', '# Tasks\n\n- [x] sampled\n- [ ] measured\n', 'text/markdown'))
  await page.getByText('sampled').waitFor()
  t.deepEqual(await page.locator('.prose li').allInnerTexts(), ['☑ sampled', '☐ measured'])
  t.deepEqual(await axeFindings(page), [])
  t.deepEqual(problems, [])
})

inBrowser('numbers in JSON that are too large or too small for a computation keep their digits', async t => {
  const { page, problems } = await openPage(t)
  await page.goto(await fileOf('range.json', '{"far":1e999,"near":-2.5e-400,"none":0e-400}', 'application/json'))
  const tree = page.getByRole('tree', { name: 'Content of range.json' })
  for (const text of ['1e999', '-2.5e-400']) await tree.getByText(text).waitFor()
  t.is(await tree.getByText('Infinity').count(), 0)
  t.deepEqual(problems, [])
})

inBrowser('a notebook shows its cells and their outputs, and none of its code is run', async t => {
  const { page, problems } = await openPage(t)
  await page.goto(await fileOf('heights.ipynb'))
  await page.getByRole('heading', { name: 'Heights of beeches' }).waitFor()
  await page.getByRole('cell', { name: 'Quercus robur' }).waitFor()
  await page.getByText("AttributeError: no attribute 'nothing'").waitFor()
  t.is(
    await page
      .getByRole('img', { name: 'Picture in the output of cell 4' })
      .evaluate(image => (image as unknown as { readonly naturalWidth: number }).naturalWidth),
    48,
  )
  t.deepEqual(await pageFindings(page), [])
  const html =
    '<script>document.title = "taken"</script><img src="https://elsewhere.invalid/a.png" onerror="document.title = \'taken\'"><a href="javascript:document.title=1">link</a><style>body { display: none }</style><iframe src="/"></iframe>'
  const hostile = {
    cells: [
      { cell_type: 'markdown', source: html },
      { cell_type: 'code', source: '', outputs: [{ output_type: 'display_data', data: { 'text/html': [html, '<b>kept</b>'] } }] },
      {
        cell_type: 'code',
        source: '',
        outputs: [{ output_type: 'display_data', data: { 'application/javascript': 'document.title = 1' } }],
      },
    ],
  }
  await page.goto(await fileOf('hostile.ipynb', JSON.stringify(hostile)))
  await page.getByText('kept').waitFor()
  await page.getByText('An output of a type that is not shown: application/javascript').waitFor()
  t.is(await page.locator('.notebook :is(script, iframe, style, img, a[href])').count(), 0)
  t.is(await page.title(), 'hostile.ipynb · Pounce')
  await page.goto(await fileOf('damaged.ipynb'))
  await page.getByText('The notebook is damaged or not complete.').waitFor()
  t.deepEqual(problems, [])
})

inBrowser('an archive is listed by folder; single files are viewed or saved; ZIP bombs are not unpacked', async t => {
  const { page, problems } = await openPage(t)
  await page.goto(await fileOf('bundle.zip', undefined, 'application/zip'))
  const grid = page.getByRole('grid', { name: 'Files in bundle.zip' })
  await grid.getByText('readme.txt').waitFor()
  t.deepEqual(await pageFindings(page), [])
  await grid.getByRole('row', { name: 'tables' }).focus()
  await page.keyboard.press('Enter')
  await page.getByText('stations.csv').dblclick()
  await page.getByText('500 rows').waitFor()
  await page.getByRole('gridcell', { name: 'Köln' }).first().waitFor()
  const [saved] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Download this file' }).click()])
  t.deepEqual(await readFile((await saved.path()) ?? ''), await dataFile('stations.csv'))
  t.deepEqual(await pageFindings(page), [])
  await page.goto(page.url())
  await page.getByText('500 rows').waitFor()

  await page.goto(await fileOf('documents.zip', zip([{ name: 'paper.pdf', bytes: await dataFile('paper.pdf') }]), 'application/zip'))
  await page.getByText('paper.pdf').dblclick()
  await page.locator('.pdf-text').first().waitFor()

  // Programs without UTF-8 write names in a code page of DOS.
  const old = zip([{ name: 'name.txt', bytes: Buffer.from('old'), fields: { flags: 0 } }]).toString('latin1')
  await page.goto(await fileOf('old.zip', Buffer.from(old.replaceAll('name', '\x94\x84\x81\xe1'), 'latin1'), 'application/zip'))
  await page.getByText('öäüß.txt').waitFor()

  // The declared size is 1,000 bytes, the actual one 20 million.
  const bomb = zip([{ name: 'bomb.txt', bytes: Buffer.alloc(20_000_000), fields: { sizeBytes: 1000 } }])
  await page.goto(await fileOf('bomb.zip', bomb, 'application/zip'))
  await page.getByText('bomb.txt').dblclick()
  await page.getByText('The file is larger than the archive says; it was not unpacked.').waitFor()
  await page.goto(await fileOf('damaged.zip', undefined, 'application/zip'))
  await page.getByText('The ZIP archive is damaged or not complete.').waitFor()
  t.deepEqual(problems, [])
})
