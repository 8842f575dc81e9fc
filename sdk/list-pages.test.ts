import test from 'ava'
import { matcher } from './documents/matcher.ts'
import { trigramsOf } from './documents/pieces.ts'
import { answerList, listPage } from './list-pages.ts'
import type { ListQuery } from './listing.ts'
import { collection, type DocumentStore, eq, type Find, type Page, type Stored } from './ports/document-store.ts'

interface Thing {
  readonly name: string
  readonly state: string
  readonly created: string
  readonly spaces: readonly string[]
}
const things = collection<Thing>()('things')
const thing = (n: number, name: string, space = 's'): Thing & Stored => ({
  id: n.toString(16).padStart(24, '0'),
  revision: 1,
  name,
  state: 'live',
  created: new Date(1.6e12 + n).toISOString(),
  spaces: [space],
})

/** A store that scans everything, newest first, respects maxScanned and maxCharacters, and records its queries. */
const storeOf = (all: readonly (Thing & Stored)[]) => {
  const requested: Find[] = []
  const newest = [...all].sort((a, b) => (a.created < b.created ? 1 : -1))
  const find = async (_from: unknown, query: Find): Promise<Page<Thing & Stored>> => {
    requested.push(query)
    const fits = matcher(query.where)
    const isListed = matcher({
      op: 'and',
      all: query.where?.op === 'and' ? query.where.all.filter(part => part.op !== 'contains') : [],
    })
    const items: (Thing & Stored)[] = []
    let maxScanned = query.maxScanned ?? Number.POSITIVE_INFINITY
    let maxCharacters = query.maxCharacters ?? Number.POSITIVE_INFINITY
    const started = newest.filter(one => query.after === undefined || one.created < String(query.after[0]))
    for (const one of started) {
      if (!isListed(one)) continue
      if (fits(one)) {
        items.push(one)
        maxCharacters -= JSON.stringify(one).length
      } else maxScanned--
      if (items.length === query.limit || maxScanned === 0 || maxCharacters <= 0) return { items, next: [one.created, one.id] }
    }
    return { items }
  }
  const count = async (_from: unknown, { where, upTo }: Pick<Find, 'where'> & { readonly upTo: number }) =>
    Math.min(upTo, all.filter(matcher(where)).length)
  return { requested, documents: { find, count } as unknown as DocumentStore }
}

const source = (documents: DocumentStore, where = [] as Parameters<typeof listPage>[0]['where']) => ({
  documents,
  from: things,
  using: 'byCreated',
  where,
})

test('a title is searched by its rarest trigram, and nothing else is read', async t => {
  const { requested, documents } = storeOf([...Array.from({ length: 1200 }, (_, n) => thing(n, `common ${n}`)), thing(5000, 'Common Rye')])
  const page = await listPage(source(documents), { title: 'mon rYE', limit: 10 })
  t.deepEqual(
    page.items.map(({ name }) => name),
    ['Common Rye'],
  )
  t.is(requested.length, 1)
  t.is(requested[0]?.using, 'byNamePiece')
  t.true(JSON.stringify(requested[0]?.where).includes('["rye",""]'))
})

test('a search for common trigrams without match ends after a bounded scan, with a cursor', async t => {
  const { requested, documents } = storeOf(Array.from({ length: 20_000 }, (_, n) => thing(n, n % 2 === 0 ? 'abcd' : 'bcde')))
  const query: ListQuery = { title: 'abcde', limit: 10 }
  const page = await listPage(source(documents), query)
  t.deepEqual(page.items, [])
  t.truthy(page.next)
  t.is(requested.length, 8)
  t.true(requested.every(({ maxScanned }) => maxScanned === 1000))
  let after = page.next
  let pages = 1
  while (after) {
    after = (await listPage(source(documents), { ...query, after })).next
    pages++
  }
  t.is(pages, 2)
})

test('if little is visible, that is scanned instead of a common trigram', async t => {
  const all = Array.from({ length: 3000 }, (_, n) => thing(n, 'abcde', n === 7 ? 'mine' : 's'))
  const { requested, documents } = storeOf(all)
  const page = await listPage(source(documents, [eq('spaces', 'mine')]), { title: 'bcd', limit: 10 })
  t.is(page.items.length, 1)
  t.deepEqual(
    requested.map(({ using }) => using),
    ['byCreated'],
  )
})

test('a short title is found by a scan, a whole name by its own index', async t => {
  const { requested, documents } = storeOf([thing(1, 'ab'), thing(2, 'xabx'), thing(3, 'b')])
  t.is((await listPage(source(documents), { title: 'AB', limit: 10 })).items.length, 2)
  t.is((await listPage(source(documents), { title: 'ab', exact: true, limit: 10 })).items.length, 1)
  t.deepEqual(
    requested.map(({ using }) => using),
    ['byCreated', 'byName'],
  )
})

test('trigrams consist of code points and are distinct', t => {
  t.deepEqual(trigramsOf('AbaBA'), ['aba', 'bab'])
  t.deepEqual(trigramsOf('😀é中'), ['😀é中'])
  t.deepEqual(trigramsOf('Soil of\ta b  plot'), ['soi', 'oil', 'plo', 'lot'])
  t.deepEqual(trigramsOf('ab cd'), [])
})

test('without a limit all items are streamed, newest first in either direction', async t => {
  const all = Array.from({ length: 1203 }, (_, n) => thing(n, 'n'))
  const { requested, documents } = storeOf(all)
  for (const when of ['a', 'b']) {
    requested.length = 0
    const date = when === 'a' ? '2100-01-01T00:00:00Z' : '2000-01-01T00:00:00Z'
    const shown = {
      read: (query: ListQuery) => listPage(source(documents), query),
      show: (some: readonly (Thing & Stored)[]) => some.map(({ id }) => id),
      baseUrl: '',
      url: new URL('http://any/'),
    }
    const { body, headers } = await answerList({ limit: 0, when, date }, shown)
    t.is(headers, undefined)
    t.deepEqual(await Array.fromAsync(body), all.map(({ id }) => id).reverse())
    t.true(requested.every(({ limit, sort }) => limit === 500 && sort?.order === 'descending'))
    t.is(requested.length, 3)
  }
})

test('a page of large records is short and has a cursor, and a whole list is read in small parts', async t => {
  const mebibyte = 1024 * 1024
  const all = Array.from({ length: 40 }, (_, n) => ({ ...thing(n, 'x'), spaces: ['s'.repeat(mebibyte)] }))
  const { documents } = storeOf(all)
  const page = await listPage(source(documents), { limit: 1000 })
  t.deepEqual([page.items.length, page.next?.[1]], [16, page.items.at(-1)?.id])
  const parts: number[] = []
  const { body } = await answerList(
    { limit: 0 },
    {
      read: query => listPage(source(documents), query),
      show: items => {
        parts.push(items.length)
        return items.map(({ id }) => id)
      },
      baseUrl: 'https://data.example.org',
      url: new URL('https://data.example.org/api/things?limit=0'),
    },
  )
  t.deepEqual(await Array.fromAsync(body as AsyncIterable<string>), all.map(({ id }) => id).toReversed())
  t.deepEqual(new Set(parts), new Set([2, 0]))
})
