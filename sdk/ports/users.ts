import type { Caller, Membership } from '../model/caller.ts'
import type { RoleRecord, UserRecord } from '../model/people.ts'
import { port } from '../port.ts'
import type { After, Page, Stored } from './document-store.ts'
import type { Records } from './records.ts'

/** Details of a change of membership. */
export interface MembershipChange {
  readonly actor?: string | undefined
  /** Whether a new member was added, or accepted after a request to join. */
  readonly joining?: 'added' | 'accepted'
  /** Existing members keep their current role. */
  readonly onlyNew?: boolean
  /** An additional message to a new member. */
  readonly message?: string | undefined
  /** The membership ends because the space was deleted. */
  readonly withSpace?: { readonly name: string; readonly by?: string } | undefined
  /** The new member accepted an invitation. */
  readonly isAnswer?: boolean
}

/** Accounts. */
export interface Users extends Records<UserRecord> {
  byEmail(email: string): Promise<(UserRecord & Stored) | undefined>
  /** Accounts with exactly this name, at most 20, since names are not unique. */
  named(firstName: string, lastName: string): Promise<readonly (UserRecord & Stored)[]>
  /** Server admins, at most 100, by id. */
  admins(): Promise<readonly (UserRecord & Stored)[]>
  /** Direct members of a space (not through groups), with their role ids, by id; see `peopleOf`. */
  membersOf(space: string, page: { readonly after?: After; readonly limit: number }): Promise<Page<UserRecord & Stored>>
  /** Some followers of a resource, at most `limit` (1 to 1,000), by id. */
  followersOf(thing: string, limit: number): Promise<readonly (UserRecord & Stored)[]>
  /** `Taken` if the email is in use. */
  create(
    user: Pick<UserRecord, 'email' | 'firstName' | 'lastName' | 'status'> & {
      readonly password?: string
      readonly actor?: string
      /** Whether the current terms of service were accepted. */
      readonly acceptsTerms?: boolean
    },
  ): Promise<UserRecord & Stored>
  /**
   * Adds, changes or (role undefined) ends a membership, and returns the kind of change; undefined if there was none. `NotFound` for an unknown person,
   * `Invalid` for an unknown role.
   */
  setMembership(
    user: string,
    space: string,
    role: string | undefined,
    by?: MembershipChange,
  ): Promise<'added' | 'role' | 'removed' | undefined>
  /** The account's current rights, for checks on behalf of a person outside of a request. */
  callerOf(user: UserRecord & Stored): Promise<Caller>
  /**
   * All roles that a person currently has in spaces, directly or through a group; deleted roles grant nothing. Roles and groups are cached for at most half a
   * second, so a call needs no read.
   */
  membershipsOf(user: Pick<UserRecord, 'memberships' | 'groups'>): Promise<readonly Membership[]>
  /** Members of a space, directly or through a group, each once, by id. For their roles see `membershipsOf`. */
  peopleOf(space: string, page: { readonly after?: After; readonly limit: number }): Promise<Page<UserRecord & Stored>>
  /** The number of people that `peopleOf` would list, counted up to `upTo`. */
  countPeople(space: string, upTo: number): Promise<number>
  /** Members of a group, by id. */
  inGroup(group: string, page: { readonly after?: After; readonly limit: number }): Promise<Page<UserRecord & Stored>>
  /** URL of a person's picture; the default picture for an unknown user or an account that the reader may not view. */
  avatarOf(user: UserRecord | undefined): string
  roles(): Promise<readonly (RoleRecord & Stored)[]>
}
export const Users = port<Users>('users')
