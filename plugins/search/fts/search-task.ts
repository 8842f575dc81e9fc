import type { Kind } from 'pounce/sdk'
import type { FacetRequest, NameRequest, SearchRequest, SearchScope } from 'pounce/sdk/search'

/** Requests to a reader. */
export type ReadRequest =
  | { readonly type: 'search'; readonly request: SearchRequest }
  | { readonly type: 'facets'; readonly request: FacetRequest }
  | { readonly type: 'names'; readonly request: NameRequest }
  | { readonly type: 'tags'; readonly prefix: string; readonly scope: SearchScope; readonly limit: number; readonly kind?: Kind }
  | { readonly type: 'fields'; readonly prefix: string; readonly scope: SearchScope; readonly limit: number }
  | { readonly type: 'values'; readonly field: string; readonly prefix: string; readonly scope: SearchScope; readonly limit: number }
  | { readonly type: 'isWhole' }

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
