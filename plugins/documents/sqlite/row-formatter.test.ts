import test from 'ava'
import fc from 'fast-check'
import type { RowFormat } from 'pounce/sdk/kit'
import { formatDocument } from 'pounce/sdk/store-kit'
import { RowFormatter } from './row-formatter.ts'

const people: Readonly<Record<string, unknown>> = { a: { first: '=A', last: 'x' }, b: { first: 'B', last: '', tags: ['t', 'u'] } }
const found = (_collection: string, id: string): unknown => people[id]

const columns: RowFormat['columns'] = [
  { name: 'id', cell: { at: 'id', as: 'text' } },
  { name: 'name', cell: { at: 'name', as: 'text' } },
  { name: 'size', cell: { at: 'size', as: 'thousands' } },
  { name: 'rank', cell: { at: 'rank', as: 'bare' } },
  { name: 'deep', cell: { at: 'stats.views', as: 'bare' } },
  { name: 'last', cell: { at: 'stats.last', as: 'bare' } },
  { name: 'list', cell: { each: 'list' } },
  { name: 'places', cell: { each: 'places.dataset' } },
  { name: 'owner', cell: { of: 'owner', in: { name: 'people' }, words: ['first', 'last'] } },
  { name: 'above', cell: { of: 'list', in: { name: 'people' }, each: 'tags' } },
]

const text = fc.oneof(
  fc.string(),
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom('=1', '-2', '@', '+', 'a"b', 'a\\b', '\t', '\u2028', '2020-01-01T00:00:00.000Z', 'a', 'b'),
)
const scalar = fc.oneof(text, fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }), fc.constantFrom(null, true, false))
const anything = fc.oneof(scalar, fc.array(scalar, { maxLength: 3 }), fc.jsonValue() as fc.Arbitrary<unknown>)
const document = fc.record(
  {
    id: text,
    name: anything,
    skipped: anything,
    size: anything,
    rank: anything,
    stats: fc.oneof(anything, fc.record({ views: anything, last: anything, more: anything }, { requiredKeys: [] })),
    list: fc.oneof(anything, fc.array(text, { maxLength: 4 })),
    places: fc.oneof(anything, fc.array(fc.record({ dataset: anything, folder: scalar }), { maxLength: 3 })),
    owner: fc.oneof(fc.constantFrom('a', 'b', 'c'), anything),
    last: anything,
  },
  { requiredKeys: ['id'] },
)
/** Several documents with the same layout, then others. */
const documents = fc
  .tuple(fc.array(document, { minLength: 1, maxLength: 4 }), fc.array(scalar, { maxLength: 3 }))
  .map(([all, others]) => [...all, ...others.map(name => ({ ...all[0], name }))])

for (const syntax of ['csv', 'json'] as const) {
  test(`${syntax === 'csv' ? 'CSV' : 'JSON'} lines made from stored JSON equal those made from documents`, t => {
    fc.assert(
      fc.property(documents, all => {
        const formatter = new RowFormatter({ syntax, columns }, found)
        for (const _ of [1, 2]) {
          for (const each of all) {
            const stored = JSON.stringify(each)
            t.is(formatter.row(stored), formatDocument({ syntax, columns }, JSON.parse(stored), found))
          }
        }
      }),
      { numRuns: 500 },
    )
  })
}

test('a document with 300,000 array items is formatted', t => {
  const long = { id: 'long', name: 'x', places: Array.from({ length: 300_000 }, (_, n) => ({ dataset: `d${n % 7}`, folder: null })) }
  const formatter = new RowFormatter({ syntax: 'csv', columns }, found)
  for (const _ of [1, 2]) t.regex(formatter.row(JSON.stringify(long)), /^"long","x",,,,,"","d0, d1, d2, d3, d4, d5, d6",/)
})
