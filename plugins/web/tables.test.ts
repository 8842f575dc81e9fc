import { readFile } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'
import test, { type ExecutionContext } from 'ava'
import { stringify } from 'csv-stringify/sync'
import { notebookOf } from './app/viewers/notebook/notebook-data.ts'
import { ParquetSource } from './app/viewers/parquet/parquet-source.ts'
import { CsvSource } from './app/viewers/table/engine/csv-source.ts'
import type { DialectChoice } from './app/viewers/table/engine/dialect.ts'
import { unpackedOf } from './app/viewers/table/engine/gzip.ts'
import { plotOf } from './app/viewers/table/engine/plot-data.ts'
import { RowScanner } from './app/viewers/table/engine/row-scanner.ts'
import { TableEngine } from './app/viewers/table/engine/table-engine.ts'

const readerOf = (bytes: Uint8Array) => async (start: number, end: number) => bytes.slice(start, end)
const dataFile = (name: string): Promise<Buffer> => readFile(new URL(`../../test/data/${name}`, import.meta.url))
const always = () => true

const opened = async (content: string | Uint8Array, dialectChoice: DialectChoice = {}, keptBytes?: number) => {
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : new Uint8Array(content)
  const source = await CsvSource.open(readerOf(bytes), bytes.length, dialectChoice, keptBytes)
  await source.readOn('all', always)
  return { source, engine: new TableEngine(source) }
}

const cellsOf = async ({ source, engine }: Awaited<ReturnType<typeof opened>>) => {
  const { cells } = await engine.rows(0, source.progress.rows, 0, source.columns.length)
  return cells.map(row => [...row])
}

/** Deterministic cells that are hard to quote. */
const trickyRows = (count: number): string[][] => {
  const texts = ['plain', 'with, comma', 'a "quote" within', 'two\nlines', 'Köln 観測 🌧', ' spaces ', '"', '1,5', "it's; a\ttab"]
  return Array.from({ length: count }, (_, row) =>
    Array.from({ length: 4 }, (_, column) => (column === 0 ? String(row) : (texts[(row * 7 + column * 3) % texts.length] ?? ''))),
  )
}

test('cells are read as written, whatever their content and the line endings', async t => {
  const rows = trickyRows(3000)
  for (const options of [
    {},
    { record_delimiter: '\r\n', quoted_match: /\n/ },
    { delimiter: ';' },
    { delimiter: '\t' },
    { quoted: true },
  ] as const) {
    const table = await opened(stringify([['id', 'one', 'two', 'three'], ...rows], options))
    t.deepEqual(
      table.source.columns.map(({ name }) => name),
      ['id', 'one', 'two', 'three'],
    )
    t.deepEqual(await cellsOf(table), rows)
  }
})

test('rows that are not kept in memory are read again, up to the last one', async t => {
  const rows = trickyRows(5000)
  const { source, engine } = await opened(stringify([['id', 'one', 'two', 'three'], ...rows]), {}, 20_000)
  const { progress } = source
  t.is(progress.rows, 5000)
  t.true(progress.isCoverPartial)
  t.true(progress.coveredRows < 1000)
  for (const row of [0, progress.coveredRows - 1, progress.coveredRows, 2500, 4999])
    t.deepEqual((await engine.rows(row, row + 1, 0, 4)).cells, [rows[row]], `row ${row}`)
  // Only the rows kept in memory are sorted.
  t.is(await engine.arrange({ sort: { column: 0, isDescending: true }, filters: [], search: '' }), progress.coveredRows)
})

test('extra cells of longer rows are shown in additional columns, and found by search', async t => {
  const late = Array.from({ length: 5000 }, (_, row) => `${row},${row * 2}${row === 4000 ? ',"extra, quoted",more' : ''}`)
  for (const [text, row, expected] of [
    [`time,value\n${late.join('\n')}\n`, 4000, ['4000', '8000', 'extra, quoted', 'more']],
    ['a,b,c\n1,"open\n2,only two\n7,a,b,extra\n', 2, ['7', 'a', 'b', 'extra']],
  ] as const) {
    const { source, engine } = await opened(text)
    t.is(source.progress.columns, 4)
    t.deepEqual(source.columns.at(-1), { name: '', type: 'text', longest: 0 })
    t.is(await engine.arrange({ filters: [], search: 'extra' }), 1)
    t.deepEqual(await engine.rows(0, 1, 0, 4), { numbers: [row], cells: [expected] })
  }
})

test('row offsets do not depend on the chunks in which a file arrives', t => {
  const bytes = new TextEncoder().encode('a,"b\n""c""",d\r\n\r\n"x",y"z\n,"",\nlast')
  const found = (size: number): readonly string[] => {
    const scanner = new RowScanner(0, ',', '\n')
    const rows: string[] = []
    const note = (start: number, end: number, cells: number) =>
      void rows.push(`${cells}: ${new TextDecoder().decode(bytes.subarray(start, end))}`)
    for (let at = 0; at < bytes.length; at += size) scanner.take(bytes.subarray(at, at + size), note)
    scanner.end(note)
    return rows
  }
  const expected = ['3: a,"b\n""c""",d\r\n', '2: "x",y"z\n', '3: ,"",\n', '1: last']
  for (const size of [1, 2, 3, 5, 8, 100]) t.deepEqual(found(size), expected, `pieces of ${size}`)
})

test('encoding, delimiter, decimal sign, comments and header are detected, and can be overridden', async t => {
  const text = 'Straße;Länge\nGrüner Weg;1,5\nAm Hügel;2,25\n'
  for (const bytes of [
    Buffer.from(text),
    Buffer.from(`\ufeff${text}`),
    Buffer.from(text, 'latin1'),
    Buffer.from(`\ufeff${text}`, 'utf16le'),
    Buffer.from(text, 'utf16le').swap16(),
  ]) {
    const table = await opened(bytes)
    t.deepEqual(
      table.source.columns.map(({ name, type }) => [name, type]),
      [
        ['Straße', 'text'],
        ['Länge', 'number'],
      ],
    )
    t.deepEqual(await cellsOf(table), [
      ['Grüner Weg', '1,5'],
      ['Am Hügel', '2,25'],
    ])
    const [, length] = await table.engine.statistics([0, 1])
    t.is(length?.measures?.max, 2.25)
  }
  const commented = await opened('# measured in March\n#chrom\tstart\nchr1\t10\n')
  t.deepEqual(
    commented.source.columns.map(({ name }) => name),
    ['chrom', 'start'],
  )
  const repeated = await opened('time,value,value\n0,1,2\n1,2,3\n')
  t.deepEqual(
    repeated.source.columns.map(({ name, type }) => [name, type]),
    [
      ['time', 'integer'],
      ['value', 'integer'],
      ['value', 'integer'],
    ],
  )
  t.is((await opened('yes,yes\nno,yes\n')).source.progress.rows, 2)
  const chosen = await opened('a,b\n1,2\n', { hasHeader: false, delimiter: ';' })
  t.deepEqual(await cellsOf(chosen), [['a,b'], ['1,2']])
})

test('an unclosed quote, rows of different lengths and an endless line hide no other rows', async t => {
  const damaged = await opened(await dataFile('damaged.csv'))
  t.deepEqual(
    (await cellsOf(damaged)).map(([station]) => station),
    ['Köln', 'Bonn', 'Aachen', 'Trier'],
  )
  const long = await opened(`a,b\n1,2\n${'x,'.repeat(3_000_000)}\n3,4\n`)
  t.is(long.source.progress.rows, 3)
  t.is(long.source.progress.longRows, 1)
  t.deepEqual((await long.engine.rows(2, 3, 0, 2)).cells, [['3', '4']])
})

const numbers = async (t: ExecutionContext) => {
  // The numbers 1 to 9, and two missing values.
  const rows = [3, 1, 2, 'NA', 9, 7, 8, '', 4, 6, 5].map((value, at) => `${value},${['b', 'a', 'c'][at % 3]},2026-03-${10 + at}`)
  const table = await opened(`value,name,day\n${rows.join('\n')}\n`)
  t.is(table.source.progress.rows, 11)
  return table
}

test('statistics match their textbook definitions', async t => {
  const { engine } = await numbers(t)
  const [value, name, day] = await engine.statistics([0, 1, 2])
  t.like(value, { type: 'integer', rows: 11, missing: 2, unfit: 0, distinct: 9, histogram: [1, 1, 1, 1, 1, 1, 1, 1, 1] })
  t.is(value?.measures?.min, 1)
  t.is(value?.measures?.max, 9)
  t.is(value?.measures?.mean, 5)
  t.is(value?.measures?.median, 5)
  // The squares of the distances from 5 add up to 60; 60 / 8 is 7.5.
  t.true(Math.abs((value?.measures?.deviation ?? 0) - Math.sqrt(7.5)) < 1e-12)
  t.deepEqual(name?.frequent, [
    { value: 'a', count: 4 },
    { value: 'b', count: 4 },
    { value: 'c', count: 3 },
  ])
  t.is(day?.type, 'date')
  t.is(day?.measures?.min, Date.UTC(2026, 2, 10))
  t.is(day?.measures?.max, Date.UTC(2026, 2, 20))
})

test('rows are sorted as numbers, dates or strings with missing values last, and filtered by each kind of condition', async t => {
  const { engine } = await numbers(t)
  const column = async (at: number): Promise<unknown> => (await engine.rows(0, 20, at, at + 1)).cells.map(([cell]) => cell)
  await engine.arrange({ sort: { column: 0, isDescending: true }, filters: [], search: '' })
  t.deepEqual(await column(0), ['9', '8', '7', '6', '5', '4', '3', '2', '1', 'NA', ''])
  await engine.arrange({ sort: { column: 1, isDescending: false }, filters: [{ column: 0, kind: 'atLeast', value: '6' }], search: '' })
  t.deepEqual(await column(0), ['9', '8', '6', '7'])
  const counts: Readonly<Record<string, number | undefined>> = {
    equals: await engine.arrange({ filters: [{ column: 0, kind: 'equals', value: '7.0' }], search: '' }),
    differs: await engine.arrange({ filters: [{ column: 0, kind: 'differs', value: '7' }], search: '' }),
    missing: await engine.arrange({ filters: [{ column: 0, kind: 'missing', value: '' }], search: '' }),
    present: await engine.arrange({ filters: [{ column: 0, kind: 'present', value: '' }], search: '' }),
    atMost: await engine.arrange({ filters: [{ column: 2, kind: 'atMost', value: '2026-03-12' }], search: '' }),
    contains: await engine.arrange({ filters: [{ column: 1, kind: 'contains', value: 'A' }], search: '' }),
    search: await engine.arrange({ filters: [], search: '03-1' }),
  }
  t.deepEqual(counts, { equals: 1, differs: 8, missing: 2, present: 9, atMost: 3, contains: 4, search: 10 })
  t.is(await engine.arrange({ filters: [], search: '' }), undefined)
})

test('a later request supersedes an earlier one', async t => {
  const { engine } = await numbers(t)
  const first = engine.arrange({ filters: [], search: 'a' })
  const second = engine.arrange({ filters: [], search: 'b' })
  await t.throwsAsync(first, { name: 'Superseded' })
  t.is(await second, 4)
})

test('a plot of many rows keeps the extremes', t => {
  const values = Float64Array.from({ length: 100_000 }, (_, at) => Math.sin(at / 500))
  values[54_321] = 40
  values[12_345] = -30
  values[777] = Number.NaN
  const { x, ys, rows, isReduced, steps } = plotOf(undefined, [values])
  t.is(rows, 100_000)
  t.true(isReduced)
  t.true(x.length < 10_000)
  t.is(ys[0]?.[x.indexOf(54_322)], 40)
  t.is(ys[0]?.[x.indexOf(12_346)], -30)
  t.is(steps[0]?.ys[0]?.count, 4999)
})

test('Parquet is read by row group, with its values, types and missing values', async t => {
  const bytes = new Uint8Array(await dataFile('trees.parquet'))
  const ranges: number[] = []
  const source = await ParquetSource.open(async (start, end) => {
    ranges.push(end - start)
    return bytes.slice(start, end)
  }, bytes.length)
  const engine = new TableEngine(source)
  t.deepEqual(
    source.columns.map(({ name, type }) => [name, type]),
    [
      ['plot', 'integer'],
      ['species', 'text'],
      ['measured', 'date'],
      ['height', 'number'],
      ['alive', 'boolean'],
      ['leaf', 'text'],
      ['readings', 'text'],
    ],
  )
  t.like(source.details, { rowGroups: 3, codecs: ['ZSTD'] })
  // Rows increase by one hour and 1 cm, from 2026-03-01 and 5 m.
  const { cells } = await engine.rows(1199, 1200, 0, 7)
  t.deepEqual(cells, [['1199', 'Pinus sylvestris', '2026-04-19T23:00:00.000Z', '16.99', 'true', '{"length":3,"width":1}', '[1199,1200]']])
  const [height] = await engine.statistics([3])
  t.like(height, { missing: 24, rows: 1200, type: 'number' })
  t.is(height?.measures?.min, 5.01)
  t.is(
    await engine.arrange({
      sort: { column: 3, isDescending: true },
      filters: [{ column: 1, kind: 'equals', value: 'Picea abies' }],
      search: '',
    }),
    300,
  )
  t.deepEqual((await engine.rows(0, 1, 0, 1)).cells, [['1198']])
  const damaged = new Uint8Array(await dataFile('damaged.parquet'))
  await t.throwsAsync(ParquetSource.open(readerOf(damaged), damaged.length))
})

test('times, decimals and bytes in Parquet keep all their digits', async t => {
  const bytes = new Uint8Array(await dataFile('values.parquet'))
  const source = await ParquetSource.open(readerOf(bytes), bytes.length)
  t.deepEqual(
    source.columns.map(({ type }) => type),
    ['number', 'number', 'date', 'date', 'text', 'text', 'integer'],
  )
  const engine = new TableEngine(source)
  const { cells } = await engine.rows(0, 3, 0, 7)
  t.deepEqual(cells, [
    [
      ...['12345678901234567890.123', '90071992547409.93', '1970-01-01T00:00:00.000000001Z', '2023-11-14T22:13:20.123456Z'],
      ...['["2023-11-14T22:13:20.123456Z"]', '00ff', '18446744073709551615'],
    ],
    ['-0.001', '1.50', '2023-11-14T22:13:20.123456789Z', '2023-11-14T22:13:20.000Z', '[]', 'Köln', '0'],
    [null, null, '1969-12-31T23:59:59.999999999Z', null, null, null, null],
  ])
  await engine.arrange({ sort: { column: 0, isDescending: true }, filters: [], search: '' })
  t.deepEqual((await engine.rows(0, 3, 0, 1)).cells, [['12345678901234567890.123'], ['-0.001'], [null]])
})

test('a notebook omits terminal codes, shows pictures of four types only, and reports what is not shown', async t => {
  const notebook = notebookOf(await dataFile('heights.ipynb').then(String))
  t.is(notebook?.language, 'python')
  t.deepEqual(
    notebook?.cells.map(({ kind, outputs }) => [kind, ...outputs.map(output => output.kind)]),
    [['markdown'], ['code', 'html'], ['code', 'text'], ['code', 'picture'], ['code', 'error'], ['raw']],
  )
  const [error] = notebook?.cells[4]?.outputs ?? []
  t.true(error?.kind === 'error' && !error.text.includes('\u001b'))
  const outputs = (data: object) =>
    notebookOf(JSON.stringify({ cells: [{ cell_type: 'code', source: '', outputs: [{ output_type: 'display_data', data }] }] }))?.cells[0]
      ?.outputs
  t.deepEqual(outputs({ 'image/svg+xml': '<svg/>' }), [{ kind: 'unknown', types: ['image/svg+xml'] }])
  t.deepEqual(outputs({ 'image/png': '"><script>', 'text/plain': 'kept' }), [{ kind: 'text', text: 'kept' }])
  for (const text of ['', '[]', '{"cells": 1}', 'null', await dataFile('damaged.ipynb').then(String)]) t.is(notebookOf(text), undefined)
})

test('search finds text in cells regardless of case, script and quoting', async t => {
  const rows = [...trickyRows(4000), ['4000', 'ÄPFEL', 'İzmir', 'K'], ['4001', 'x'.repeat(300_000), 'far', 'end']]
  for (const options of [{}, { delimiter: ';' }, { quoted: true }, { record_delimiter: '\r\n', quoted_match: /\n/ }] as const) {
    const ascii = rows.filter(row => row.every(cell => /^[\x20-\x7e\n\t]*$/.test(cell)))
    for (const some of [rows, ascii]) {
      const table = await opened(stringify([['id', 'one', 'two', 'three'], ...some], options))
      const asShown = await cellsOf(table)
      for (const search of [
        'with',
        'COMMA',
        'köln',
        '観',
        'quote',
        '"quote"',
        ', c',
        'two\nl',
        '399',
        'spaces',
        ' spaces',
        'äpfel',
        'far',
        'nowhere',
        ';',
      ]) {
        const wanted = search.toLocaleLowerCase()
        const expected = asShown.flatMap((row, at) => (row.some(cell => cell?.toLocaleLowerCase().includes(wanted)) ? [at] : []))
        await table.engine.arrange({ filters: [], search })
        const { numbers } = await table.engine.rows(0, some.length, 0, 1)
        t.deepEqual(numbers, expected, `${search} in ${JSON.stringify(options)}`)
        const odd = expected.filter(at => Number(asShown[at]?.[0]) % 2 === 1 && Number(asShown[at]?.[0]) > 2000)
        const filters = [{ column: 0, kind: 'atLeast' as const, value: '2001' }]
        await table.engine.arrange({ filters, search })
        const filtered = (await table.engine.rows(0, some.length, 0, 1)).numbers.filter(at => Number(asShown[at]?.[0]) % 2 === 1)
        t.deepEqual(filtered, odd)
      }
    }
  }
})

test('a gzip table is unpacked up to the memory limit, or up to where it is damaged', async t => {
  const rows = trickyRows(5000)
  const text = stringify([['id', 'one', 'two', 'three'], ...rows])
  const whole = await opened(gzipSync(text))
  t.deepEqual(await cellsOf(whole), rows)
  t.is(whole.source.cut, undefined)
  // In several members, as `bgzip` and programs that append write it.
  const end = text.indexOf('\n', 1000) + 1
  const bytes = Buffer.from(text)
  const blocks = Array.from({ length: Math.ceil(bytes.length / 700) }, (_, at) => gzipSync(bytes.subarray(at * 700, at * 700 + 700)))
  for (const members of [
    [gzipSync(text.slice(0, end)), gzipSync(text.slice(end))],
    [...blocks, gzipSync('')],
  ]) {
    const parts = await opened(Buffer.concat(members))
    t.is(parts.source.cut, undefined)
    t.deepEqual(await cellsOf(parts), rows)
  }
  const followed = await opened(Buffer.concat([gzipSync(text), Buffer.from('junk')]))
  t.is(followed.source.cut, 'damage')
  t.deepEqual((await cellsOf(followed))[0], rows[0])
  const large = await opened(gzipSync(text), {}, 20_000)
  t.is(large.source.cut, 'size')
  t.deepEqual((await cellsOf(large)).slice(0, 100), rows.slice(0, 100))
  const random = Array.from({ length: 20_000 }, (_, at) => [at, Math.sin(at)])
  const damaged = gzipSync(stringify([['id', 'value'], ...random])).subarray(0, 100_000)
  const left = await opened(damaged)
  t.is(left.source.cut, 'damage')
  t.deepEqual((await cellsOf(left))[100], random[100]?.map(String))
  await t.throwsAsync(opened(gzipSync(text).fill(7, 10)))
})

test('gzip in gzip, and members whose headers are in two pieces of a read, are unpacked', async t => {
  const unpacked = async (packed: Uint8Array) => {
    const { bytes, cut } = await unpackedOf(async (start, end) => packed.subarray(start, end), packed.length, 10_000_000)
    t.is(cut, undefined)
    return Buffer.from(bytes)
  }
  const inner = Buffer.concat([gzipSync('one'), gzipSync('two'), gzipSync('three')])
  t.deepEqual(await unpacked(gzipSync(inner, { level: 0 })), inner)
  const first = gzipSync(Buffer.alloc(999_960, 'x'), { level: 0 })
  for (let more = 0; more < 40; more += 3) {
    const filled = gzipSync(Buffer.alloc(999_960 - (first.length - 999_960) + more, 'x'), { level: 0 })
    t.is((await unpacked(Buffer.concat([filled, gzipSync('end')]))).subarray(-3).toString(), 'end')
  }
})
