import { type Caller, type Contributions, type Kind, Policy, type Searchable, Searchables, SearchIndex, wire } from 'pounce/sdk'
import type { SearchQuery, SearchRequest } from 'pounce/sdk/search'
import { annotatedPart, withinRights } from './annotated-part.ts'
import { AuthorAddresses } from './author-addresses.ts'
import { ContainmentFilter } from './containment-filter.ts'
import { type FacetParameter, FacetService, type ShownFacets } from './facet-service.ts'
import { FullView, type ReadHit } from './full-view.ts'
import { type FieldCondition, mapField } from './map-field.ts'

/** Parameters of a search. */
export interface SearchInput {
  readonly query: SearchQuery
  readonly from: number
  readonly size: number
  readonly sort?: SearchRequest['sort']
  readonly kinds?: readonly Kind[]
  /** With names of containers and users, and the matches of each hit; otherwise in v1's format. */
  readonly isFull?: boolean
  /** Count the hits by these facets. */
  readonly facets?: readonly FacetParameter[]
}

export interface SearchPage<T = object> {
  readonly results: readonly T[]
  /** Number of hits read to fill the page. */
  readonly scanned: number
  /** Number of hits, without those found to be hidden from the caller, such as recently trashed ones. */
  readonly total: number
  /** Number of hits in the index, which bounds paging. */
  readonly indexed: number
  readonly isNewestFirst: boolean
  readonly facets?: ShownFacets
}

/** Reads the hits of a kind, by id; hidden ones are omitted. */
type ReadItems<T> = (source: Searchable, ids: readonly string[]) => Promise<ReadonlyMap<string, T>>

const maxRounds = 5
/** Number of hits that are checked by a search that only counts, like the default page size. */
const checkedOfCount = 240

const userSubmitted = /^(metadata\.)?user-submitted\./

const onFiles: SearchQuery = { op: 'field', field: 'resource_type', is: 'equals', values: ['file'] }

/** In Clowder 1.x, metadata that users add to files is `user-submitted.<field>` (reference, api-platform §8); here it is indexed as `metadata.<field>`. */
const resolveUserSubmitted = (query: SearchQuery): SearchQuery =>
  mapField(query, userSubmitted, condition => {
    const plain: FieldCondition = { ...condition, field: (condition.field ?? '').replace(userSubmitted, 'metadata.') }
    if (condition.op === 'missing') return { op: 'and', all: [condition, plain] }
    return { op: 'or', any: [condition, { op: 'and', all: [onFiles, plain] }] }
  })

/** Queries the index, then checks the hits: the index is a cache, the store and the policy are authoritative. */
export class SearchService {
  #index: SearchIndex
  #policy: Policy
  #searchables: Contributions<Searchable>
  #containing: ContainmentFilter
  #addresses: AuthorAddresses
  #fullView: FullView
  #facets: FacetService

  constructor(
    index: SearchIndex,
    policy: Policy,
    searchables: Contributions<Searchable>,
    containing: ContainmentFilter,
    addresses: AuthorAddresses,
    fullView: FullView,
    facets: FacetService,
  ) {
    this.#index = index
    this.#policy = policy
    this.#searchables = searchables
    this.#containing = containing
    this.#addresses = addresses
    this.#fullView = fullView
    this.#facets = facets
  }

  /** All searchable kinds. */
  get kinds(): readonly Kind[] {
    return this.#searchables.all().map(({ kind }) => kind)
  }

  async find(given: SearchInput, caller: Caller): Promise<SearchPage> {
    const input = { ...given, query: resolveUserSubmitted(given.query) }
    const { query: requestedQuery, kinds, facets = [] } = input
    const query = await this.#containing.resolve(await this.#addresses.resolve(requestedQuery, caller), caller)
    const [page, counts] = await Promise.all([
      this.#page(input, query, caller),
      facets.length > 0 ? this.#facets.count({ query, ...(kinds ? { kinds } : {}) }, facets, caller) : undefined,
    ])
    return counts ? { ...page, facets: counts } : page
  }

  async #page(input: SearchInput, query: SearchQuery, caller: Caller): Promise<SearchPage> {
    if (!input.isFull) return this.#find(input, query, caller, (source, ids) => source.present(ids, caller))
    const page = await this.#find<ReadHit>(input, query, caller, async (source, ids) => {
      const summaries = await source.summarize(ids)
      return new Map([...summaries].map(([id, summary]) => [id, { kind: source.kind, id, summary }]))
    })
    return { ...page, results: await this.#fullView.show(page.results, input.query, caller) }
  }

  async #find<T>(
    { from, size, sort, kinds }: SearchInput,
    requestedQuery: SearchQuery,
    caller: Caller,
    read: ReadItems<T>,
  ): Promise<SearchPage<T>> {
    const whole = this.#policy.searchScope(caller)
    // The order by metadata shows its values.
    const scope = sort && sort.by !== 'score' && sort.by !== 'created' ? annotatedPart(whole, 'metadata') : whole
    const query = withinRights(requestedQuery, whole)
    const results: T[] = []
    let scanned = 0
    let missed = 0
    let indexed = 0
    let isNewestFirst = false
    if (size === 0) {
      const page = await this.#index.search({ query, scope, from: 0, size: checkedOfCount, ...(kinds ? { kinds } : {}) })
      indexed = page.total
      missed = page.hits.length - (await this.#read(page.hits, caller, read)).size
    }
    for (let round = 0; round < maxRounds && results.length < size; round += 1) {
      const wanted = round === 0 ? size : Math.min(2 * size, 1000)
      const page = await this.#index.search({
        query,
        scope,
        from: from + scanned,
        size: wanted,
        ...(sort ? { sort } : {}),
        ...(kinds ? { kinds } : {}),
      })
      indexed = page.total
      isNewestFirst ||= page.isNewestFirst
      const shown = await this.#read(page.hits, caller, read)
      for (const { id } of page.hits) {
        if (results.length === size) break
        scanned += 1
        const item = shown.get(id)
        if (item) results.push(item)
        else missed += 1
      }
      if (page.hits.length < wanted) break
    }
    return { results, scanned, total: indexed - missed, indexed, isNewestFirst }
  }

  async #read<T>(hits: readonly { readonly id: string; readonly kind: Kind }[], caller: Caller, read: ReadItems<T>) {
    const shown = new Map<string, T>()
    for (const searchable of this.#searchables.all()) {
      const ids = hits.filter(hit => hit.kind === searchable.kind).map(hit => hit.id)
      if (ids.length === 0) continue
      const seen = await this.#policy.seen(caller, searchable.kind, ids, 'frozen')
      for (const [id, item] of await read(searchable, [...seen])) shown.set(id, item)
    }
    return shown
  }
}
wire(SearchService, SearchIndex, Policy, Searchables, ContainmentFilter, AuthorAddresses, FullView, FacetService)
