import type { SearchScope } from '../ports/policy.ts'
import {
  type FacetCounts,
  type FacetName,
  type FacetRequest,
  facetNames,
  type NameRequest,
  type SearchIndex,
  type SearchQuery,
} from '../ports/search-index.ts'
import { Invalid } from '../problem.ts'
import type { ContractTest, TestContext } from './any-runner.ts'
import { everything, field, put, request, searchId, word } from './search-documents.ts'

type MakeIndex = (t: TestContext) => Promise<SearchIndex>

/** Suggestions, name search and counts of an index. Part of `searchIndexContract`. */
export function searchCountsContract(test: ContractTest, makeIndex: MakeIndex): void {
  suggesting(test, makeIndex)
  naming(test, makeIndex)
  counting(test, makeIndex)
}

function suggesting(test: ContractTest, makeIndex: MakeIndex): void {
  test('fields and tags are counted once per document, most used first', async t => {
    const index = await makeIndex(t)
    const depth = { field: 'soil.depth', value: 3 }
    await index.apply([
      put(1, { tags: ['soil', 'Sand', 'soil'], metadata: [depth, { ...depth, value: 4 }, { field: 'soil.ph', value: 7 }] }),
      put(2, { tags: ['soil'], metadata: [depth] }),
      put(3, { tags: ['water'], metadata: [{ field: 'Site', value: 'x' }] }),
    ])
    t.deepEqual(await index.fields('soil', everything, 10), [
      { field: 'soil.depth', count: 2 },
      { field: 'soil.ph', count: 1 },
    ])
    t.is((await index.fields('', everything, 2)).length, 2)
    t.deepEqual(await index.tags('s', everything, 10), [
      { tag: 'soil', count: 2 },
      { tag: 'Sand', count: 1 },
    ])
    t.deepEqual(await index.tags('', everything, 1), [{ tag: 'soil', count: 2 }])
    await index.apply([put(4, { kind: 'collection', tags: ['soil'] })])
    t.deepEqual(await index.tags('s', everything, 10, 'collection'), [{ tag: 'soil', count: 1 }])
    t.deepEqual(await index.tags('s', { all: false, spaces: [], includePublic: false }, 10, 'collection'), [])
    await index.apply([{ remove: searchId(4) }])
    await index.apply([{ remove: searchId(1) }])
    t.deepEqual(await index.fields('soil', everything, 10), [{ field: 'soil.depth', count: 1 }])
    t.deepEqual(await index.tags('s', everything, 10), [{ tag: 'soil', count: 1 }])
  })

  test('what is equally frequent is ordered by code point', async t => {
    const index = await makeIndex(t)
    const inOrder = ['B', 'a', 'é', '\uff01', '\u{1f600}']
    await index.apply([put(1, { tags: inOrder.toReversed(), metadata: inOrder.map(value => ({ field: 'v', value })) })])
    await index.apply([put(2, { metadata: inOrder.toReversed().map(name => ({ field: name, value: 'x' })) })])
    t.deepEqual(
      (await index.tags('', everything, 10)).map(({ tag }) => tag),
      inOrder,
    )
    t.deepEqual(
      (await index.fields('', everything, 10)).map(({ field: name }) => name).filter(name => name !== 'v'),
      inOrder,
    )
    const { counts } = await index.facets({ query: { op: 'all' }, scope: everything, facets: ['tag'], limit: 10 })
    t.deepEqual(
      counts.tag?.map(({ value }) => value),
      inOrder,
    )
  })

  test('a value is counted once per document, in however many fields of the name it is', async t => {
    const index = await makeIndex(t)
    const twice = (value: string | number) => ['north.v', 'south.v'].map(name => ({ field: name, value }))
    await index.apply([
      put(1, { metadata: [...twice('same'), ...twice(7)] }),
      put(2, { metadata: [{ field: 'v', value: 'Same' }, ...twice('other')] }),
    ])
    const values = await index.values('v', '', everything, 10)
    t.deepEqual(
      values.map(({ value, count }) => `${value} ${count}`.toLowerCase()),
      ['same 2', '7 1', 'other 1'],
    )
    t.is((await index.values('v', '', everything, 2)).length, 2)
  })
}

function counting(test: ContractTest, makeIndex: MakeIndex): void {
  const [ann, bob] = [searchId(800), searchId(801)]
  const [north, south] = [searchId(700), searchId(701)]
  const documents = [
    put(1, {
      name: 'plot',
      contentType: 'Image/PNG',
      tags: ['oak', 'leaf', 'oak'],
      spaces: [north, south],
      childOf: [north, south],
      creator: ann,
    }),
    put(2, { name: 'plot', contentType: 'image/png', tags: ['leaf'], spaces: [north], childOf: [north], creator: bob }),
    put(3, {
      name: 'plot',
      contentType: 'text/csv; charset=utf-8',
      isPublic: true,
      creator: ann,
      created: new Date('2024-12-31T23:59:59.999Z'),
    }),
    put(4, {
      name: 'plot',
      kind: 'dataset',
      tags: ['Éclair'],
      spaces: [south],
      childOf: [south],
      creator: bob,
      created: new Date('2025-01-01T00:00:00Z'),
    }),
    put(5, { name: 'other', kind: 'collection', tags: ['oak'], isPublic: true }),
    put(6, { name: 'plot', tags: ['oak'], isListed: false }),
  ]
  const requested = (over: Partial<FacetRequest> = {}): FacetRequest => ({
    query: word('plot'),
    scope: everything,
    facets: facetNames,
    limit: 20,
    ...over,
  })
  const started = async (t: TestContext): Promise<SearchIndex> => {
    const index = await makeIndex(t)
    await index.apply(documents)
    return index
  }
  /** `leaf 2, oak 1`. */
  const shown = ({ counts }: FacetCounts) =>
    Object.fromEntries(
      Object.entries(counts).map(([facet, values]) => [facet, values.map(({ value, count }) => `${value} ${count}`).join(', ')]),
    )

  test('hits are counted by their properties, most used first', async t => {
    const index = await started(t)
    const counts = await index.facets(requested())
    t.true(counts.isExact)
    t.deepEqual(shown(counts), {
      type: 'file 3, dataset 1',
      mediaType: 'image/png 2, text/csv; charset=utf-8 1',
      tag: 'leaf 2, oak 1, Éclair 1',
      space: `${north} 2, ${south} 2`,
      creator: `${ann} 2, ${bob} 2`,
      year: '2026 2, 2024 1, 2025 1',
    })
    t.deepEqual(shown(await index.facets(requested({ facets: ['tag', 'type'], limit: 1 }))), { tag: 'leaf 2', type: 'file 3' })
    t.deepEqual(shown(await index.facets(requested({ facets: ['type'], query: { op: 'all' }, kinds: ['collection', 'dataset'] }))), {
      type: 'collection 1, dataset 1',
    })
    t.deepEqual(await index.facets(requested({ facets: ['tag'], query: word('absent') })), { counts: { tag: [] }, isExact: true })
    t.deepEqual(await index.facets(requested({ facets: ['tag'], kinds: [] })), { counts: { tag: [] }, isExact: true })
    t.deepEqual(await index.facets(requested({ facets: [] })), { counts: {}, isExact: true })
    await t.throwsAsync(index.facets(requested({ limit: 1001 })), { instanceOf: Invalid })
  })

  test('a search for a counted value finds that number of hits', async t => {
    const index = await started(t)
    const { counts } = await index.facets(requested())
    const queryFor: Readonly<Record<FacetName, (value: string) => SearchQuery>> = {
      type: value => field('resource_type', 'equals', value),
      mediaType: value => field('content_type', 'equals', value),
      tag: value => field('tag', 'equals', value),
      space: value => field('in', 'equals', value),
      creator: value => field('creator', 'equals', value),
      year: value => field('created', 'equals', value),
    }
    for (const facet of facetNames) {
      for (const { value, count } of counts[facet] ?? []) {
        const query: SearchQuery = { op: 'and', all: [word('plot'), queryFor[facet](value)] }
        t.is((await index.search(request(query))).total, count, `${facet} ${value}`)
      }
    }
  })

  test('hidden documents are not counted', async t => {
    const index = await started(t)
    const tagsFor = async (scope: SearchScope, query: SearchQuery = { op: 'all' }) =>
      shown(await index.facets(requested({ scope, query, facets: ['tag'] })))['tag']
    t.is(await tagsFor({ all: false, spaces: [south], includePublic: false }), 'leaf 1, oak 1, Éclair 1')
    t.is(await tagsFor({ all: false, spaces: [south], includePublic: false, within: [north] }), 'leaf 1, oak 1')
    t.is(await tagsFor({ all: false, spaces: [], author: bob, includePublic: true }), 'leaf 1, oak 1, Éclair 1')
    t.is(await tagsFor({ all: false, spaces: [], includePublic: false }), '')
    t.is(await tagsFor({ all: false, spaces: [], includePublic: true }, { op: 'ids', ids: [1, 2, 5].map(searchId) }), 'oak 1')
  })

  test('counts follow changes', async t => {
    const index = await started(t)
    await index.apply([put(1, { name: 'plot', tags: ['oak'], revision: 2 }), { remove: searchId(2) }])
    t.is(shown(await index.facets(requested({ facets: ['tag'] })))['tag'], 'oak 1, Éclair 1')
  })
}

function naming(test: ContractTest, makeIndex: MakeIndex): void {
  const requested = (text: string, over: Partial<NameRequest> = {}): NameRequest => ({
    text,
    scope: everything,
    kinds: ['collection', 'dataset', 'file'],
    limit: 3,
    ...over,
  })
  const named = async (index: SearchIndex, request: NameRequest) =>
    (await index.names(request)).map(({ id, kind }) => `${kind} ${Number.parseInt(id, 16)}`)

  test('names are found by word prefixes, newest first, up to the limit per kind', async t => {
    const index = await makeIndex(t)
    await index.apply([
      ...Array.from({ length: 5 }, (_, n) => put(n + 1, { name: `Soil sample ${n}.csv`, tags: ['oak'], description: 'moor' })),
      put(10, { kind: 'dataset', name: 'Sämple of soils' }),
      put(11, { kind: 'collection', name: 'Nothing', description: 'soil sample' }),
      put(12, { kind: 'sensor', name: 'Soil sample' }),
      put(13, { name: 'soil sample in the trash', isListed: false }),
      put(14, { name: '観測データ' }),
    ])
    t.deepEqual(await named(index, requested('soil')), ['dataset 10', 'file 5', 'file 4', 'file 3'])
    t.deepEqual(await named(index, requested('sam SOI')), ['dataset 10', 'file 5', 'file 4', 'file 3'])
    t.deepEqual(await named(index, requested('soil', { kinds: ['file', 'dataset'], limit: 1 })), ['file 5', 'dataset 10'])
    t.deepEqual(await named(index, requested('soil 3')), ['file 4'])
    t.deepEqual(await named(index, requested('so')), ['dataset 10', 'file 5', 'file 4', 'file 3'])
    t.deepEqual(await named(index, requested('観')), ['file 14'])
    for (const text of ['s', 'oil', 'oak', 'moor', 'soilsample', '', ' -"*', 'name:soil'])
      t.deepEqual(await named(index, requested(text)), [], text)
    t.deepEqual(await named(index, requested('soil', { kinds: [] })), [])
    await t.throwsAsync(index.names(requested('soil', { limit: 101 })), { instanceOf: Invalid })
  })

  test('a name is only found by a caller who may see the resource, however many newer ones are hidden', async t => {
    const index = await makeIndex(t)
    const [own, other] = [searchId(700), searchId(701)]
    await index.apply([
      put(1, { name: 'heron', spaces: [own] }),
      put(2, { name: 'heron', kind: 'dataset', spaces: [own], creator: searchId(801) }),
      put(3, { name: 'heron', isPublic: true }),
      ...Array.from({ length: 20 }, (_, n) => put(n + 10, { name: 'heron', spaces: [other] })),
    ])
    const scoped = (scope: SearchScope) => named(index, requested('heron', { scope }))
    t.deepEqual(await scoped({ all: false, spaces: [own], includePublic: false }), ['dataset 2', 'file 1'])
    t.deepEqual(await scoped({ all: false, spaces: [], author: searchId(801), includePublic: true }), ['dataset 2', 'file 3'])
    t.deepEqual(await scoped({ all: false, spaces: [own], includePublic: true, within: [other] }), [])
    t.deepEqual(await scoped({ all: false, spaces: [], includePublic: false }), [])
    const inPart = [{ kinds: ['dataset'] as const, spaces: [own] }]
    t.deepEqual(await scoped({ all: false, spaces: [], includePublic: false, inPart }), ['dataset 2'])
  })
}
