import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import test, { type ExecutionContext } from 'ava'
import { extractApart } from '../../../test/support/extract-apart.ts'
import { runExtractor, temporaryFile, temporaryFolder, testFile } from '../../../test/support/run-extractor.ts'
import { extract } from './extract.ts'

const csv = { contentType: 'text/csv' }
const ofText = async (t: ExecutionContext, text: string | Uint8Array, options = csv) =>
  runExtractor(t, extract, await temporaryFile(t, 'some.csv', text), options)

test('a table yields its columns, types, ranges and rows', async t => {
  const { metadata } = await runExtractor(t, extract, testFile('stations.csv'), csv)
  t.deepEqual(metadata, {
    encoding: 'UTF-8',
    delimiter: ',',
    hasHeader: true,
    rows: 500,
    columnCount: 7,
    columns: [
      { name: 'id', type: 'integer', min: 1, max: 500 },
      { name: 'station', type: 'text' },
      { name: 'date', type: 'date', earliest: '2025-01-01', latest: '2026-05-15' },
      { name: 'temperature.celsius', type: 'number', min: -2, max: 22 },
      { name: 'rain_mm', type: 'integer', missing: 14, min: 0, max: 30 },
      { name: 'valid', type: 'boolean' },
      { name: 'note', type: 'text', missing: 490 },
    ],
  })
})

test('the first twenty rows are shown as a table', async t => {
  const run = await runExtractor(t, extract, testFile('stations.csv'), csv)
  t.is(run.previews?.[0]?.contentType, 'text/html')
  const page = (await run.preview(0)).toString()
  t.is(page.split('<tr>').length - 1, 21)
  t.regex(page, /<th>temperature\.celsius<\/th>/)
  t.regex(
    page,
    /<tr><td>1<\/td><td>Köln<\/td><td>2025-01-01<\/td><td>10\.0<\/td><td><\/td><td>false<\/td><td>sensor changed, see log<\/td><\/tr>/,
  )
})

test('the content of a table is displayed, not executed', async t => {
  const run = await ofText(t, '<script>a</script>,b\n"<img src=x onerror=""alert(1)"">",&amp;\n')
  const page = (await run.preview(0)).toString()
  t.notRegex(page, /<script|<img/)
  t.regex(page, /&lt;img src=x onerror=&quot;alert\(1\)&quot;&gt;<\/td><td>&amp;amp;<\/td>/)
})

for (const [name, text, options, expected] of [
  ['tabs', 'a\tb,c\n1\t2\n', csv, { delimiter: 'tab', columnCount: 2 }],
  ['tabs by content type, despite commas', 'a,b,c\td\n1,2,3\t4\n', { contentType: 'text/tab-separated-values' }, { delimiter: 'tab' }],
  [
    'semicolons with decimal commas',
    'a;b\n1,5;x\n-2,25;y\n',
    csv,
    {
      delimiter: ';',
      columns: [
        { name: 'a', type: 'number', min: -2.25, max: 1.5 },
        { name: 'b', type: 'text' },
      ],
    },
  ],
  ['vertical bars', 'a|b\n1|2\n', csv, { delimiter: '|' }],
  ['delimiters within quotation marks', '"a;b;c";d\n"1;2;3";4\n', csv, { delimiter: ';', columnCount: 2 }],
  ['a single column', 'name\nAnn\nBob\n', csv, { columnCount: 1, rows: 2 }],
  ['comments before the table', '# made by us, in May\na,b,c\n1,2,3\n', csv, { columnCount: 3, rows: 1 }],
  ['a header row that starts with #', '#id,b\n1,2\n', csv, { columnCount: 2, rows: 1 }],
  [
    'a BOM and CRLF',
    '\ufeffa,b\r\n1,2\r\n',
    csv,
    {
      columns: [
        { name: 'a', type: 'integer', min: 1, max: 1 },
        { name: 'b', type: 'integer', min: 2, max: 2 },
      ],
    },
  ],
] as const) {
  test(`${name}: the dialect is detected`, async t => {
    t.like((await ofText(t, text, options)).metadata, expected)
  })
}

test('tables in Latin-1 and UTF-16 are read', async t => {
  t.like((await ofText(t, Buffer.from('Ort,Größe\nKöln,1\n', 'latin1'))).metadata, {
    encoding: 'windows-1252',
    columns: [{ name: 'Ort', type: 'text' }, { name: 'Größe' }],
  })
  t.like((await ofText(t, Buffer.from('\ufeffOrt,Größe\nKöln,1\n', 'utf16le'))).metadata, {
    encoding: 'UTF-16LE',
    columns: [{ name: 'Ort', type: 'text' }, { name: 'Größe' }],
  })
})

test('a table without a header row gets numbered columns and keeps its first row', async t => {
  const { metadata } = await ofText(t, '1,x\n2,y\n')
  t.like(metadata, {
    hasHeader: false,
    rows: 2,
    columns: [
      { name: 'column 1', type: 'integer', min: 1, max: 2 },
      { name: 'column 2', type: 'text' },
    ],
  })
})

test('the type of a column is one that all its values share', async t => {
  const rows = [
    'i,n,z,d,w,b,e,m,s',
    '1,1.5,007,2024-02-29T10:00:00Z,2024-13-01,TRUE,,1,1e3',
    '-2,2e3,008,2024-02-28 09:00,2024-01-01,false,NA,x,.5',
  ]
  const { metadata } = await ofText(t, rows.join('\n'))
  const types = Object.fromEntries(((metadata?.columns ?? []) as { name: string; type: string }[]).map(({ name, type }) => [name, type]))
  t.deepEqual(types, { i: 'integer', n: 'number', z: 'text', d: 'date', w: 'text', b: 'boolean', e: 'empty', m: 'text', s: 'number' })
})

test('rows with too few or too many cells are counted, and are no error', async t => {
  const { metadata } = await ofText(t, 'a,b\n1\n2,3,4\n\n5,6\n')
  t.like(metadata, {
    rows: 3,
    raggedRows: 2,
    columns: [
      { name: 'a', type: 'integer', min: 1, max: 5 },
      { name: 'b', missing: 1, min: 3, max: 6 },
    ],
  })
})

test('quotation marks within a value and line breaks within quotation marks are part of the value', async t => {
  const { metadata } = await ofText(t, 'a,b\n5" pipe,1\n"two\nlines",2\n')
  t.like(metadata, { rows: 2, brokenRows: undefined })
})

test('an unclosed quotation mark is reported with its line number', async t => {
  const { metadata } = await ofText(t, 'a,b\n1,2\n"3,4\n5,6\n')
  t.like(metadata, { rows: 1, brokenRows: 1 })
  const message = 'a quotation mark is not closed before the end of the file'
  t.deepEqual(metadata?.problems, [`line 3: ${message}`])
  const windows = await ofText(t, 'a,b\r\n1,"Köln\r\nBonn"\r\n\r\n2,"open\r\n3,4\r\n5,6\r\n')
  t.deepEqual(windows.metadata?.problems, [`line 5: ${message}`])
})

test('a row longer than 1 MiB ends the run with the rows read before it', async t => {
  const { metadata } = await ofText(t, `a,b\n1,2\n"${'3,4\n'.repeat(1_000_000)}`)
  t.like(metadata, { rows: 1, brokenRows: 1, isComplete: false })
  t.regex(String((metadata?.problems as string[] | undefined)?.[0]), /^line 3: a row is longer than 1 MiB/)
})

test('only the first 1,000 of 5,000 columns are described', async t => {
  const cells = Array.from({ length: 5000 }, (_, at) => `c${at}`).join(',')
  const run = await ofText(t, `${cells}\n${cells}\n`)
  t.is(run.metadata?.columnCount, 5000)
  t.is((run.metadata?.columns as unknown[] | undefined)?.length, 1000)
  t.regex((await run.preview(0)).toString(), /… and 4950 more columns/)
})

test('half a million rows are read in less than 200 MiB of memory', async t => {
  const path = join(await temporaryFolder(t), 'long.csv')
  const piece = '12,3.5,some text,2024-01-01\n'.repeat(10_000)
  await pipeline(Readable.from(['a,b,c,d\n', ...Array<string>(50).fill(piece)]), createWriteStream(path))
  const { output, peakBytes } = await extractApart(new URL('./extract.ts', import.meta.url), path, csv.contentType, 32)
  t.like(output.metadata, { rows: 500_000, columns: [{ type: 'integer' }, { type: 'number' }, { type: 'text' }, { type: 'date' }] })
  t.true(peakBytes < 200 << 20, `${peakBytes >> 20} MiB`)
})

for (const [name, content, message] of [
  ['an empty file', '', /file is empty/],
  ['a file of blank lines', '\n\n  \n\n'.replaceAll(' ', ''), /No table found in the file/],
  ['one line of 3 MB', 'x'.repeat(3_000_000), /No table found in the file: line 1: a row is longer than 1 MiB/],
  ['binary data', Buffer.from([0, 1, 2, 3, 0, 0, 10, 44]), /not a text table: it contains binary data/],
] as const) {
  test(`${name} is an error for a person`, async t => {
    await t.throwsAsync(ofText(t, content), { message })
  })
}

test('a cancelled run stops', async t => {
  const path = testFile('stations.csv')
  await t.throwsAsync(runExtractor(t, extract, path, { ...csv, signal: AbortSignal.abort() }), { name: 'AbortError' })
})
