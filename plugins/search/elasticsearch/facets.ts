import type { FacetCounts, FacetName, FacetRequest } from 'pounce/sdk/search'
import { nothing, terms } from './clause.ts'
import { compileQuery } from './compile-query.ts'
import { permittedBy } from './rights.ts'

export interface FacetAnswer {
  readonly terminated_early?: boolean
  readonly aggregations?: Readonly<
    Partial<Record<FacetName, { readonly buckets: readonly { readonly key: string; readonly doc_count: number }[] }>>
  >
}

const fields: Readonly<Record<FacetName, string>> = {
  type: 'kind',
  mediaType: 'mediaType',
  tag: 'tagList',
  space: 'spaces',
  creator: 'author',
  year: 'year',
}

/** Maximum hits counted per shard: one more than the limit of exact counts. */
const maxCounted = 10_001

/** Counts hits by their properties. */
export async function countFacets(
  { query, scope, kinds, facets, limit }: FacetRequest,
  send: (body: Readonly<Record<string, unknown>>) => Promise<FacetAnswer>,
): Promise<FacetCounts> {
  const permitted = permittedBy(scope)
  const { condition } = compileQuery(query)
  const isNothing = permitted === undefined || kinds?.length === 0 || condition === nothing
  if (isNothing || facets.length === 0 || limit === 0)
    return { counts: Object.fromEntries(facets.map(facet => [facet, []])), isExact: true }
  const order = [{ _count: 'desc' }, { _key: 'asc' }]
  const { aggregations, terminated_early: isCut } = await send({
    query: { bool: { filter: [permitted, ...(kinds ? [terms('kind', kinds)] : []), condition] } },
    size: 0,
    track_total_hits: false,
    terminate_after: maxCounted,
    aggs: Object.fromEntries(facets.map(facet => [facet, { terms: { field: fields[facet], size: limit, order } }])),
  })
  const countsOf = (facet: FacetName) =>
    (aggregations?.[facet]?.buckets ?? []).filter(({ key }) => key !== '').map(({ key: value, doc_count: count }) => ({ value, count }))
  return { counts: Object.fromEntries(facets.map(facet => [facet, countsOf(facet)])), isExact: isCut !== true }
}
