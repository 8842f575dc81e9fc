import type { SearchScope } from '../ports/policy.ts'
import type { SearchDocument, SearchIndex, SearchQuery, SearchRequest } from '../ports/search-index.ts'
import { readQuery } from '../search/language.ts'
import { contractTest, type TestContext, type TestRunner } from './any-runner.ts'
import { corpusScopes, searchCorpus, seeded } from './search-corpus.ts'
import { corpusQueries, corpusSorts, corpusTexts } from './search-corpus-queries.ts'
import { everything, request, searchId, streamOf } from './search-documents.ts'
import { SearchOracle, suggested } from './search-oracle.ts'

type MakeIndex = (t: TestContext) => Promise<SearchIndex>

const page = 1000

/** Checks that an index finds exactly the documents that a full scan of a corpus finds. Part of `searchIndexContract`. */
export function searchCorpusContract(runner: TestRunner, makeIndex: MakeIndex): void {
  const test = contractTest(runner)
  test('every query of the corpus finds what a full scan finds, for any caller', async t => {
    const documents = searchCorpus()
    const index = await makeIndex(t)
    await index.rebuild(streamOf(documents))
    const oracle = new SearchOracle(documents)
    const queries = [
      ...corpusTexts.map(text => [text, readQuery(text)] as const),
      ...corpusQueries.map(query => [JSON.stringify(query), query] as const),
    ]
    t.true(documents.length >= 2000 && queries.length >= 150, `${queries.length} queries`)
    const others = Object.values(corpusScopes).slice(1)
    const wrong: string[] = []
    let selective = 0
    for (const [at, [title, query]] of queries.entries()) {
      for (const scope of [everything, others[at % others.length] ?? everything]) {
        const expected = oracle.search(request(query, { scope, size: documents.length }))
        if (expected.total > 0 && expected.total < documents.length) selective += 1
        const difference = differenceOf([...expected.ids].sort(), [...(await allHits(index, query, scope))].sort())
        if (difference) wrong.push(`${title}: ${difference}`)
      }
    }
    t.deepEqual(wrong, [])
    t.true(selective > queries.length, `${selective} searches find some but not all documents`)
  })

  test('a corpus indexed in batches, out of order and twice gives the same order, pages and suggestions', async t => {
    const documents = searchCorpus()
    const index = await makeIndex(t)
    const kept = await applyInPieces(index, documents)
    const oracle = new SearchOracle(kept)
    t.deepEqual(await wrongSorts(index, oracle), [])
    t.deepEqual(await wrongSuggestions(index, oracle), [])
  })
}

async function allHits(index: SearchIndex, query: SearchQuery, scope: SearchScope): Promise<readonly string[]> {
  const ids: string[] = []
  for (let from = 0; ; from += page) {
    const { hits, total } = await index.search(request(query, { scope, from, size: page }))
    ids.push(...hits.map(({ id }) => id))
    if (from === 0 && total > 10 * page) throw new Error('The corpus is larger than a total can be')
    if (hits.length < page) return ids.length === total ? ids : [...ids, `but a total of ${total}`]
  }
}

function differenceOf(expected: readonly string[], found: readonly string[]): string | undefined {
  if (expected.join() === found.join()) return undefined
  const missing = expected.filter(id => !found.includes(id))
  const extra = found.filter(id => !expected.includes(id))
  const some = (ids: readonly string[]): string =>
    `${ids.length} (${ids
      .slice(0, 3)
      .map(id => id.replace(/^0+/, ''))
      .join(' ')})`
  return `${expected.length} expected, ${some(missing)} missing, ${some(extra)} too many${missing.length + extra.length === 0 ? ', in another order' : ''}`
}

/** Applies documents shuffled, some after an older revision or followed by a stale one, and removes some. */
async function applyInPieces(index: SearchIndex, documents: readonly SearchDocument[]): Promise<readonly SearchDocument[]> {
  const random = seeded(7)
  const shuffled = documents.map(document => [random(), document] as const).sort(([a], [b]) => a - b)
  const changes = shuffled.flatMap(([roll, document]) => {
    const put = { put: document }
    if (roll < 0.1) return [{ put: { ...document, revision: 1, name: 'older', metadata: [], tags: ['older'] } }, put]
    if (roll < 0.2) return [put, { put: { ...document, revision: 4, name: 'late', tags: ['late'] } }]
    return roll < 0.25 ? [put, { remove: document.id }] : [put]
  })
  for (let at = 0; at < changes.length; at += 500) await index.apply(changes.slice(at, at + 500))
  return shuffled.flatMap(([roll, document]) => (roll >= 0.2 && roll < 0.25 ? [] : [document]))
}

async function wrongSorts(index: SearchIndex, oracle: SearchOracle): Promise<readonly string[]> {
  const wrong: string[] = []
  const windows = [
    { from: 0, size: 1000 },
    { from: 90, size: 40 },
    { from: 5000, size: 10 },
    { from: 0, size: 0 },
  ]
  const scopes = Object.entries(corpusScopes)
  for (const [at, [text, sort]] of corpusSorts.entries()) {
    const [who, scope] = scopes[at % scopes.length] ?? ['everything', everything]
    const window = windows[at % windows.length] ?? { from: 0, size: 10 }
    const requested: SearchRequest = {
      query: readQuery(text),
      scope,
      sort,
      ...window,
      ...(at % 5 === 0 ? { kinds: ['dataset', 'file'] as const } : {}),
    }
    const [expected, { hits, total }] = [oracle.search(requested), await index.search(requested)]
    const found = hits.map(({ id }) => id)
    const difference = total === expected.total ? differenceOf(expected.ids, found) : `a total of ${total} instead of ${expected.total}`
    if (difference) wrong.push(`${text} for ${who} by ${sort.by} ${sort.order} from ${window.from}: ${difference}`)
  }
  return wrong
}

async function wrongSuggestions(index: SearchIndex, oracle: SearchOracle): Promise<readonly string[]> {
  const wrong: string[] = []
  const compare = (title: string, expected: unknown, found: unknown): void => {
    if (JSON.stringify(expected) !== JSON.stringify(found))
      wrong.push(`${title}: ${JSON.stringify(found)} instead of ${JSON.stringify(expected)}`)
  }
  for (const [who, scope] of Object.entries(corpusScopes)) {
    for (const prefix of ['', 'tr', 'q', 'PRAIRIE', 'ü', '🌱', 'older', '%'])
      compare(`tags ${prefix} for ${who}`, oracle.tags(prefix, scope), await index.tags(prefix, scope, 1000))
    for (const prefix of ['', 'wid', 'site', 'Camera', 'site.loc', 'funding i', 'idth'])
      compare(`fields ${prefix} for ${who}`, oracle.fields(prefix, scope), await index.fields(prefix, scope, 1000))
    for (const [name, prefix] of [
      ['model', ''],
      ['model', 'EO'],
      ['species', 'quer'],
      ['label', ''],
      ['depth', ''],
      ['depth', '1'],
      ['taken', '2021-04-19'],
      ['mixed', ''],
      ['width', '64'],
      ['nothing', ''],
    ] as const) {
      const found = (await index.values(name, prefix, scope, 1000)).map(({ value, count }) => [suggested(value), count])
      compare(`values of ${name} ${prefix} for ${who}`, oracle.values(name, prefix, scope), found)
    }
  }
  const few = await index.values('species', '', everything, 2)
  if (few.length !== 2) wrong.push('a limit of 2 gives 2 values')
  if ((await index.search(request({ op: 'exists', field: 'tag' }, { kinds: ['space'] }))).total !== 0)
    wrong.push(`a kind without documents has ${searchId(0)}`)
  return wrong
}
