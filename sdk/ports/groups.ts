import type { GroupRecord } from '../model/people.ts'
import { contributions, port } from '../port.ts'
import type { After, Page, Stored } from './document-store.ts'
import type { Records } from './records.ts'

/** `GroupRecord.source` of groups whose members are named here. */
export const localSource = 'local'

/**
 * Groups of people, which hold roles in spaces as people do. Who belongs to one is written in the accounts (`UserRecord.groups`); what a person may
 * through them, see `Users`.
 */
export interface Groups extends Records<GroupRecord> {
  /** Memberships of those that exist, as they were at most half a second ago. */
  live(ids: readonly string[]): Promise<ReadonlyMap<string, GroupRecord['memberships']>>
  /** Groups that are members of a space, by id. */
  inSpace(space: string, page: { readonly after?: After; readonly limit: number }): Promise<Page<GroupRecord & Stored>>
  /** True while a group holds the role in a space. */
  hasRole(role: string): Promise<boolean>
  /** Adds, changes or (role undefined) ends a membership; the role is the caller's to check. `NotFound` for an absent group. */
  setMembership(group: string, space: string, role: string | undefined, actor?: string): Promise<void>
  /**
   * Puts a person into exactly those external groups of a provider that it names and that are known here by that name, compared exactly. Groups of
   * other sources stay. Nothing is written when nothing changes. `NotFound` for an absent person.
   */
  assignExternal(user: string, provider: string, names: readonly string[]): Promise<void>
}
export const Groups = port<Groups>('groups')

/** The same for anyone who stands below them or runs without them too: none or one. */
export const KnownGroups = contributions<Groups>('groups')
