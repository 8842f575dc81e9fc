import test from 'ava'
import { Invalid, type SearchIndex, Unavailable } from 'pounce/sdk'
import type { SearchQuery, SearchRequest, SearchScope } from 'pounce/sdk/search'
import { silent } from 'pounce/sdk/testing'
import { searchDocument, searchId } from '../../../sdk/testing/search-documents.ts'
import { freshIndex, startedIndex } from '../../../test/support/fts-index.ts'

const words = ['alpha', 'beta', 'gamma', 'delta', 'epsilon']
const count = 12_000

/** Every document contains `common`; one in 5 contains each of the words, one in 1000 `rare`. */
async function* many() {
  for (let n = 1; n <= count; n += 1) {
    const rare = n % 1000 === 0 ? 'rare' : ''
    yield searchDocument(n, {
      name: `common ${words[n % 5]} ${rare} w${n.toString(36)}x`,
      metadata: [{ field: 'depth', value: n % 100 }],
      spaces: [searchId(50_000 + (n % 400))],
      created: new Date(1_700_000_000_000 + n * 1000),
    })
  }
}

const request = (text: string, over: Partial<SearchRequest> = {}): SearchRequest => ({
  query: { op: 'word', text },
  scope: { all: true },
  from: 0,
  size: 10,
  ...over,
})

const numbers = async (index: SearchIndex, over: SearchRequest): Promise<readonly number[]> =>
  (await index.search(over)).hits.map(({ id }) => Number.parseInt(id, 16))

test('searches, name lookups and facets are bounded in an index of 12,000 documents', async t => {
  const { index } = await freshIndex(t)
  await index.rebuild(many())

  const common = await index.search(request('common'))
  t.like(common, { total: 10_000, isNewestFirst: true })
  t.deepEqual(await numbers(index, request('common', { size: 3 })), [count, count - 1, count - 2])
  t.deepEqual(await numbers(index, request('common', { from: 9_000, size: 2 })), [count - 9_000, count - 9_001])

  t.like(await index.search(request('rare')), { total: 12, isNewestFirst: false })
  const both = {
    op: 'and',
    all: [
      { op: 'word', text: 'common' },
      { op: 'word', text: 'rare' },
    ],
  } as const
  t.like(await index.search({ ...request(''), query: both }), { total: 12, isNewestFirst: false })
  t.like(await index.search(request('alpha')), { total: 2400, isNewestFirst: true })

  const spaces = Array.from({ length: 300 }, (_, n) => searchId(50_000 + n))
  t.like(await index.search(request('common', { scope: { all: false, spaces, includePublic: false } })), {
    total: 9000,
    isNewestFirst: true,
  })

  const few = (
    await numbers(index, request('rare', { scope: { all: false, spaces: spaces.slice(100), includePublic: false }, size: 1000 }))
  ).map(n => n % 400)
  t.true(few.length > 0 && few.every(space => space >= 100 && space < 300))

  const sort = { by: 'depth', order: 'ascending' } as const
  t.deepEqual(await numbers(index, request('common', { sort, size: 2 })), [12_000, 11_900])
  t.deepEqual(await numbers(index, request('alpha', { sort: { by: 'created', order: 'ascending' }, size: 2 })), [5, 10])

  const named = async (text: string, scope: SearchScope) =>
    (await index.names({ text, scope, kinds: ['dataset', 'file'], limit: 10 })).map(({ id }) => Number.parseInt(id, 16))
  const oneSpace: SearchScope = { all: false, spaces: [searchId(50_007)], includePublic: false }
  t.deepEqual(
    await named('comm', oneSpace),
    Array.from({ length: 10 }, (_, n) => 11_607 - n * 400),
  )
  const newest = { by: 'created', order: 'descending' } as const
  t.deepEqual(await named('common w9', { all: true }), await numbers(index, request('w9', { size: 10, sort: newest })))
  t.deepEqual(await named('alp', { ...oneSpace, spaces: [searchId(50_001)] }), [])

  const counted = await index.facets({ query: { op: 'all' }, scope: { all: true }, facets: ['type', 'space'], limit: 1 })
  t.deepEqual(counted, {
    counts: { type: [{ value: 'file', count: 10_000 }], space: [{ value: searchId(50_000), count: 25 }] },
    isExact: false,
  })

  for (const text of ['*x', 'w*x'])
    await t.throwsAsync(index.search(request(text)), { instanceOf: Invalid, message: /Too many words match/ })
  t.like(await index.search(request('w9?x')), { total: 36 })

  await index.apply([{ put: searchDocument(1, { name: 'common', created: new Date(1_800_000_000_000) }) }])
  t.deepEqual(await numbers(index, request('common', { size: 1 })), [1])
})

test('documents with the same creation time are all found, each once across pages', async t => {
  const { index } = await freshIndex(t)
  const created = new Date('2026-03-04T05:06:07.890Z')
  const changes = Array.from({ length: 2500 }, (_, n) => ({ put: searchDocument(n + 1, { name: 'same time', created }) }))
  await index.apply(changes.slice(0, 1000))
  await index.apply(changes.slice(1000, 2000))
  await index.apply(changes.slice(2000))
  const seen = new Set<number>()
  for (let from = 0; from < 2500; from += 500) for (const n of await numbers(index, request('same', { from, size: 500 }))) seen.add(n)
  t.is(seen.size, 2500)
})

test('a search that exceeds the time limit is aborted, and the next one is served', async t => {
  const { folder, index: first } = await freshIndex(t)
  await first.rebuild(many())
  await first.dispose()
  const index = startedIndex(t, folder, silent, { timeLimitMs: 1, threadFrom: 0 })
  const slow: SearchQuery = { op: 'or', any: Array.from({ length: 200 }, (_, n) => ({ op: 'word', text: `*q${n}*z*` })) }
  await t.throwsAsync(index.search({ ...request('common'), query: slow }), { instanceOf: Unavailable, message: /timed out/ })
  await index.dispose()
  const patient = startedIndex(t, folder, silent, { timeLimitMs: 60_000, threadFrom: 0 })
  const results = await Promise.all(Array.from({ length: 20 }, () => patient.search(request('rare'))))
  t.true(results.every(({ total }) => total === 12))
})

test('the event loop is not blocked while many changes are applied', async t => {
  const { index } = await freshIndex(t)
  let turns = 0
  const timer = setInterval(() => {
    turns += 1
  }, 1)
  const text = 'some words that make work for the index '.repeat(50)
  await index.apply(Array.from({ length: 1000 }, (_, n) => ({ put: searchDocument(n + 1, { text, name: `n${n}` }) })))
  clearInterval(timer)
  t.true(turns > 5, `${turns} turns`)
})
