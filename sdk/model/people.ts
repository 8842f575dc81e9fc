import type { AccountStatus } from './caller.ts'
import type { Kind } from './kind.ts'
import type { Time } from './records.ts'

/** What users state about themselves. */
export interface UserProfile {
  /** An https URL. */
  readonly avatarUrl?: string
  readonly biography?: string
  readonly institution?: string
  readonly orcidId?: string
  readonly position?: string
  readonly currentprojects?: readonly string[]
  readonly pastprojects?: readonly string[]
}

/** A WebAuthn credential of an account. */
export interface PasskeyRecord {
  /** Our own id, derived from the credential id. */
  readonly id: string
  /** Credential id and COSE public key, base64url. */
  readonly credential: string
  readonly publicKey: string
  /** Last seen signature counter; 0 for authenticators without one. */
  readonly counter: number
  readonly transports: readonly string[]
  readonly name: string
  /** Synced between devices. */
  readonly isBackedUp: boolean
  readonly created: Time
  readonly lastUsed: Time | null
}

/** The second factors of a local account: a TOTP app, passkeys, and recovery codes for when both are lost. */
export interface SecondFactorRecord {
  readonly totp: {
    /** The secret, encrypted. */
    readonly sealed: string
    /** The time step of the last accepted code; codes of this and earlier steps are rejected. */
    readonly lastStep: number
    readonly created: Time
    readonly lastUsed: Time | null
  } | null
  readonly passkeys: readonly PasskeyRecord[]
  /** Digests of the unused recovery codes. */
  readonly recoveryCodes: readonly string[]
}

/** An account as stored. */
export interface UserRecord {
  /** Lower case, unique. */
  readonly email: string
  readonly firstName: string
  readonly lastName: string
  /** Both names without case and accents, in either order, for searching people. Maintained by the accounts plugin. */
  readonly sortFirst?: string
  readonly sortLast?: string
  /** `userpass` for local accounts. */
  readonly provider: string
  /** PHC string; null for accounts of other identity providers. */
  readonly passwordHash: string | null
  readonly status: AccountStatus
  readonly created: Time
  readonly lastLogin: Time | null
  readonly profile: UserProfile
  readonly memberships: readonly { readonly space: string; readonly role: string }[]
  readonly followed: readonly { readonly kind: Kind; readonly id: string }[]
  readonly termsAccepted: Time | null
  /** Linked identities of other providers, each as `provider subject`. Absent for purely local accounts. */
  readonly identities?: readonly string[]
  /** The address has not been verified, so identities of other providers are not linked to this account by it. */
  readonly isEmailUnverified?: true
  /** When all its sessions were ended at once; keys of older jobs are rejected. */
  readonly signedOutAt?: Time
  /** Its groups; their memberships count like its own. */
  readonly groups?: readonly string[]
  /** Preference for mail notifications. Absent: immediately, and only those directed at this person. */
  readonly notifications?: 'none' | 'direct' | 'hourly' | 'daily'
  /** Absent while none is enrolled. Contains secrets: never returned by the API. */
  readonly secondFactor?: SecondFactorRecord
  /** Set when its personal data has been erased, or is being erased (`done` null). */
  readonly erasure?: { readonly requested: Time; readonly heir: string | null; readonly done: Time | null }
}

/** A group of people that is a member of spaces. */
export interface GroupRecord {
  /** Unique. */
  readonly name: string
  readonly description: string
  /** `local`, or the provider that determines its members. */
  readonly source: string
  /** Its name at that provider; null for local groups. */
  readonly external: string | null
  readonly author: string
  readonly created: Time
  readonly memberships: readonly { readonly space: string; readonly role: string }[]
  /** Spaces of which it is a member by configuration. */
  readonly configured?: readonly string[]
}

/** A person's display name. */
export const fullNameOf = (user: Pick<UserRecord, 'firstName' | 'lastName'>): string => `${user.firstName} ${user.lastName}`.trim()

/** A role as stored: a named set of permissions. */
export interface RoleRecord {
  readonly name: string
  readonly description: string
  readonly permissions: readonly string[]
}

/** A change to a user's second factors. */
export type SecondFactorChange =
  | 'totp-enrolled'
  | 'totp-removed'
  | 'passkey-added'
  | 'passkey-renamed'
  | 'passkey-removed'
  | 'recovery-codes-replaced'
  | 'recovery-code-used'
  | 'reset'
