import type { Kind } from '../model/kind.ts'
import { port } from '../port.ts'
import type { SearchScope } from './policy.ts'

/** One typed value of metadata, under its path: `{field: 'metadata.pounce-image.width', value: 640}`. */
export interface MetadataValue {
  /** Dotted path as people write it in a query, without the `metadata.` in front. Case kept. */
  readonly field: string
  /** Text that reads as a number is a number here, an ISO date is a `Date`; everything else is text. */
  readonly value: string | number | boolean | Date
}

/** All that the index knows of one resource. */
export interface SearchDocument {
  readonly id: string
  readonly kind: Kind
  /** Revision of what was read; an older one than the index holds is ignored, an equal one replaces it. */
  readonly revision: number
  readonly name: string
  readonly description: string
  /** Account id, name and e-mail of the author. */
  readonly creator: string
  readonly creatorName: string
  readonly creatorEmail: string
  /** The name it was uploaded under. */
  readonly createdAs?: string
  readonly created: Date
  readonly contentType?: string
  readonly tags: readonly string[]
  readonly comments: readonly string[]
  readonly metadata: readonly MetadataValue[]
  /** Long text such as a PDF's, searched with the rest and never returned. At most 100,000 characters. */
  readonly text?: string
  /** What it is in: datasets, folders, collections, spaces (`in:<id>`). */
  readonly childOf: readonly string[]
  /** What is in it (`contains:<id>`). At most 1,000. */
  readonly parentOf: readonly string[]
  /** Rights, as the policy filters by them. Never user ids besides the author's. */
  readonly spaces: readonly string[]
  readonly isPublic: boolean
  /** False for what must not be found now (trash, an import under way): kept out of every answer and count, yet may come back at the same revision. */
  readonly isListed: boolean
}

/** What to do with one entry. `remove` needs no revision: a removed id never comes back. */
export type IndexChange = { readonly put: SearchDocument } | { readonly remove: string }

/**
 * A query as data; user text is only ever a value in it.
 *
 * Fields: `name description creator email tag created created_as resource_type content_type comment in contains`; any other name is a metadata
 * path, matched whole or as the end of a longer path (`width` finds `metadata.pounce-image.width`).
 */
export type SearchQuery =
  | { readonly op: 'all' }
  /** The term or the beginning of one, in any text (names, descriptions, tags, comments, metadata, text); `*` and `?` match any run or any one character. Case is ignored. */
  | { readonly op: 'word'; readonly text: string }
  /** The words in this order, in any text. */
  | { readonly op: 'phrase'; readonly text: string }
  | {
      readonly op: 'field'
      readonly field: string
      /** `contains`: words or patterns inside the value, case ignored. Numbers and dates compare as such when both sides are. */
      readonly is: 'contains' | 'equals' | 'differs' | 'less' | 'atMost' | 'more' | 'atLeast'
      /** Alternatives: any of them fits. */
      readonly values: readonly (string | number | Date)[]
    }
  | { readonly op: 'exists'; readonly field: string }
  | { readonly op: 'missing'; readonly field: string }
  | { readonly op: 'and'; readonly all: readonly SearchQuery[] }
  | { readonly op: 'or'; readonly any: readonly SearchQuery[] }
  | { readonly op: 'not'; readonly not: SearchQuery }

export interface SearchRequest {
  readonly query: SearchQuery
  readonly scope: SearchScope
  readonly kinds?: readonly Kind[]
  /** `score` puts the best first; a field puts documents without it last. Only `created` and numeric or date metadata: else `Invalid`. */
  readonly sort?: { readonly by: 'score' | string; readonly order: 'ascending' | 'descending' }
  /** 0-based position of the first hit wanted, at most 10,000. */
  readonly from: number
  /** 0 to 1,000. */
  readonly size: number
}

export interface SearchHits {
  readonly hits: readonly { readonly id: string; readonly kind: Kind }[]
  /** Hits there are in all, exact up to 10,000, `10000` beyond. */
  readonly total: number
  /** True when there were too many candidates to rank, so the newest come first. */
  readonly isNewestFirst: boolean
}

/**
 * The index is a cache of the store, rebuilt at will. Answers only ids; whoever asks re-reads and re-checks them.
 * Away: `Unavailable` within 2 s.
 */
export interface SearchIndex {
  /** Idempotent by id and revision. Durable and visible to searches when it resolves. At most 1,000 changes. */
  apply(changes: readonly IndexChange[]): Promise<void>
  search(request: SearchRequest): Promise<SearchHits>
  /** Field names of metadata that begin with the text, most used first: for suggestions. */
  fields(prefix: string, limit: number): Promise<readonly { readonly field: string; readonly count: number }[]>
  /** Tags that begin with the text (empty: all), most used first, at most 10,000, within the scope. */
  tags(prefix: string, scope: SearchScope, limit: number): Promise<readonly { readonly tag: string; readonly count: number }[]>
  /**
   * Builds a second index from all documents while the first one serves, then swaps. `apply` during a rebuild reaches both.
   * A rebuild that fails or is aborted leaves the first as it was. Progress is the number of documents so far.
   */
  rebuild(
    documents: AsyncIterable<SearchDocument>,
    options?: { readonly signal?: AbortSignal; progress?(count: number): void },
  ): Promise<{ readonly count: number }>
  /** True when the index was found missing, damaged or of an older form at start, and serves nothing useful until it is rebuilt. */
  needsRebuild?(): Promise<boolean>
  /** Empties the index. */
  clear(): Promise<void>
  readonly engine: string
}
export const SearchIndex = port<SearchIndex>('searchIndex')
