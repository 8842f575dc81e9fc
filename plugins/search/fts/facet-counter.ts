import { compareText } from 'pounce/sdk/kit'
import type { FacetCounts, FacetName, FacetRequest } from 'pounce/sdk/search'
import type { PreparedStatements } from './prepared-statements.ts'
import type { SearchRun } from './run-search.ts'
import { msOfRid } from './schema.ts'

/** Maximum number of hits counted, newest first. */
const maxCounted = 10_000

type Counts = Map<string, number>

/** Columns of the table of documents. */
const columns: Readonly<Partial<Record<FacetName, string>>> = { type: 'kind', mediaType: 'type', creator: 'author', space: 'spaces' }

/** Counts the newest hits of a search by their properties. */
export class FacetCounter {
  readonly #statements: PreparedStatements
  readonly #run: SearchRun

  constructor(statements: PreparedStatements, run: SearchRun) {
    this.#statements = statements
    this.#run = run
  }

  count({ facets, limit, ...request }: FacetRequest): FacetCounts {
    const found = this.#run.newest(request, maxCounted + 1)
    const rids = found.slice(0, maxCounted)
    const counts = this.#ofDocuments(facets, rids)
    if (facets.includes('tag')) counts.set('tag', this.#ofTags(rids))
    if (facets.includes('year')) counts.set('year', ofYears(rids))
    return {
      counts: Object.fromEntries(facets.map(facet => [facet, topCounts(counts.get(facet) ?? new Map(), limit)])),
      isExact: found.length <= maxCounted,
    }
  }

  /** Counted in JavaScript: grouping in SQL takes several times as long. */
  #ofDocuments(facets: readonly FacetName[], rids: readonly number[]): Map<FacetName, Counts> {
    const knownFacets = facets.filter(facet => columns[facet] !== undefined)
    const counts = new Map(knownFacets.map(facet => [facet, new Map() as Counts]))
    if (knownFacets.length === 0) return counts
    const statement = this.#statements.of(`SELECT ${knownFacets.map(facet => columns[facet]).join(', ')} FROM doc WHERE rid = ?`)
    statement.setReturnArrays(true)
    const perColumn = knownFacets.map(facet => counts.get(facet) ?? new Map())
    for (const rid of rids) {
      const values = statement.get(rid) as readonly string[] | undefined
      if (values) for (const [at, value] of values.entries()) add(perColumn[at] as Counts, value)
    }
    const spaces = counts.get('space')
    if (spaces) counts.set('space', splitLists(spaces))
    return counts
  }

  #ofTags(rids: readonly number[]): Counts {
    const counts: Counts = new Map()
    const statement = this.#statements.of('SELECT tag FROM tag WHERE doc = ?')
    statement.setReturnArrays(true)
    for (const rid of rids) for (const [tag] of statement.all(rid) as unknown as readonly (readonly string[])[]) add(counts, tag ?? '')
    return counts
  }
}

const add = (counts: Counts, value: string, count = 1): void => void counts.set(value, (counts.get(value) ?? 0) + count)

/** Splits the lists of spaces, which are JSON. Many documents have the same list, so each is parsed once. */
function splitLists(lists: Counts): Counts {
  const counts: Counts = new Map()
  for (const [list, count] of lists) for (const id of JSON.parse(list) as readonly string[]) add(counts, id, count)
  return counts
}

function ofYears(rids: readonly number[]): Counts {
  const counts: Counts = new Map()
  for (const rid of rids) add(counts, String(new Date(msOfRid(rid)).getUTCFullYear()))
  return counts
}

const topCounts = (counts: Counts, limit: number): readonly { readonly value: string; readonly count: number }[] =>
  [...counts]
    .filter(([value]) => value !== '')
    .map(([value, count]) => ({ value, count }))
    .sort((a, b) => b.count - a.count || compareText(a.value, b.value))
    .slice(0, limit)
