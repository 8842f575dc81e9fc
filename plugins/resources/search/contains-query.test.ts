import test from 'ava'
import { Invalid } from 'pounce/sdk'
import type { SearchQuery } from 'pounce/sdk/search'
import { readQuery } from 'pounce/sdk/search/language'
import { searchId } from '../../../sdk/testing/search-documents.ts'
import { contentsIn, withContainers } from './contains-query.ts'

const many = (count: number): readonly string[] => Array.from({ length: count }, (_, n) => searchId(n))
const ids = (...list: readonly string[]): SearchQuery => ({ op: 'ids', ids: list })

test('a query without contains is unchanged', t => {
  const query = readQuery('leaf (depth>3 OR in:x) NOT metadata.contains:y exists:tag')
  t.deepEqual(contentsIn(query), [])
  t.deepEqual(withContainers(query, new Map()), query)
})

test('each id is returned once, at any position', t => {
  t.deepEqual(contentsIn(readQuery('contains:a|b (contains==" b " OR NOT contains!=c) contains:"d e"')), ['a', 'b', 'c', 'd e'])
})

test('comparisons are replaced by the ids of the containers, each once', t => {
  const containers = new Map([
    ['a', ['1', '2']],
    ['b', ['2', '3']],
  ])
  t.deepEqual(withContainers(readQuery('contains:a|b|c'), containers), ids('1', '2', '3'))
  t.deepEqual(withContainers(readQuery('contains:c'), containers), ids())
  t.deepEqual(withContainers(readQuery('x NOT contains:a'), containers), {
    op: 'and',
    all: [readQuery('x'), { op: 'not', not: ids('1', '2') }],
  })
})

test('a query has at most 1,000 ids', t => {
  const containers = new Map([
    ['a', many(1000)],
    ['b', many(1001)],
  ])
  t.deepEqual(withContainers(readQuery('contains:a'), containers), ids(...many(1000)))
  for (const text of ['contains:b', 'contains:a contains!=a'])
    t.throws(() => withContainers(readQuery(text), containers), { instanceOf: Invalid, message: /ids; the maximum is 1000/ }, text)
})

test('other comparisons of `contains` are refused', t => {
  for (const text of ['exists:contains', 'missing:contains', 'contains:**', 'contains:x|*', 'contains:/x/'])
    t.throws(() => contentsIn(readQuery(text)), { instanceOf: Invalid, message: /must be the id of a resource/ }, text)
})
