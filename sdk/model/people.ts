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

/** A WebAuthn credential of an account. */
export interface PasskeyRecord {
  /** Ours, made from the credential's. */
  readonly id: string
  /** Credential id and COSE public key, base64url. */
  readonly credential: string
  readonly publicKey: string
  /** Signature counter as last seen; 0 for authenticators that have none. */
  readonly counter: number
  readonly transports: readonly string[]
  readonly name: string
  /** Synced between devices. */
  readonly isBackedUp: boolean
  readonly created: Time
  readonly lastUsed: Time | null
}

/** The second factors of a local account: a TOTP app, passkeys, and codes for who has lost both. */
export interface SecondFactorRecord {
  readonly totp: {
    /** The secret, encrypted. */
    readonly sealed: string
    /** The time step of the last code that was accepted: neither it nor an earlier one is accepted again. */
    readonly lastStep: number
    readonly created: Time
    readonly lastUsed: Time | null
  } | null
  readonly passkeys: readonly PasskeyRecord[]
  /** Digests of the recovery codes that are left. */
  readonly recoveryCodes: readonly string[]
}

/** An account as stored. */
export interface UserRecord {
  /** Lower case, unique. */
  readonly email: string
  readonly firstName: string
  readonly lastName: string
  /** Both names without case and accents, the first and the last one first: what people are found by. Kept by the accounts plugin. */
  readonly sortFirst?: string
  readonly sortLast?: string
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
  /** Who other providers say this is: `provider subject`, one each. Absent for accounts of this server alone. */
  readonly identities?: readonly string[]
  /** No one has checked that the address is theirs: no other provider's identity is linked to this account by it. */
  readonly isEmailUnverified?: true
  /** When all its sessions were ended at once: keys of jobs that were made before are refused. */
  readonly signedOutAt?: Time
  /** Groups it belongs to: their memberships count as its own. */
  readonly groups?: readonly string[]
  /** What is written to it by mail. Absent: at once, and only what is meant for this person. */
  readonly notifications?: 'none' | 'direct' | 'hourly' | 'daily'
  /** Absent while none is enrolled. Holds secrets: never shown. */
  readonly secondFactor?: SecondFactorRecord
  /** Its personal data is being erased (`done` null) or was. */
  readonly erasure?: { readonly requested: Time; readonly heir: string | null; readonly done: Time | null }
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

/** A role as stored: a named set of permissions. */
export interface RoleRecord {
  readonly name: string
  readonly description: string
  readonly permissions: readonly string[]
}

/** What became of someone's second factors. */
export type SecondFactorChange =
  | 'totp-enrolled'
  | 'totp-removed'
  | 'passkey-added'
  | 'passkey-renamed'
  | 'passkey-removed'
  | 'recovery-codes-replaced'
  | 'recovery-code-used'
  | 'reset'
