import type { AccountStatus } from './caller.ts'
import type { Kind } from './kind.ts'
import type { Time } from './records.ts'

/** What people say of themselves. */
export interface UserProfile {
  /** An https address. */
  readonly avatarUrl?: string
  readonly biography?: string
  readonly institution?: string
  readonly orcidId?: string
  readonly position?: string
  readonly currentprojects?: readonly string[]
  readonly pastprojects?: readonly string[]
}

export interface UserRecord {
  /** Lower case, unique. */
  readonly email: string
  readonly firstName: string
  readonly lastName: string
  /** `userpass` for local accounts. */
  readonly provider: string
  /** PHC text; null where another provider vouches. */
  readonly passwordHash: string | null
  readonly status: AccountStatus
  readonly created: Time
  readonly lastLogin: Time | null
  readonly profile: UserProfile
  readonly memberships: readonly { readonly space: string; readonly role: string }[]
  readonly followed: readonly { readonly kind: Kind; readonly id: string }[]
  readonly termsAccepted: Time | null
  /** Who other providers say this is: `provider subject`, one each. Absent for accounts that only this server knows. */
  readonly identities?: readonly string[]
  /** Nobody has checked that the address is theirs: no other provider's identity is linked to this account by it. */
  readonly isEmailUnverified?: true
  /** Groups it belongs to: their memberships count as its own. */
  readonly groups?: readonly string[]
  /** What is written to it by mail. Absent: at once, and only what is meant for this person. */
  readonly notifications?: 'none' | 'direct' | 'hourly' | 'daily'
}

/** People who are members of spaces together. */
export interface GroupRecord {
  /** Unique. */
  readonly name: string
  readonly description: string
  /** `local`, or the provider that says who belongs to it. */
  readonly source: string
  /** Its name at that provider; null for local groups. */
  readonly external: string | null
  readonly author: string
  readonly created: Time
  readonly memberships: readonly { readonly space: string; readonly role: string }[]
  /** Spaces of which it is a member because the settings say so, and as long as they do. */
  readonly configured?: readonly string[]
}

/** A person's name as shown. */
export const fullNameOf = (user: Pick<UserRecord, 'firstName' | 'lastName'>): string => `${user.firstName} ${user.lastName}`.trim()

export interface RoleRecord {
  readonly name: string
  readonly description: string
  readonly permissions: readonly string[]
}
