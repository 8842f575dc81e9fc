/** S named or implied by the seed, C called by clients, R expected by users, X not served, N a spelling of the seed or new compared with v1. */
export type Tier = 'S' | 'C' | 'R' | 'X' | 'N'

/** Tier, method, path with `:name` for a parameter and `:name*` for the rest, and for X the reason. */
export type RouteRow = readonly [tier: Tier, method: string, path: string, reason?: string]

/** A group of routes of the reference. */
export interface RouteGroup {
  readonly name: string
  readonly routes: readonly RouteRow[]
}
