import test, { type ExecutionContext } from 'ava'
import { Invalid, type Kind, type SearchIndex } from 'pounce/sdk'
import type { SearchQuery } from 'pounce/sdk/search'
import { silent } from 'pounce/sdk/testing'
import { liveTests } from '../../../sdk/testing/live-server.ts'
import { everything, field, found, put, request, word } from '../../../sdk/testing/search-documents.ts'
import { IndexNames } from './index-names.ts'
import { freshIndex, ownPrefix, startedIndex } from './test-index.ts'

const { test: live, url } = liveTests(test, 'ELASTICSEARCH')
const fresh = (t: ExecutionContext): Promise<SearchIndex> => freshIndex(t, url('ELASTICSEARCH'))

const hostile = [
  '"',
  '\\',
  '\\"',
  '*',
  '?',
  '}{',
  '\u0000\u0001\u001f\u007f',
  '\ud800 half a character \udc00',
  '\r\n{"delete":{"_index":"*"}}\r\n',
  'ﬀ ½ ⅷ ａ',
  '🏳️‍🌈',
  '<script>',
  '${jndi:ldap://x}',
  '_source',
  'x'.repeat(32_766),
  'é'.repeat(32_766),
  '観'.repeat(32_766),
  `${'a.'.repeat(3000)}b`,
  ' '.repeat(1000),
]

live('hostile strings are stored and found as values in every text field', async t => {
  const index = await fresh(t)
  const documents = hostile.map((text, n) =>
    put(n + 1, {
      name: text,
      description: text,
      creatorName: text,
      creatorEmail: text,
      createdAs: text,
      contentType: text,
      tags: [text, 'tagged'],
      comments: [text],
      metadata: [
        { field: text, value: 'v' },
        { field: 'plain', value: text },
        { field: `deep.${text}`, value: 7 },
      ],
      text,
    }),
  )
  await index.apply(documents)
  t.is((await index.search(request({ op: 'all' }))).total, hostile.length)
  for (const [n, text] of hostile.entries()) {
    for (const query of [field('name', 'equals', text), field('plain', 'equals', text), field(text, 'equals', 'v')])
      t.true((await found(index, query)).includes(n + 1), `${n} ${JSON.stringify(query).slice(0, 100)}`)
  }
  t.is((await index.fields('', everything, 1000)).filter(({ field: name }) => name === 'plain')[0]?.count, hostile.length)
  t.is((await index.tags('', everything, 1000))[0]?.count, hostile.length)
  t.true((await index.values('plain', '', everything, 1000)).length >= hostile.length - 1)
})

const patterns = ['*a'.repeat(90), '?'.repeat(200), '*?'.repeat(100), `${'a*'.repeat(50)}b`, '*'.repeat(200)]

live('expensive patterns are answered, or refused as invalid', async t => {
  const index = await fresh(t)
  await index.apply(Array.from({ length: 200 }, (_, n) => put(n + 1, { name: `${'ab'.repeat(n % 100)} word${n}` })))
  for (const text of patterns) {
    for (const query of [word(text), field('name', 'contains', text), field('x', 'contains', text)]) {
      const answer = await index.search(request(query)).catch((error: unknown) => error)
      t.true(!(answer instanceof Error) || answer instanceof Invalid, `${text.slice(0, 20)} ${String(answer)}`)
    }
  }
})

live('a phrase that ends in a short prefix is not refused, however many hidden words begin with it', async t => {
  const index = await fresh(t)
  const names = (n: number): string => Array.from({ length: 1000 }, (_, at) => `b${n}x${at}`).join(' ')
  const seen = [put(1, { name: 'grey badger', spaces: ['a'] }), put(2, { description: 'a grey badger', spaces: ['a'] })]
  await index.apply([...seen, ...Array.from({ length: 20 }, (_, n) => put(n + 3, { name: names(n) }))])
  for (const text of ['grey__b', 'grey__ba'])
    t.deepEqual(await found(index, word(text), { scope: { all: false, spaces: ['a'], includePublic: false } }), [1, 2], text)
})

live('a query nested too deeply is invalid, unless its nesting can be flattened', async t => {
  const index = await fresh(t)
  await index.apply([put(1, { name: 'alpha' })])
  const nested = (depth: number, wrap: (query: SearchQuery, at: number) => SearchQuery): SearchQuery =>
    Array.from({ length: depth }).reduce<SearchQuery>((query, _, at) => wrap(query, at), word('alpha'))
  t.deepEqual(
    await found(
      index,
      nested(59, query => ({ op: 'and', all: [query, { op: 'all' }, word('alpha')] })),
    ),
    [1],
  )
  t.deepEqual(
    await found(
      index,
      nested(58, query => ({ op: 'not', not: query })),
    ),
    [1],
  )
  const twisted = nested(58, (query, at) =>
    at % 2 ? { op: 'and', all: [word('alpha'), query] } : { op: 'or', any: [word('beta'), query] },
  )
  await t.throwsAsync(index.search(request(twisted)), { instanceOf: Invalid })
})

live('a document rejected by the server is indexed by its kind only, and the rest of its batch as usual', async t => {
  const server = url('ELASTICSEARCH')
  const prefix = ownPrefix(t, server)
  const errors: unknown[] = []
  const index = await startedIndex(t, server, { index: prefix }, { ...silent, error: (_, fields) => errors.push(fields) })
  await fetch(`${server}/${new IndexNames(prefix).live}/_settings`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: '{"index.mapping.nested_objects.limit":2}',
  })
  const numbers = [1, 2, 3].map(value => ({ field: 'n', value }))
  await index.apply([put(1, { name: 'good' }), put(2, { name: 'good', metadata: numbers }), put(3, { name: 'good' })])
  t.deepEqual(await found(index, word('good')), [1, 3])
  t.deepEqual(await found(index, { op: 'all' }), [1, 2, 3])
  t.like(errors, [{ id: put(2).put.id }])
  await index.apply([put(4, { kind: 'k'.repeat(40_000) as Kind }), put(5, { name: 'good' })])
  t.deepEqual(await found(index, word('good')), [1, 3, 5])
})

live('changes that exceed one request are all stored', async t => {
  const index = await fresh(t)
  const text = Array.from({ length: 12_000 }, (_, n) => `w${n}`).join(' ')
  await index.apply(Array.from({ length: 60 }, (_, n) => put(n + 1, { name: 'large', text })))
  t.is((await index.search(request(word('w11999')))).total, 60)
})
