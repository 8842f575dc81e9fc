import { wire } from 'pounce/sdk'
import type { SessionSource } from 'pounce/sdk/kit'

/** What a search request may ask for. */
export const searchLimits = { maxQueryLength: 10_000, maxPageSize: 1000, maxOffset: 10_000 } as const

export class SearchCapability implements SessionSource {
  readonly capabilities = { search: searchLimits }
}
wire(SearchCapability)
