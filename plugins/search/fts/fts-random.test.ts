import test from 'ava'
import fc from 'fast-check'
import { Invalid } from 'pounce/sdk'
import type { SearchQuery, SearchRequest } from 'pounce/sdk/search'
import { readRegex } from 'pounce/sdk/search/language'
import { usualOrFull } from 'pounce/sdk/testing'
import { corpusScopes, searchCorpus } from '../../../sdk/testing/search-corpus.ts'
import { searchId, streamOf } from '../../../sdk/testing/search-documents.ts'
import { SearchOracle } from '../../../sdk/testing/search-oracle.ts'
import { freshIndex } from '../../../test/support/fts-index.ts'

const documents = searchCorpus(150)

const text = fc.constantFrom(
  ...[
    'soil',
    'so',
    'grass prairie',
    'prairie grass',
    '*urve*',
    's?mple',
    '*',
    '2019',
    '0',
    '12.5',
    '1',
    'true',
    'x',
    '',
    '-',
    'csv',
    '観測',
    '🌱',
    'Zürich',
    'eos',
    'quercus robur',
    'long end',
  ],
)
const value = fc.oneof(
  text,
  fc.constantFrom<string | number | Date>(
    1,
    12.5,
    640,
    7,
    -3,
    '640',
    '2021-04-19',
    '2021-04-19T10:30:00Z',
    new Date('2021-04-19T00:00:00Z'),
    '1e0',
    '12345678901234567890',
  ),
)
const field = fc.constantFrom(
  ...[
    'name',
    'description',
    'tag',
    'comment',
    'creator',
    'email',
    'created_as',
    'content_type',
    'resource_type',
    'width',
    'image.width',
    'metadata.name',
    'depth',
    'site.label',
    'label',
    'lat',
    'taken',
    'species',
    'levels',
    'mixed',
    'flag',
    'note',
    'serial',
    'nothing',
    'camera.model',
  ],
)
const metadata = fc.constantFrom(
  'width',
  'image.width',
  'depth',
  'lat',
  'taken',
  'species',
  'levels',
  'mixed',
  'model',
  'big',
  'serial',
  'nothing',
)
const regex = fc.constantFrom('soil', '^s', 'e$', '^.{2}$', '[0-3]$', '(co|re)', '^[^a-z]+$', 'quercus').map(source => readRegex(source))

const leaf: fc.Arbitrary<SearchQuery> = fc.oneof(
  fc.constant<SearchQuery>({ op: 'all' }),
  text.map((of): SearchQuery => ({ op: 'word', text: of })),
  fc.record({ op: fc.constant('phrase' as const), text, field }),
  text.map((of): SearchQuery => ({ op: 'phrase', text: of })),
  fc.record({ op: fc.constant('regex' as const), regex, field }),
  regex.map((of): SearchQuery => ({ op: 'regex', regex: of })),
  fc.record({
    op: fc.constant('field' as const),
    field,
    is: fc.constantFrom('contains' as const, 'equals' as const, 'differs' as const),
    values: fc.array(value, { maxLength: 3 }),
  }),
  fc.record({
    op: fc.constant('field' as const),
    field: metadata,
    is: fc.constantFrom('less' as const, 'atMost' as const, 'more' as const, 'atLeast' as const),
    values: fc.array(value, { minLength: 1, maxLength: 2 }),
  }),
  fc
    .constantFrom('2025', '2024-12', '2025-01-15')
    .chain(day =>
      fc
        .constantFrom('contains' as const, 'less' as const, 'atLeast' as const, 'differs' as const)
        .map((is): SearchQuery => ({ op: 'field', field: 'created', is, values: [day] })),
    ),
  fc.record({ op: fc.constant('ids' as const), ids: fc.array(fc.nat(documents.length + 2).map(searchId), { maxLength: 200 }) }),
  fc.record({
    op: fc.constantFrom('exists' as const, 'missing' as const),
    field: fc.oneof(field, fc.constantFrom('site', 'image', 'in', 'created')),
  }),
)

const query = fc.letrec<{ query: SearchQuery }>(tie => ({
  query: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    leaf,
    fc.array(tie('query'), { maxLength: 3 }).map((all): SearchQuery => ({ op: 'and', all })),
    fc.array(tie('query'), { maxLength: 3 }).map((any): SearchQuery => ({ op: 'or', any })),
    tie('query').map((not): SearchQuery => ({ op: 'not', not })),
  ),
})).query

const sort = fc.constantFrom<SearchRequest['sort']>(
  undefined,
  ...(['created', 'depth', 'width', 'levels', 'taken', 'mixed'] as const).flatMap(by => [
    { by, order: 'ascending' } as const,
    { by, order: 'descending' } as const,
  ]),
)

test('random queries return the same results as a scan of all documents', async t => {
  const { index } = await freshIndex(t)
  await index.rebuild(streamOf(documents))
  const oracle = new SearchOracle(documents)
  let found = 0
  await t.notThrowsAsync(
    fc.assert(
      fc.asyncProperty(query, fc.constantFrom(...Object.values(corpusScopes)), sort, fc.nat(60), async (requested, scope, by, from) => {
        const isSorted = by !== undefined
        const request: SearchRequest = {
          query: requested,
          scope,
          from: isSorted ? from : 0,
          size: isSorted ? 50 : 1000,
          ...(by ? { sort: by } : {}),
        }
        const expected = oracle.search(request)
        if (by && expected.total > 0 && !oracle.isSortable(by.by, scope))
          return index.search(request).then(
            () => false,
            error => error instanceof Invalid,
          )
        const hits = await index.search(request)
        const ids = hits.hits.map(({ id }) => id)
        found += ids.length
        return (
          hits.total === expected.total &&
          (isSorted ? ids : ids.sort()).join() === (isSorted ? expected.ids : [...expected.ids].sort()).join()
        )
      }),
      { numRuns: Number(process.env['POUNCE_FUZZ_RUNS'] ?? usualOrFull(250, 1000)), includeErrorInReport: true },
    ),
  )
  t.true(found > 1000, `${found} hits`)
})
