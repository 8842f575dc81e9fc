import type { Caller, Membership } from '../model/caller.ts'
import type { RoleRecord, UserRecord } from '../model/people.ts'
import { port } from '../port.ts'
import type { After, Page, Stored } from './document-store.ts'
import type { Records } from './records.ts'

/** How someone comes to a membership, or loses it. */
export interface MembershipChange {
  readonly actor?: string | undefined
  /** Whether a new member was added, or accepted after a request to join. */
  readonly joining?: 'added' | 'accepted'
  /** Anyone who is a member already keeps the role that they have. */
  readonly onlyNew?: boolean
  /** What is written to a new member besides. */
  readonly message?: string | undefined
  /** The membership ends with the space, which somebody deleted. */
  readonly withSpace?: { readonly name: string; readonly by?: string } | undefined
  /** The new member accepted an invitation. */
  readonly isAnswer?: boolean
}

/** Accounts. */
export interface Users extends Records<UserRecord> {
  byEmail(email: string): Promise<(UserRecord & Stored) | undefined>
  /** Accounts of exactly this name, at most 20: two people can have the same. */
  named(firstName: string, lastName: string): Promise<readonly (UserRecord & Stored)[]>
  /** Server admins, at most 100, by id. */
  admins(): Promise<readonly (UserRecord & Stored)[]>
  /** Members of a space by the account itself, with their role ids, by id; see `peopleOf`. */
  membersOf(space: string, page: { readonly after?: After; readonly limit: number }): Promise<Page<UserRecord & Stored>>
  /** Some of those who follow a resource, at most `limit` (1 to 1,000), by id. */
  followersOf(thing: string, limit: number): Promise<readonly (UserRecord & Stored)[]>
  /** `Taken` when the e-mail is in use. */
  create(
    user: Pick<UserRecord, 'email' | 'firstName' | 'lastName' | 'status'> & {
      readonly password?: string
      readonly actor?: string
      /** Has accepted the terms of service as they are. */
      readonly acceptsTerms?: boolean
    },
  ): Promise<UserRecord & Stored>
  /**
   * Adds, changes or (role undefined) ends a membership, and returns the change: undefined when there was none. `NotFound` for an absent
   * person, `Invalid` for an absent role.
   */
  setMembership(
    user: string,
    space: string,
    role: string | undefined,
    by?: MembershipChange,
  ): Promise<'added' | 'role' | 'removed' | undefined>
  /** The rights of an account now, for checks on behalf of a person who sent no request. */
  callerOf(user: UserRecord & Stored): Promise<Caller>
  /**
   * Every role that a person holds in a space now, by the account itself or through a group; a role that no longer exists gives nothing. Roles and
   * groups are known as they were at most half a second ago, so a call costs no read.
   */
  membershipsOf(user: Pick<UserRecord, 'memberships' | 'groups'>): Promise<readonly Membership[]>
  /** Who is in a space, by the account itself or through a group, each once, by id. `membershipsOf` has the roles. */
  peopleOf(space: string, page: { readonly after?: After; readonly limit: number }): Promise<Page<UserRecord & Stored>>
  /** How many `peopleOf` would list, counted up to `upTo`. */
  countPeople(space: string, upTo: number): Promise<number>
  /** Who belongs to a group, by id. */
  inGroup(group: string, page: { readonly after?: After; readonly limit: number }): Promise<Page<UserRecord & Stored>>
  /** Address of a person's picture. Undefined for one who is no one in particular, and for readers who may not look at the account. */
  avatarOf(user: UserRecord | undefined): string
  roles(): Promise<readonly (RoleRecord & Stored)[]>
}
export const Users = port<Users>('users')
