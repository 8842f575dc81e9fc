import type { Kind } from 'pounce/sdk'
import type { FacetRequest, NameRequest, SearchRequest, SearchScope } from 'pounce/sdk/search'

/** Requests to a reader. */
export type ReadRequest =
  | { readonly ask: 'search'; readonly request: SearchRequest }
  | { readonly ask: 'facets'; readonly request: FacetRequest }
  | { readonly ask: 'names'; readonly request: NameRequest }
  | { readonly ask: 'tags'; readonly prefix: string; readonly scope: SearchScope; readonly limit: number; readonly kind?: Kind }
  | { readonly ask: 'fields'; readonly prefix: string; readonly scope: SearchScope; readonly limit: number }
  | { readonly ask: 'values'; readonly field: string; readonly prefix: string; readonly scope: SearchScope; readonly limit: number }
  | { readonly ask: 'isWhole' }

/** A request for the index in one file. */
export type SearchTask = ReadRequest & { readonly path: string }

/** Why a request failed. */
export interface SearchFailure {
  readonly message: string
  /** True for an invalid request. */
  readonly isRefusal: boolean
  /** The SQLite result code, if any. */
  readonly code?: number
}

export type SearchReply = { readonly value: unknown } | { readonly failure: SearchFailure }
