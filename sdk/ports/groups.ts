import type { GroupRecord } from '../model/people.ts'
import { contributions, port } from '../port.ts'
import type { After, Page, Stored } from './document-store.ts'
import type { Records } from './records.ts'

/** `GroupRecord.source` of groups whose members are managed on this server. */
export const localSource = 'local'

/**
 * Groups of people, which have roles in spaces like people. Their members are stored in the accounts (`UserRecord.groups`); for the resulting rights see
 * `Users`.
 */
export interface Groups extends Records<GroupRecord> {
  /** Memberships of the existing groups, at most half a second old. */
  live(ids: readonly string[]): Promise<ReadonlyMap<string, GroupRecord['memberships']>>
  /** Groups that are members of a space, by id. */
  inSpace(space: string, page: { readonly after?: After; readonly limit: number }): Promise<Page<GroupRecord & Stored>>
  /** True if any group has the role in a space. */
  hasRole(role: string): Promise<boolean>
  /** Adds, changes or (role undefined) ends a membership; the caller must check the role. `NotFound` for an unknown group. */
  setMembership(group: string, space: string, role: string | undefined, actor?: string): Promise<void>
  /**
   * Makes a person a member of exactly those groups of an external provider whose names are given and known here (compared exactly). Groups of other sources
   * are unaffected. Nothing is written if nothing changes. `NotFound` for an unknown person.
   */
  assignExternal(user: string, provider: string, names: readonly string[]): Promise<void>
}
export const Groups = port<Groups>('groups')

/** The same port as a contribution, for plugins that `Groups` depends on or that work without it: none or one. */
export const KnownGroups = contributions<Groups>('groups')
