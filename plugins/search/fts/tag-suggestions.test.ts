import test from 'ava'
import type { SearchIndex } from 'pounce/sdk'
import type { SearchDocument, SearchScope } from 'pounce/sdk/search'
import { searchDocument, searchId } from '../../../sdk/testing/search-documents.ts'
import { SearchOracle } from '../../../sdk/testing/search-oracle.ts'
import { freshIndex } from '../../../test/support/fts-index.ts'

const count = 9000
const spaces = Array.from({ length: 30 }, (_, n) => searchId(50_000 + n))
const kinds = ['file', 'dataset', 'collection'] as const
const [ann, bob] = [searchId(60_001), searchId(60_002)]

/** Thousands of tags with a common prefix, a third capitalized: most on one document, some on many, over a thousand in a single space. */
const tagsOf = (n: number): string[] => [
  n % 3 === 0 ? `Leaf ${n}` : `leaf ${n}`,
  `leaf of ${n % 50}`,
  ...(n % 2 === 0 ? ['LEAF', 'stem'] : []),
  ...(n % 40 === 7 ? [`root ${n % 400}`] : []),
  ...(n % 29 === 28 ? ['a', 'b', 'c', 'd', 'e'].map(end => `secret ${n}${end}`) : []),
]

const tagged = (n: number, over: Partial<SearchDocument> = {}): SearchDocument =>
  searchDocument(n, {
    tags: tagsOf(n),
    kind: kinds[n % 10 === 0 ? 2 : n % 2] ?? 'file',
    spaces: [spaces[n % 29] ?? '', ...(n % 7 === 0 ? [spaces[(n * 3) % 29] ?? ''] : []), ...(n % 6000 === 11 ? [spaces[29] ?? ''] : [])],
    creator: n % 100 === 0 ? ann : bob,
    isPublic: n % 500 === 0,
    created: new Date(1_700_000_000_000 + n * 1000),
    ...over,
  })

const scopes: Readonly<Record<string, SearchScope>> = {
  everything: { all: true },
  public: { all: false, spaces: [], includePublic: true },
  'one space': { all: false, spaces: spaces.slice(3, 4), includePublic: true, author: searchId(60_003) },
  'two documents': { all: false, spaces: spaces.slice(29), includePublic: false },
  'most spaces': { all: false, spaces: spaces.slice(0, 25), includePublic: true, author: ann },
  'datasets of most spaces': {
    ...{ all: false, spaces: spaces.slice(0, 1), includePublic: false },
    inPart: [{ kinds: ['dataset'], spaces: spaces.slice(0, 20) }],
  },
  'own things within three spaces': { all: false, spaces: [], includePublic: false, author: bob, within: spaces.slice(5, 8) },
  nothing: { all: false, spaces: [], includePublic: false },
}

const filled = async (index: SearchIndex, documents: readonly SearchDocument[]): Promise<void> => {
  for (let from = 0; from < documents.length; from += 1000) await index.apply(documents.slice(from, from + 1000).map(put => ({ put })))
}

const wrongOf = async (index: SearchIndex, documents: readonly SearchDocument[]): Promise<readonly string[]> => {
  const oracle = new SearchOracle(documents)
  const oracles = kinds.map(kind => ({ kind, oracle: new SearchOracle(documents.filter(each => each.kind === kind)) }))
  const wrong: string[] = []
  for (const [who, scope] of Object.entries(scopes)) {
    for (const prefix of ['', 'leaf', 'LEAF 1', 'leaf 12', 'leaf of', 'secret', 'nothing']) {
      for (const { kind, oracle: documentsOf } of [{ kind: undefined, oracle }, ...oracles]) {
        const all = documentsOf.tags(prefix, scope)
        for (const limit of [1, 50, 10_000]) {
          const [expected, found] = [all.slice(0, limit), await index.tags(prefix, scope, limit, kind)]
          const at = expected.findIndex(({ tag, count: n }, position) => found[position]?.tag !== tag || found[position]?.count !== n)
          if (at >= 0 || expected.length !== found.length)
            wrong.push(
              `${limit} ${kind} ${prefix} for ${who}, ${at}: ${JSON.stringify([found[at], expected[at], found.length, expected.length])}`,
            )
        }
      }
    }
  }
  return wrong
}

test('with thousands of tags, each caller gets the same tags and counts as by counting all documents', async t => {
  const { index } = await freshIndex(t)
  const documents = Array.from({ length: count }, (_, n) => tagged(n + 1))
  await filled(index, documents)
  t.deepEqual(await wrongOf(index, documents), [])
})

test('tag counts follow documents that move, change kind, lose tags, are hidden or removed', async t => {
  const { index } = await freshIndex(t)
  await filled(
    index,
    Array.from({ length: count }, (_, n) => tagged(n + 1)),
  )
  const moved = Array.from({ length: count }, (_, n) => tagged(n + 1)).flatMap((document, n) => {
    if (n % 5 === 0) return [{ ...document, revision: 2, spaces: [spaces[(n + 4) % 30] ?? ''], isPublic: n % 300 === 0 }]
    if (n % 5 === 1) return [{ ...document, revision: 2, tags: ['leaf', 'Leaf'] }]
    if (n % 5 === 2) return [{ ...document, revision: 2, kind: 'dataset' as const }]
    if (n % 5 === 3) return [{ ...document, revision: 2, isListed: n % 2 === 0 }]
    return []
  })
  await filled(index, moved)
  await index.apply(Array.from({ length: count / 10 }, (_, n) => ({ remove: searchId(n * 10 + 5) })))
  const removed = new Set(Array.from({ length: count / 10 }, (_, n) => searchId(n * 10 + 5)))
  const now = new Map(Array.from({ length: count }, (_, n) => tagged(n + 1)).map(document => [document.id, document]))
  for (const document of moved) now.set(document.id, document)
  t.deepEqual(
    await wrongOf(
      index,
      [...now.values()].filter(({ id }) => !removed.has(id)),
    ),
    [],
  )
})
