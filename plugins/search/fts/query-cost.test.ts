import test from 'ava'
import { Unavailable } from 'pounce/sdk'
import type { SearchQuery } from 'pounce/sdk/search'
import { silent } from 'pounce/sdk/testing'
import { put, request } from '../../../sdk/testing/search-documents.ts'
import { freshIndex, startedIndex } from '../../../test/support/fts-index.ts'
import { isCheap } from './query-cost.ts'

const isQuick = (query: SearchQuery): boolean => isCheap({ type: 'search', request: request(query) })
const word = (text: string): SearchQuery => ({ op: 'word', text })

test('a query that reads much of a small index is also subject to the time limit', async t => {
  const { index, folder } = await freshIndex(t)
  const field = (n: number): string => `site${n % 500}.depth`
  for (let from = 1; from <= 1500; from += 100) {
    await index.apply(Array.from({ length: 100 }, (_, n) => put(from + n, { metadata: [{ field: field(from + n), value: from + n }] })))
  }
  await index.dispose()
  const limited = startedIndex(t, folder, silent, { timeLimitMs: 50, threadFrom: 5000 })
  const deep = (n: number): SearchQuery => ({ op: 'field', field: 'depth', is: 'more', values: [n] })
  const all = Array.from({ length: 200 }, (_, n) => deep(n))
  await t.throwsAsync(limited.search(request({ op: 'and', all })), { instanceOf: Unavailable, message: /timed out/ })
})

test('queries of a few words run in the main thread, and queries whose cost depends on the data in a worker thread', t => {
  t.true(isQuick({ op: 'all' }))
  t.true(isQuick(word('leaf area index')))
  t.true(isQuick({ op: 'and', all: [word('leaf'), { op: 'not', not: { op: 'field', field: 'tag', is: 'contains', values: ['oaks'] } }] }))
  t.false(isQuick(word('*af')))
  t.false(isQuick(word('a b')))
  t.false(isQuick(word('leaf area index of oaks')))
  t.false(isQuick({ op: 'field', field: 'depth', is: 'more', values: [3] }))
  t.false(isQuick({ op: 'exists', field: 'depth' }))
  t.false(isQuick({ op: 'regex', regex: { is: 'text', text: 'leaf' } }))
  t.false(isCheap({ type: 'values', field: 'depth', prefix: '', scope: { all: true }, limit: 10 }))
})
