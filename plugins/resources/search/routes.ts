import { Invalid, type Kind, type Request, routesFor, s, Unavailable } from 'pounce/sdk'
import { type FacetParameter, facetParameters, isFacet, ShownFacets } from './facet-service.ts'
import { SearchHit } from './full-view.ts'
import { searchLimits } from './search-limits.ts'
import { type SearchPage, SearchService } from './search-service.ts'

const route = routesFor('search', { searching: SearchService })

const text = (maxLength: number) => s.Optional(s.String({ maxLength }))
const id = () => s.Optional(s.String({ maxLength: 24 }))
const window = {
  from: s.Optional(s.Integer({ minimum: 0, maximum: searchLimits.maxOffset })),
  size: s.Integer({ default: 240, minimum: 0, maximum: searchLimits.maxPageSize, description: 'Number of hits per page' }),
  page: s.Optional(s.Integer({ minimum: 0, maximum: 10_000, description: 'Page number, from 0; `from` takes precedence' })),
}
const query = s.Object({
  query: s.String({
    default: '',
    maxLength: searchLimits.maxQueryLength,
    description: 'Words, "phrases", and fields: `depth>=12 tag:leaf created:2021-04-19`',
  }),
  resource_type: s.Optional(
    s.String({ maxLength: 50, description: '`file`, `dataset`, `collection`, `sensor`, `stream`, or a kind of a plugin' }),
  ),
  datasetid: id(),
  collectionid: id(),
  spaceid: id(),
  folderid: id(),
  field: text(200),
  tag: text(200),
  created: text(30),
  ...window,
  facets: s.Optional(
    s.String({
      maxLength: 200,
      description: `Count all hits by these: ${facetParameters.join(', ')}, separated by commas; 20 values each`,
    }),
  ),
  sort: text(200),
  order: s.Optional(s.String({ pattern: '^([aA][sS][cC]|[dD][eE][sS][cC])$' })),
  view: s.Optional(s.Literal('full', { description: 'Hits as `SearchHit`, with location, author and matching values' })),
})
const jsonQuery = s.Object({
  query: s.String({ maxLength: 100_000, description: 'JSON: `[{"field_key":"metadata.depth","operator":">=","field_value":"12"}]`' }),
  grouping: s.Union([s.Literal('AND'), s.Literal('OR')], { default: 'AND', description: 'Whether all items or any item must match' }),
  ...window,
})
const page = {
  count: s.Integer(),
  size: s.Integer({ description: 'Number of hits on this page' }),
  scanned_size: s.Integer(),
  from: s.Integer(),
  total_size: s.Integer({
    description:
      'Number of hits, without those found to be hidden from the caller so far; exact up to 10,000. Use `next` to page, not this',
  }),
  newest_first: s.Optional(s.Boolean({ description: 'Set if there were too many hits to rank' })),
  first: s.Optional(s.String()),
  prev: s.Optional(s.String()),
  next: s.Optional(s.String()),
  last: s.Optional(s.String()),
  facets: s.Optional(ShownFacets),
}
const sensorHit = { id: s.String(), name: s.String(), created: s.v1Date() }
const SensorHit = s.model('SensorHit', s.Object({ ...sensorHit, resource_type: s.Literal('sensor') }))
const StreamHit = s.model('StreamHit', s.Object({ ...sensorHit, sensor_id: s.String(), resource_type: s.Literal('stream') }))
/** As rendered by the plugin of each kind (`Searchable`). */
const hit = s.Union([s.otherModel('FileSummary'), s.otherModel('Dataset'), s.otherModel('Collection'), SensorHit, StreamHit], {
  [s.discriminator]: {
    member: 'resource_type',
    models: { file: 'FileSummary', dataset: 'Dataset', collection: 'Collection', sensor: 'SensorHit', stream: 'StreamHit' },
  },
})
const result = s.model('SearchResult', s.Object({ results: s.Array(hit), ...page }))
const fullResult = s.model('FullSearchResult', s.Object({ results: s.Array(SearchHit), ...page }))
type Window = { readonly from?: number; readonly size: number; readonly page?: number }

const kindsOf = (
  { resource_type: type, datasetid }: { readonly resource_type?: string; readonly datasetid?: string },
  known: readonly Kind[],
): readonly Kind[] => {
  const kind = known.find(each => each === type)
  if (kind !== undefined) return [kind]
  if (type !== undefined && type.trim() !== '') throw new Invalid(`resource_type must be one of ${known.join(', ')}`)
  return datasetid ? ['file'] : known
}

const sortOf = ({ sort, order }: { readonly sort?: string; readonly order?: string }) => {
  if (sort === undefined && order === undefined) return {}
  const by = sort === undefined || sort.trim() === '' ? 'created' : sort.trim()
  return { sort: { by, order: order?.toLowerCase() === 'desc' ? ('descending' as const) : ('ascending' as const) } }
}

const facetsOf = ({ facets = '' }: { readonly facets?: string }): readonly FacetParameter[] => {
  const names = facets.split(',').map(name => name.trim())
  const wanted = new Set(names.filter(name => name !== ''))
  for (const name of wanted) if (!isFacet(name)) throw new Invalid(`Unknown facet ${name.slice(0, 50)}; use ${facetParameters.join(', ')}`)
  return facetParameters.filter(name => wanted.has(name))
}

const startOf = ({ from, size, page }: Window): number => {
  const start = from ?? (page ?? 0) * size
  if (start > 10_000) throw new Invalid('Paging is limited to the first 10,000 hits: narrow the query')
  return start
}

/** URLs of the neighbouring pages: the same query with another window. */
const linksFor = (url: URL, from: number, size: number, scanned: number, total: number) => {
  const at = (start: number): string => {
    const parameters = new URLSearchParams(url.searchParams)
    parameters.delete('page')
    parameters.set('from', String(start))
    parameters.set('size', String(size))
    return `${url.pathname}?${parameters}`
  }
  const hasMore = size > 0 && scanned > 0 && from + scanned < total
  return {
    ...(from > 0 ? { first: at(0), prev: at(Math.max(from - size, 0)) } : {}),
    ...(hasMore ? { next: at(from + scanned), last: at(Math.min(Math.max(total - size, 0), 10_000)) } : {}),
  }
}

type Item = Readonly<Record<string, unknown>>

const pageOf = (url: URL, from: number, size: number, { results, scanned, total, indexed, isNewestFirst, facets }: SearchPage) => ({
  results: results as Item[],
  count: results.length,
  size: results.length,
  scanned_size: scanned,
  from,
  total_size: total,
  ...(isNewestFirst ? { newest_first: true } : {}),
  ...linksFor(url, from, size, scanned, indexed),
  ...(facets ? { facets } : {}),
})

export const search = route({
  method: 'GET',
  path: '/api/search',
  summary: 'Search names, descriptions, tags, metadata and text',
  description:
    'The query language is described in docs/search.md. A word matches terms that equal it or begin with it; `*` and `?` are wildcards, `/…/` is a regular expression. Fields: name, description, creator, email, tag, created, created_as, resource_type, content_type, comment, in, contains; any other name is metadata. AND, OR, NOT and parentheses combine them. Sorting requires `created`, a number or a date.',
  permission: 'reader',
  cost: 'search',
  query,
  responses: { 200: s.Union([result, fullResult]) },
  throws: [Invalid, Unavailable],
  async handle({ query: parameters, caller, url }: Request<undefined, typeof query, undefined>, { searching }) {
    const from = startOf(parameters)
    const { queryOfFilters } = await import('./search-filters.ts')
    const kinds = kindsOf(parameters, searching.kinds)
    const found = await searching.find(
      {
        query: queryOfFilters(parameters),
        kinds,
        from,
        size: parameters.size,
        isFull: parameters.view === 'full',
        facets: facetsOf(parameters),
        ...sortOf(parameters),
      },
      caller,
    )
    return { status: 200, body: pageOf(url, from, parameters.size, found) }
  },
})

export const searchByJson = route({
  method: 'GET',
  path: '/api/search/json',
  summary: 'Search by a list of fields, operators and values',
  description:
    'Operators: `:` (or CONTAINS) `== != < <= > >=`, `exists` and `missing`. The field is `field_key`, or `extractor_key` with `field_leaf_key`. Unlike v1, an unknown operator is rejected, and OR does not widen what the caller may view.',
  permission: 'reader',
  cost: 'search',
  query: jsonQuery,
  responses: { 200: result },
  throws: [Invalid, Unavailable],
  async handle({ query: parameters, caller, url }: Request<undefined, typeof jsonQuery, undefined>, { searching }) {
    const from = startOf(parameters)
    const { readJsonQuery } = await import('./json-query.ts')
    const found = await searching.find(
      { query: readJsonQuery(parameters.query, parameters.grouping), kinds: searching.kinds, from, size: parameters.size },
      caller,
    )
    return { status: 200, body: pageOf(url, from, parameters.size, found) }
  },
})
