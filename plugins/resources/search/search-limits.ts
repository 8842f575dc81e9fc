import { wire } from 'pounce/sdk'
import type { SessionSource } from 'pounce/sdk/kit'

/** Limits of a search request. */
export const searchLimits = { maxQueryLength: 10_000, maxPageSize: 1000, maxOffset: 10_000 } as const

export class SearchCapability implements SessionSource {
  readonly capabilities = { search: searchLimits }
}
wire(SearchCapability)
