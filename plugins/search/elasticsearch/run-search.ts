import { Invalid } from 'pounce/sdk'
import type { SearchHits, SearchRequest } from 'pounce/sdk/search'
import { type Clause, nothing, terms } from './clause.ts'
import { sortByValue } from './compile-comparison.ts'
import { compileQuery, isPlace, sortable } from './compile-query.ts'
import { isFixedField, metadataPath, pathKey } from './field-keys.ts'
import { permittedBy } from './rights.ts'

/** With more hits than this they are not ranked, but sorted newest first. */
export const maxRanked = 2000
const maxCounted = 10_000

export interface SearchAnswer {
  readonly timed_out: boolean
  readonly hits: {
    readonly total: { readonly value: number }
    readonly hits: readonly {
      readonly _id: string
      readonly fields?: { readonly kind?: readonly string[] }
      readonly sort?: readonly (string | number | null)[]
    }[]
  }
}

/** Queries the server; see its search API. */
export type SendSearch = (body: Readonly<Record<string, unknown>>) => Promise<SearchAnswer>

type Sort = readonly Clause[]

const none: SearchHits = { hits: [], total: 0, isNewestFirst: false }
export const newestFirst: Sort = [{ created: 'desc' }, { key: 'desc' }]
const oldestFirst: Sort = [{ created: 'asc' }, { key: 'asc' }]

/** Runs a search. Throws `Invalid` for an unsupported query. */
export async function runSearch(request: SearchRequest, send: SendSearch): Promise<SearchHits> {
  const { query, scope, kinds, sort } = request
  const permitted = permittedBy(scope)
  const { condition, scored } = compileQuery(query)
  if (permitted === undefined || kinds?.length === 0 || condition === nothing) return none
  const filter = [permitted, ...(kinds ? [terms('kind', kinds)] : []), condition]
  const by = sort?.by ?? 'score'
  const isAscending = sort?.order === 'ascending'
  const plain = { bool: { filter } }
  if (by === 'created') return hitsOf(await send(bodyOf(request, plain, isAscending ? oldestFirst : newestFirst)))
  if (by !== 'score') return runSorted(request, plain, permitted, send)
  const newest = await send(bodyOf(request, plain, newestFirst))
  const { value: total } = newest.hits.total
  if (scored.length === 0 || total === 0) return hitsOf(newest)
  if (total > maxRanked) return { ...hitsOf(newest), isNewestFirst: true }
  if (total === 1 && request.from === 0) return hitsOf(newest)
  const ranked = { bool: { filter, should: scored, minimum_should_match: 0 } }
  const best = isAscending ? [{ _score: 'asc' }, ...oldestFirst] : [{ _score: 'desc' }, ...newestFirst]
  return hitsOf(await send(bodyOf(request, ranked, best)))
}

async function runSorted(request: SearchRequest, query: Clause, permitted: Clause, send: SendSearch): Promise<SearchHits> {
  const by = request.sort?.by ?? ''
  const order = request.sort?.order === 'ascending' ? 'asc' : 'desc'
  const answer = await send(bodyOf(request, query, [sortByValue(pathKey(metadataPath(by)), order), ...newestFirst]))
  const isText = isFixedField(by) || isPlace(by)
  const isKnown = !isText && request.from === 0 && isNumber(answer.hits.hits[0]?.sort?.[0])
  if (answer.hits.total.value > 0 && !isKnown && (isText || !(await isSortable(by, permitted, send))))
    throw new Invalid(`Results cannot be sorted by ${by}; use score, created, or a metadata field that is a number or a date`)
  return hitsOf(answer)
}

/** For a document without a value the server returns an infinite or maximal sort value. */
const isNumber = (value: string | number | null | undefined): boolean => typeof value === 'number' && Math.abs(value) < Number.MAX_VALUE

/** Whether the caller may view an entry with such a value. */
async function isSortable(by: string, permitted: Clause, send: SendSearch): Promise<boolean> {
  const query = { bool: { filter: [permitted, sortable(by)] } }
  return (await send({ query, size: 0, track_total_hits: 1, terminate_after: 1 })).hits.total.value > 0
}

const bodyOf = ({ from, size }: SearchRequest, query: Clause, sort: Sort): Readonly<Record<string, unknown>> => ({
  query,
  sort,
  from,
  size,
  track_total_hits: maxCounted,
  _source: false,
  docvalue_fields: ['kind'],
})

const hitsOf = ({ hits }: SearchAnswer): SearchHits => ({
  hits: hits.hits.map(({ _id: id, fields }) => ({ id, kind: fields?.kind?.[0] as SearchHits['hits'][number]['kind'] })),
  total: Math.min(hits.total.value, maxCounted),
  isNewestFirst: false,
})
