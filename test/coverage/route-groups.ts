/** S named or implied by the seed, C called by clients, R expected by users, X left out, N a spelling of the seed or new beside v1's. */
export type Tier = 'S' | 'C' | 'R' | 'X' | 'N'

/** Tier, method, path with `:name` for a parameter and `:name*` for the rest, and for X the reason. */
export type RouteRow = readonly [tier: Tier, method: string, path: string, reason?: string]

/** Routes that the reference groups. */
export interface RouteGroup {
  readonly name: string
  readonly routes: readonly RouteRow[]
}
