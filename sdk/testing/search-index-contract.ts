import type { SearchScope } from '../ports/policy.ts'
import type { SearchDocument, SearchIndex, SearchQuery } from '../ports/search-index.ts'
import { Invalid } from '../problem.ts'
import { readRegex } from '../search/read-regex.ts'
import { type ContractTest, contractTest, type TestContext, type TestRunner } from './any-runner.ts'
import { searchCountsContract } from './search-counts-contract.ts'
import { day, everything, field, found, numbers, put, request, searchId, start, word } from './search-documents.ts'
import { searchQueryContract } from './search-query-contract.ts'
import { searchRebuildContract } from './search-rebuild-contract.ts'

const [north, south, west] = [searchId(700), searchId(701), searchId(702)]

/** Returns a fresh, empty, started index; may use `t.teardown`. */
export type MakeSearchIndex = (t: TestContext) => Promise<SearchIndex>

/** The contract of SearchIndex. Run it in a test file of the implementation. */
export function searchIndexContract(runner: TestRunner, makeIndex: MakeSearchIndex): void {
  const test = contractTest(runner)
  changing(test, makeIndex)
  searchQueryContract(test, makeIndex)
  permitting(test, makeIndex)
  ordering(test, makeIndex)
  searchCountsContract(test, makeIndex)
  searchRebuildContract(test, makeIndex)
}

function changing(test: ContractTest, makeIndex: MakeSearchIndex): void {
  test('a document is found as soon as apply resolves, and after a change only by its new words', async t => {
    const index = await makeIndex(t)
    await index.apply([put(1, { name: 'first harvest' })])
    t.deepEqual(await index.search(request(word('harvest'))), { hits: [{ id: searchId(1), kind: 'file' }], total: 1, isNewestFirst: false })
    await index.apply([put(1, { name: 'second', revision: 2, kind: 'dataset' })])
    t.deepEqual(await found(index, word('harvest')), [])
    t.deepEqual((await index.search(request(word('second')))).hits, [{ id: searchId(1), kind: 'dataset' }])
  })

  test('applying is idempotent, and an older revision is ignored', async t => {
    const index = await makeIndex(t)
    const newer = put(1, { name: 'newer', revision: 5, tags: ['x'], metadata: [{ field: 'depth', value: 3 }] })
    await index.apply([newer, newer])
    await index.apply([newer])
    await index.apply([put(1, { name: 'older', revision: 4 })])
    t.deepEqual(await found(index, word('older')), [])
    t.like(await index.search(request({ op: 'all' })), { total: 1 })
    t.deepEqual(await index.tags('', everything, 10), [{ tag: 'x', count: 1 }])
    t.deepEqual(await index.fields('', everything, 10), [{ field: 'depth', count: 1 }])
  })

  test('the same revision with different content replaces the entry', async t => {
    const index = await makeIndex(t)
    await index.apply([put(1, { comments: ['before'] })])
    await index.apply([put(1, { comments: ['after'] })])
    t.deepEqual(await found(index, word('before')), [])
    t.deepEqual(await found(index, word('after')), [1])
  })

  test('a removed document is not restored by late changes', async t => {
    const index = await makeIndex(t)
    await index.apply([put(1, { name: 'gone', tags: ['t'] }), { remove: searchId(1) }, { remove: searchId(2) }])
    await index.apply([put(1, { name: 'gone', revision: 99 }), put(2, { name: 'gone too' }), { remove: searchId(1) }])
    t.like(await index.search(request({ op: 'all' })), { total: 0 })
    t.deepEqual(await index.tags('', everything, 10), [])
  })

  test('an unlisted document is not found until it is listed again at the same revision', async t => {
    const index = await makeIndex(t)
    const contents = { name: 'trash', tags: ['t'], metadata: [{ field: 'f', value: 1 }] }
    await index.apply([put(1, contents), put(1, { ...contents, isListed: false }), put(2, { ...contents, isListed: false })])
    for (const query of [
      word('trash'),
      { op: 'all' },
      field('f', 'equals', 1),
      field('f', 'more', 0),
      field('created', 'more', new Date(0)),
      { op: 'ids', ids: [searchId(1), searchId(2)] },
      { op: 'or', any: [word('other'), { op: 'ids', ids: [searchId(1)] }] },
    ] as const) {
      t.like(await index.search(request(query)), { hits: [], total: 0 })
    }
    t.deepEqual(await index.tags('', everything, 10), [])
    t.deepEqual(await index.fields('', everything, 10), [])
    await index.apply([put(1, contents), put(2, contents)])
    t.deepEqual(await found(index, word('trash')), [1, 2])
  })

  test('concurrent changes are all applied', async t => {
    const index = await makeIndex(t)
    await Promise.all(Array.from({ length: 50 }, (_, n) => index.apply([put(n + 1, { name: `report ${n}` })])))
    t.is((await index.search(request(word('report'), { size: 0 }))).total, 50)
    await Promise.all(Array.from({ length: 50 }, (_, n) => index.apply([{ remove: searchId(n + 1) }])))
    t.is((await index.search(request(word('report'), { size: 0 }))).total, 0)
  })

  test('clear empties the index, which then accepts documents again', async t => {
    const index = await makeIndex(t)
    await index.apply([put(1, { name: 'one' }), put(2), { remove: searchId(2) }])
    await index.clear()
    t.deepEqual(await found(index, { op: 'all' }), [])
    await index.apply([put(1, { name: 'one' })])
    t.deepEqual(await found(index, word('one')), [1])
  })

  test('a thousand changes can be applied in one call', async t => {
    const index = await makeIndex(t)
    await index.apply(Array.from({ length: 1000 }, (_, n) => put(n + 1, { name: 'report' })))
    t.is((await index.search(request(word('report'), { size: 0 }))).total, 1000)
    t.deepEqual(await found(index, { op: 'ids', ids: [searchId(1), searchId(1000)] }), [1, 1000])
  })

  test('an empty list of changes is no error', async t => {
    const index = await makeIndex(t)
    await t.notThrowsAsync(index.apply([]))
  })
}

function permitting(test: ContractTest, makeIndex: MakeSearchIndex): void {
  const [ann, bob] = [searchId(800), searchId(801)]
  const plot = (n: number, over: Partial<SearchDocument>) =>
    put(n, { name: 'plot', creator: bob, metadata: ['v', `only${n}`].map(name => ({ field: name, value: n })), ...over })
  const documents = [
    plot(1, { spaces: [north], creator: ann, tags: ['n'] }),
    plot(2, { spaces: [south], tags: ['s'] }),
    plot(3, { spaces: [north, south], tags: ['n', 's'] }),
    plot(4, { isPublic: true, tags: ['p'] }),
    plot(5, { creator: ann, tags: ['own'] }),
    plot(6, { kind: 'collection', spaces: [west], tags: ['w'] }),
  ]
  const cases: readonly (readonly [string, SearchScope, readonly number[], readonly string[]])[] = [
    ['everything', everything, [1, 2, 3, 4, 5, 6], ['n', 'own', 'p', 's', 'w']],
    ['one space', { all: false, spaces: [north], includePublic: false }, [1, 3], ['n', 's']],
    ['two spaces', { all: false, spaces: [north, south], includePublic: false }, [1, 2, 3], ['n', 's']],
    ['own', { all: false, spaces: [], author: ann, includePublic: false }, [1, 5], ['n', 'own']],
    ['public', { all: false, spaces: [], includePublic: true }, [4], ['p']],
    ['public, of a closed kind', { all: false, spaces: [], includePublic: true, closedKinds: ['file'] }, [], []],
    ['public, with other kinds closed', { all: false, spaces: [], includePublic: true, closedKinds: ['sensor', 'stream'] }, [4], ['p']],
    ['own, of a closed kind', { all: false, spaces: [], author: ann, includePublic: true, closedKinds: ['file'] }, [1, 5], ['n', 'own']],
    ['a space, own and public', { all: false, spaces: [south], author: ann, includePublic: true }, [1, 2, 3, 4, 5], ['n', 'own', 'p', 's']],
    [
      'one kind in spaces',
      { all: false, spaces: [], includePublic: false, inPart: [{ kinds: ['collection'], spaces: [south, west] }] },
      [6],
      ['w'],
    ],
    ['no kind in a space', { all: false, spaces: [], includePublic: false, inPart: [{ kinds: [], spaces: [south] }] }, [], []],
    ['a key for one space', { all: false, spaces: [south], author: ann, includePublic: true, within: [north] }, [1, 3], ['n', 's']],
    ['a key for a space of others', { all: false, spaces: [south], includePublic: true, within: [west] }, [], []],
    ['a key for no space', { all: false, spaces: [south], includePublic: true, within: [] }, [], []],
    ['nothing', { all: false, spaces: [], includePublic: false }, [], []],
    ['an unknown space', { all: false, spaces: [searchId(999)], includePublic: false }, [], []],
    ['invalid ids', { all: false, spaces: ['" OR _all', '*', ''], author: '', includePublic: false }, [], []],
  ]
  for (const [title, scope, expected, tags] of cases) {
    test(`a search finds exactly the documents in its scope: ${title}`, async t => {
      const index = await makeIndex(t)
      await index.apply(documents)
      const queries: readonly SearchQuery[] = [
        word('plot'),
        { op: 'all' },
        { op: 'or', any: [word('plot'), { op: 'all' }] },
        { op: 'not', not: word('absent') },
        field('v', 'atLeast', 1),
        { op: 'or', any: [field('v', 'atLeast', 1), word('plot')] },
        { op: 'not', not: field('v', 'more', 100) },
        { op: 'missing', field: 'absent' },
      ]
      for (const query of queries) {
        t.deepEqual(await found(index, query, { scope }), expected, JSON.stringify(query))
        t.is((await index.search(request(query, { scope, size: 0 }))).total, expected.length)
        const sorted = await index.search(request(query, { scope, sort: { by: 'v', order: 'ascending' } }))
        t.deepEqual(numbers(sorted), expected)
      }
      t.deepEqual((await index.tags('', scope, 100)).map(({ tag }) => tag).sort(), tags)
      const fieldsSeen = (await index.fields('only', scope, 100)).map(({ field: name, count }) => `${name} ${count}`)
      t.deepEqual(
        fieldsSeen,
        expected.map(n => `only${n} 1`),
        'fields',
      )
      const valuesSeen = (await index.values('v', '', scope, 100)).map(({ value, count }) => `${value} ${count}`)
      t.deepEqual(
        valuesSeen,
        expected.map(n => `${n} 1`),
        'values',
      )
      const valuesOfPrefix = (await index.values('v', '1', scope, 100)).map(({ value }) => value)
      t.deepEqual(
        valuesOfPrefix,
        expected.filter(n => n === 1),
        'values that start with 1',
      )
      const facets = { query: word('plot'), scope, facets: ['tag', 'type'], limit: 100 } as const
      const { counts } = await index.facets(facets)
      t.deepEqual((counts.tag ?? []).map(({ value }) => value).sort(), tags, 'counted tags')
      t.is(
        (counts.type ?? []).reduce((sum, { count }) => sum + count, 0),
        expected.length,
        'counted hits',
      )
      const named = await index.names({ text: 'plot', scope, kinds: ['file', 'collection'], limit: 100 })
      t.deepEqual(named.map(({ id }) => Number.parseInt(id, 16)).sort(), expected, 'names')
      const visible: SearchQuery = { op: 'visible', scope }
      t.deepEqual(await found(index, visible), expected)
      t.deepEqual(
        await found(index, { op: 'and', all: [word('plot'), { op: 'not', not: visible }] }),
        [1, 2, 3, 4, 5, 6].filter(n => !expected.includes(n)),
      )
      const own: SearchQuery = { op: 'or', any: [{ op: 'and', all: [visible, field('v', 'atLeast', 1)] }, field('tag', 'equals', 'own')] }
      t.deepEqual(await found(index, own), [...new Set([...expected, 5])].sort())
    })
  }

  test('a field or pattern is found despite any number of hidden fields and words that match it', async t => {
    const index = await makeIndex(t)
    const scope: SearchScope = { all: false, spaces: [south], includePublic: false }
    const [own, hidden] = [{ spaces: [south] }, { spaces: [north], creator: ann }]
    const levels = [...Array(501).keys()].map(n => ({ field: `sample${n}.salinity`, value: n }))
    const terms = [...Array(2100).keys()].map(n => `w${n}zzyx`).join(' ')
    await index.apply([
      put(1, { ...own, name: 'plot', description: 'ownzzyx', metadata: [{ field: 'salinity', value: 12 }] }),
      put(2, { ...own, name: 'plot', metadata: [{ field: 'site.salinity', value: 3 }] }),
      ...[3, 4].map(n => put(n, { ...hidden, name: 'plot', text: terms, metadata: [...levels, { field: 'code', value: terms }] })),
      put(5, { ...own, name: 'plot', metadata: [{ field: 'code', value: 'ownzzyx' }] }),
    ])
    const expression = { op: 'regex', regex: readRegex('zzyx$') } as const
    const cases: readonly (readonly [SearchQuery, readonly number[]])[] = [
      [field('salinity', 'more', 5), [1]],
      [field('salinity', 'contains', '12'), [1]],
      [field('salinity', 'contains', '*2*'), [1]],
      [field('salinity', 'atLeast', 0), [1, 2]],
      [{ op: 'exists', field: 'salinity' }, [1, 2]],
      [{ op: 'missing', field: 'salinity' }, [5]],
      [word('*zzyx'), [1, 5]],
      [field('code', 'contains', '*zzyx'), [5]],
      [expression, [1, 5]],
      [{ ...expression, field: 'code' }, [5]],
    ]
    for (const [query, expected] of cases) t.deepEqual(await found(index, query, { scope }), expected, JSON.stringify(query))
    t.deepEqual(await index.values('salinity', '', scope, 10), [
      { value: 12, count: 1 },
      { value: 3, count: 1 },
    ])
    const sorted = await index.search(request(word('plot'), { scope, sort: { by: 'salinity', order: 'ascending' } }))
    t.deepEqual(numbers(sorted), [2, 1, 5])
  })

  test('whether results can be sorted by a field does not depend on hidden documents', async t => {
    const index = await makeIndex(t)
    const scope: SearchScope = { all: false, spaces: [south], includePublic: false }
    const sorted = (query: SearchQuery) => index.search(request(query, { scope, sort: { by: 'dose', order: 'ascending' } }))
    await index.apply([put(1, { name: 'plot', spaces: [south], metadata: [{ field: 'dose', value: 'none' }] })])
    const isSame = async () => {
      await t.throwsAsync(sorted(word('plot')), { instanceOf: Invalid })
      t.deepEqual(await sorted(word('absent')), { hits: [], total: 0, isNewestFirst: false })
    }
    await isSame()
    await index.apply([put(2, { name: 'plot', spaces: [north], metadata: [{ field: 'dose', value: 3 }] })])
    await isSame()
    await index.apply([put(3, { name: 'plot', spaces: [south], metadata: [{ field: 'dose', value: 2 }] })])
    t.deepEqual(numbers(await sorted(word('plot'))), [3, 1])
  })

  test('changed rights take effect immediately', async t => {
    const index = await makeIndex(t)
    await index.apply(documents)
    await index.apply([put(1, { name: 'plot', spaces: [south], creator: ann, revision: 2 })])
    t.deepEqual(await found(index, word('plot'), { scope: { all: false, spaces: [north], includePublic: false } }), [3])
  })
}

function ordering(test: ContractTest, makeIndex: MakeSearchIndex): void {
  test('a hit in the name ranks before one in the text, and equal hits are sorted newest first', async t => {
    const index = await makeIndex(t)
    const filler = 'nothing of interest '.repeat(50)
    await index.apply([
      put(1, { name: 'glacier' }),
      put(2, { name: 'survey', text: `${filler} glacier ${filler}` }),
      put(3, { name: 'same words' }),
      put(4, { name: 'same words' }),
      ...Array.from({ length: 20 }, (_, n) => put(10 + n, { name: 'something else' })),
    ])
    t.deepEqual(numbers(await index.search(request(word('glacier')))), [1, 2])
    t.deepEqual(numbers(await index.search(request(word('same')))), [4, 3])
    t.deepEqual(numbers(await index.search(request({ op: 'all' }, { size: 2 }))), [29, 28])
  })

  test('hits are ranked by the field that matches, whole words before beginnings of words', async t => {
    const index = await makeIndex(t)
    await index.apply([
      put(1, { text: 'a glacier' }),
      put(2, { comments: ['a glacier'] }),
      put(3, { description: 'a glacier' }),
      put(4, { name: 'glaciers' }),
      put(5, { tags: ['glacier'] }),
      put(6, { name: 'glacier' }),
      put(7, { text: 'glaciers' }),
    ])
    t.deepEqual(numbers(await index.search(request(word('glacier')))), [6, 5, 4, 3, 2, 1, 7])
    t.deepEqual(numbers(await index.search(request(field('name', 'contains', 'glacier')))), [6, 4])
    const both: SearchQuery = { op: 'and', all: [word('a'), { op: 'phrase', text: 'glacier' }] }
    t.deepEqual(numbers(await index.search(request(both))), [3, 2, 1])
  })

  test('the order of hits does not depend on hidden documents', async t => {
    const index = await makeIndex(t)
    const scope: SearchScope = { all: false, spaces: [south], includePublic: false }
    const queries: readonly SearchQuery[] = [
      { op: 'or', any: [word('quartz'), word('feldspar')] },
      { op: 'or', any: [{ op: 'phrase', text: 'quartz' }, field('name', 'contains', 'feldspar')] },
      { op: 'regex', regex: readRegex('quartz|feldspar') },
      word('*a*'),
    ]
    const orders = async (): Promise<readonly (readonly number[])[]> => {
      const found = await Promise.all(queries.map(query => index.search(request(query, { scope }))))
      return found.map(numbers)
    }
    await index.apply([
      put(1, { name: 'feldspar', spaces: [south], text: 'a long explanation of minerals' }),
      put(2, { name: 'quartz', spaces: [south] }),
      put(3, { name: 'feldspar', spaces: [south] }),
      ...Array.from({ length: 6 }, (_, n) => put(10 + n, { name: 'slate', spaces: [south] })),
    ])
    const before = await orders()
    await index.apply(
      Array.from({ length: 8 }, (_, n) => put(100 + n, { name: 'feldspar', spaces: [north], text: 'much more '.repeat(200) })),
    )
    t.deepEqual(await orders(), before)
    await index.apply(Array.from({ length: 40 }, (_, n) => put(200 + n, { name: 'quartz', spaces: [north] })))
    t.deepEqual(await orders(), before)
  })

  test('words that are only searched within a scope do not rank hits outside of it', async t => {
    const index = await makeIndex(t)
    await index.apply([put(1, { name: 'plot', spaces: [north], comments: ['zebra'] }), put(2, { name: 'plot', spaces: [south] })])
    const visible: SearchQuery = { op: 'visible', scope: { all: false, spaces: [south], includePublic: false } }
    const inside: SearchQuery = { op: 'and', all: [visible, { op: 'or', any: [word('plot'), word('zebra')] }] }
    const outside: SearchQuery = { op: 'and', all: [{ op: 'not', not: visible }, word('plot')] }
    t.deepEqual(numbers(await index.search(request({ op: 'or', any: [inside, outside] }))), [2, 1])
  })

  test('documents are sorted by creation, in either order', async t => {
    const index = await makeIndex(t)
    const order = [5, 3, 9, 1, 7]
    await index.apply(order.map(n => put(n)))
    const all = (how: 'ascending' | 'descending') => index.search(request({ op: 'all' }, { sort: { by: 'created', order: how } }))
    t.deepEqual(numbers(await all('ascending')), [1, 3, 5, 7, 9])
    t.deepEqual(numbers(await all('descending')), [9, 7, 5, 3, 1])
  })

  test('documents are sorted by numbers and dates of metadata, in either order, those without a value last', async t => {
    const index = await makeIndex(t)
    const values = [30, 4, undefined, 200, undefined, -1]
    await index.apply(
      values.map((value, at) =>
        put(at + 1, {
          metadata:
            value === undefined
              ? []
              : [
                  { field: 'a.depth', value },
                  { field: 'when', value: new Date(start + value * day) },
                ],
        }),
      ),
    )
    for (const by of ['a.depth', 'depth', 'metadata.a.depth', 'when']) {
      const sorted = async (order: 'ascending' | 'descending') =>
        numbers(await index.search(request({ op: 'all' }, { sort: { by, order } })))
      t.deepEqual((await sorted('ascending')).slice(0, 4), [6, 2, 1, 4], by)
      t.deepEqual([...(await sorted('ascending')).slice(4)].sort(), [3, 5], by)
      t.deepEqual((await sorted('descending')).slice(0, 4), [4, 1, 2, 6], by)
      t.deepEqual([...(await sorted('descending')).slice(4)].sort(), [3, 5], by)
      const window = await index.search(request({ op: 'all' }, { sort: { by, order: 'ascending' }, from: 3, size: 2 }))
      t.is(numbers(window)[0], 4)
      t.is(window.hits.length, 2)
      t.is(window.total, 6)
    }
  })

  test('sorting by text or by an unknown field is invalid', async t => {
    const index = await makeIndex(t)
    const metadata = [
      { field: 'label', value: 'x' },
      { field: 'name', value: 3 },
    ]
    await index.apply([put(1, { name: 'a', metadata })])
    t.is((await index.search(request({ op: 'all' }, { sort: { by: 'metadata.name', order: 'ascending' } }))).total, 1)
    for (const by of ['name', 'label', 'nowhere', 'created; --', '']) {
      await t.throwsAsync(index.search(request({ op: 'all' }, { sort: { by, order: 'ascending' } })), { instanceOf: Invalid }, by)
    }
  })

  test('consecutive windows have no gaps or duplicates, and a constant total', async t => {
    const index = await makeIndex(t)
    await index.apply(
      Array.from({ length: 95 }, (_, n) => put(n + 1, { name: n % 2 ? 'even row' : 'odd row', metadata: [{ field: 'n', value: n % 10 }] })),
    )
    const sorts = [undefined, { by: 'created', order: 'ascending' }, { by: 'n', order: 'descending' }] as const
    for (const sort of sorts) {
      const seen: number[] = []
      for (let from = 0; from < 110; from += 10) {
        const hits = await index.search(request(word('row'), { from, size: 10, ...(sort ? { sort } : {}) }))
        t.is(hits.total, 95)
        seen.push(...numbers(hits))
      }
      t.is(seen.length, 95)
      t.is(new Set(seen).size, 95)
    }
  })

  test('a window outside the limits is invalid', async t => {
    const index = await makeIndex(t)
    for (const window of [{ from: -1 }, { from: 10_001 }, { size: -1 }, { size: 1001 }, { from: 0.5 }, { size: Number.NaN }]) {
      await t.throwsAsync(index.search(request({ op: 'all' }, window)), { instanceOf: Invalid }, JSON.stringify(window))
    }
    t.deepEqual(await index.search(request({ op: 'all' }, { from: 10_000 })), { hits: [], total: 0, isNewestFirst: false })
  })
}
