import { and, type DocumentStore, eq, range } from '../ports/document-store.ts'
import type { RowFormat } from '../ports/row-format.ts'
import type { ContractTest, TestContext } from './any-runner.ts'
import { type Note, notes } from './notes.ts'

type Open = (t: TestContext) => Promise<DocumentStore>

const fill = async (store: DocumentStore, documents: Readonly<Record<string, Note>>): Promise<void> => {
  const items = Object.entries(documents).map(([id, note]) => ({ change: { insert: { id, ...note }, into: notes } }))
  for (let at = 0; at < items.length; at += 1000) {
    for (const each of await store.commitEach(items.slice(at, at + 1000))) if (!each.ok) throw each.error
  }
}

/** All chunks as one text; each must be non-empty. */
const textOf = async (t: TestContext, pieces: AsyncIterable<Uint8Array>, between: string): Promise<string> => {
  const texts: string[] = []
  for await (const piece of pieces) {
    t.true(piece.length > 0)
    texts.push(Buffer.from(piece).toString('utf8'))
  }
  return texts.join(between)
}

const linesOf = async (t: TestContext, pieces: AsyncIterable<Uint8Array>): Promise<readonly string[]> => {
  const text = await textOf(t, pieces, '\r\n')
  return text === '' ? [] : text.split('\r\n').sort()
}

const columns: RowFormat['columns'] = [
  { name: 'type', cell: { is: 'note' } },
  { name: 'id', cell: { at: 'id', as: 'text' } },
  { name: 'name', cell: { at: 'name', as: 'text' } },
  { name: 'rank', cell: { at: 'rank', as: 'bare' } },
  { name: 'thousands', cell: { at: 'rank', as: 'thousands' } },
  { name: 'created', cell: { at: 'created', as: 'bare' } },
  { name: 'seat', cell: { at: 'team.seat', as: 'bare' } },
  { name: 'spaces', cell: { each: 'spaces' } },
  { name: 'author', cell: { of: 'author', in: notes, words: ['name', 'team.name'] } },
  { name: 'above', cell: { of: 'places.dataset', in: notes, each: 'spaces' } },
  { name: 'none', cell: { is: null } },
]
const csv: RowFormat = { syntax: 'csv', columns }
const json: RowFormat = { syntax: 'json', columns }

const hostile: Readonly<Record<string, Note>> = {
  ann: { name: 'Ann', team: { name: 'O’Nym', seat: 1 } },
  plain: { name: 'Plain', rank: 12_345, created: '2020-01-01T00:00:00.000Z', spaces: ['a', 'b', 'a'], author: 'ann' },
  quote: { name: 'a "quoted", name', rank: 999, spaces: [], author: 'nobody' },
  lines: { name: 'two\r\nlines\\', rank: -2.5 },
  formula: { name: '=SUM(A1)', author: 'formula' },
  minus: { name: '-1', rank: -1, spaces: ['@x'] },
  at: { name: '@me', created: '=1+1' },
  plus: { name: '+1', created: 'with blank' },
  tab: { name: '\tx' },
  umlaut: { name: 'Ä😀', places: [{ dataset: 'plain', folder: 'f' }, { dataset: 'quote' }, { dataset: 'plain' }, { dataset: 'minus' }] },
  empty: { name: '', team: { name: '', seat: 0 } },
  nothing: {},
}

const asCsv: readonly string[] = [
  '"note","ann","Ann",,,,1,"","","",',
  '"note","at","\'@me",,,"\'=1+1",,"","","",',
  '"note","empty","",,,,0,"","","",',
  '"note","formula","\'=SUM(A1)",,,,,"","\'=SUM(A1)","",',
  '"note","lines","two\r\nlines\\",-2.5,-1,,,"","","",',
  '"note","minus","\'-1",-1,-1,,,"\'@x","","",',
  '"note","nothing","",,,,,"","","",',
  '"note","plain","Plain",12345,12,2020-01-01T00:00:00.000Z,,"a, b","Ann O’Nym","",',
  '"note","plus","\'+1",,,"with blank",,"","","",',
  '"note","quote","a ""quoted"", name",999,0,,,"","","",',
  '"note","tab","\'\tx",,,,,"","","",',
  '"note","umlaut","Ä😀",,,,,"","","a, b, @x",',
]

/** The contract of `formattedRows`. */
export function documentRowsContract(test: ContractTest, open: Open): void {
  test('CSV rows contain nothing that a spreadsheet evaluates as a formula', async t => {
    const store = await open(t)
    await fill(store, hostile)
    const text = await textOf(t, store.formattedRows(notes, csv), '\r\n')
    for (const line of asCsv) t.true(text.includes(line), line)
    t.is(text.length, asCsv.join('\r\n').length)
  })

  test('JSON rows contain lists and nulls', async t => {
    const store = await open(t)
    await fill(store, hostile)
    const rows = JSON.parse(`[${await textOf(t, store.formattedRows(notes, json), ',\n')}]`) as readonly Readonly<Record<string, unknown>>[]
    t.deepEqual(rows.map(({ id }) => String(id)).sort(), Object.keys(hostile).sort())
    const row = (id: string) => rows.find(each => each['id'] === id)
    t.deepEqual(row('plain'), {
      ...{ type: 'note', id: 'plain', name: 'Plain', rank: 12_345, thousands: 12, created: '2020-01-01T00:00:00.000Z', seat: null },
      ...{ spaces: ['a', 'b'], author: 'Ann O’Nym', above: [], none: null },
    })
    t.like(row('formula'), { name: '=SUM(A1)' })
    t.like(row('umlaut'), { name: 'Ä😀', above: ['a', 'b', '@x'] })
    t.like(row('nothing'), { name: '', rank: null, spaces: [], author: '' })
  })

  test('rows are written for the matches, in the order of the index', async t => {
    const store = await open(t)
    const stamp = (n: number): string => new Date(1e12 + n).toISOString()
    await fill(
      store,
      Object.fromEntries(Array.from({ length: 1300 }, (_, n) => [`n${n}`, { state: n % 2 ? 'live' : 'gone', created: stamp(n) }])),
    )
    const where = and(eq('state', 'live'), range('created', { gte: stamp(3), lte: stamp(1201) }))
    const text = await textOf(
      t,
      store.formattedRows(notes, { syntax: 'csv', columns: columns.slice(1, 2) }, { using: 'byCreated', where }),
      '\r\n',
    )
    t.deepEqual(
      text.split('\r\n'),
      Array.from({ length: 600 }, (_, n) => `"n${2 * n + 3}"`),
    )
  })

  test('every document is written as one line, however many there are and whatever was removed', async t => {
    const store = await open(t)
    await fill(
      store,
      Object.fromEntries(
        Array.from({ length: 2500 }, (_, n) => [`n${n}`, { name: `N ${n}`, rank: n, ...(n % 3 ? { author: 'n7' } : {}) }]),
      ),
    )
    for (const n of [0, 1000, 2499]) await store.commit({ tombstone: `n${n}`, in: notes })
    const expected = Array.from({ length: 2500 }, (_, n) => n)
      .filter(n => ![0, 1000, 2499].includes(n))
      .map(n => `"n${n}",${n},"${n % 3 ? 'N 7' : ''}"`)
    const few: RowFormat = { syntax: 'csv', columns: [1, 3, 8].flatMap(at => columns[at] ?? []) }
    t.deepEqual(await linesOf(t, store.formattedRows(notes, few)), expected.sort())
  })

  test('an empty collection has no rows, and the iteration can be ended early', async t => {
    const store = await open(t)
    t.deepEqual(await linesOf(t, store.formattedRows(notes, csv)), [])
    await fill(store, Object.fromEntries(Array.from({ length: 2100 }, (_, n) => [`n${n}`, { rank: n }])))
    for await (const piece of store.formattedRows(notes, csv)) {
      t.true(piece.length > 0)
      break
    }
    t.is((await linesOf(t, store.formattedRows(notes, csv))).length, 2100)
  })
}
