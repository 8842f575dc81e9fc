import { type Caller, type Contributions, type Kind, Policy, type Searchable, Searchables, SearchIndex, wire } from 'pounce/sdk'
import type { SearchQuery, SearchRequest } from 'pounce/sdk/search'
import { AuthorAddresses } from './author-addresses.ts'
import { ContainmentFilter } from './containment-filter.ts'

/** What is asked of a search. */
export interface SearchInput {
  readonly query: SearchQuery
  readonly from: number
  readonly size: number
  readonly sort?: SearchRequest['sort']
  readonly kinds?: readonly Kind[]
}

export interface SearchPage {
  readonly results: readonly Readonly<Record<string, unknown>>[]
  /** Hits that were looked at to fill the page. */
  readonly scanned: number
  /** Hits there are, without those looked at that are not for the caller, such as what has just gone to the trash. */
  readonly total: number
  /** All that the index has: where paging ends. */
  readonly indexed: number
  readonly isNewestFirst: boolean
}

const mostRounds = 5
/** Of a search that only counts: as many hits as a page has unless its size is said. */
const checkedOfCount = 240

/** Asks the index, then looks again at what it found: the index is a cache, the store and the policy have the last word. */
export class SearchService {
  #index: SearchIndex
  #policy: Policy
  #searchables: Contributions<Searchable>
  #containing: ContainmentFilter
  #addresses: AuthorAddresses

  constructor(
    index: SearchIndex,
    policy: Policy,
    searchables: Contributions<Searchable>,
    containing: ContainmentFilter,
    addresses: AuthorAddresses,
  ) {
    this.#index = index
    this.#policy = policy
    this.#searchables = searchables
    this.#containing = containing
    this.#addresses = addresses
  }

  async find({ query: asked, from, size, sort, kinds }: SearchInput, caller: Caller): Promise<SearchPage> {
    const query = await this.#containing.resolve(await this.#addresses.resolve(asked, caller), caller)
    const scope = this.#policy.searchScope(caller)
    const results: Readonly<Record<string, unknown>>[] = []
    let scanned = 0
    let missed = 0
    let indexed = 0
    let isNewestFirst = false
    if (size === 0) {
      const page = await this.#index.search({ query, scope, from: 0, size: checkedOfCount, ...(kinds ? { kinds } : {}) })
      indexed = page.total
      missed = page.hits.length - (await this.#present(page.hits, caller)).size
    }
    for (let round = 0; round < mostRounds && results.length < size; round += 1) {
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
      const shown = await this.#present(page.hits, caller)
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

  async #present(hits: readonly { readonly id: string; readonly kind: Kind }[], caller: Caller) {
    const shown = new Map<string, Readonly<Record<string, unknown>>>()
    for (const searchable of this.#searchables.all()) {
      const ids = hits.filter(hit => hit.kind === searchable.kind).map(hit => hit.id)
      if (ids.length === 0) continue
      const seen = await this.#policy.seen(caller, searchable.kind, ids, 'frozen')
      for (const [id, item] of await searchable.present([...seen], caller)) shown.set(id, item)
    }
    return shown
  }
}
wire(SearchService, SearchIndex, Policy, Searchables, ContainmentFilter, AuthorAddresses)
