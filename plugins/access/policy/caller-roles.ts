import type { Caller, Membership, Permission } from 'pounce/sdk'
import { type Mode, roleHolds } from './mode.ts'

/** Looking through the memberships costs less than a map of them, unless it is done again and again. */
const scansAtMost = 4

/** A caller with the roles that they hold, for the time of one question. */
export class CallerRoles {
  readonly mode: Mode
  readonly caller: Caller
  #scans = 0
  #bySpace: ReadonlyMap<string, readonly Membership[]> | undefined

  constructor(mode: Mode, caller: Caller) {
    this.mode = mode
    this.caller = caller
  }

  /** A membership in one of the spaces whose role holds the permission. */
  roleIn(spaces: readonly string[], permission: Permission): Membership | undefined {
    const memberships = this.caller.user?.memberships ?? []
    if (spaces.length === 0 || memberships.length === 0) return undefined
    const isHeld = (held: Membership): boolean => roleHolds(this.mode, held, permission)
    if (this.#bySpace === undefined && this.#scans < scansAtMost) {
      this.#scans += 1
      return memberships.find(held => spaces.includes(held.space) && isHeld(held))
    }
    this.#bySpace ??= Map.groupBy(memberships, ({ space }) => space)
    for (const space of spaces) {
      const found = this.#bySpace.get(space)?.find(isHeld)
      if (found) return found
    }
    return undefined
  }

  /** Every membership in one of the spaces. */
  rolesIn(spaces: readonly string[]): readonly Membership[] {
    const wanted = new Set(spaces)
    return (this.caller.user?.memberships ?? []).filter(({ space }) => wanted.has(space))
  }

  /** True unless the key is limited to spaces that a thing in these spaces is in none of. */
  reaches(spaces: readonly string[]): boolean {
    const limit = this.caller.limits?.spaces
    return limit === undefined || spaces.some(space => limit.has(space))
  }
}
