import { collection, type RoleRecord, type Time, type UserRecord } from 'pounce/sdk'
import type { Verb } from 'pounce/sdk/kit'

/** Accounts. Creation time and id determine the order of lists; email addresses are lower case. */
export const users = collection<UserRecord>()('users', {
  byEmail: { on: ['email'], unique: true },
  byName: { on: ['lastName', 'firstName'] },
  byFirst: { on: ['sortFirst'] },
  byLast: { on: ['sortLast'] },
  byCreated: { on: ['created'] },
  byStatus: { on: ['status'] },
  bySpace: { on: ['memberships.space'], array: 'memberships.space' },
  byRole: { on: ['memberships.role'], array: 'memberships.role' },
  byGroup: { on: ['groups'], array: 'groups' },
  byIdentity: { on: ['identities'], array: 'identities' },
  byFollowed: { on: ['followed.id'], array: 'followed.id' },
  byEmailPiece: { on: ['email~'], array: 'email~' },
  byFirstNamePiece: { on: ['firstName~'], array: 'firstName~' },
  byLastNamePiece: { on: ['lastName~'], array: 'lastName~' },
})

/** A role. The Admin role records which permissions it has been given, so that a new one is added to it once. */
export interface StoredRole extends RoleRecord {
  readonly given: readonly string[]
  /** For a deleted role: the role that replaces it. Not returned to clients, but used for memberships that were written late. */
  readonly successor?: string
}
export const roles = collection<StoredRole>()('roles', { byName: { on: ['name'], unique: true } })

/** An API key. The key itself is not stored: only its SHA-256, whose first 24 digits are the record's id. */
export interface KeyRecord {
  readonly user: string
  readonly name: string
  readonly scope: 'full' | 'extraction'
  readonly hash: string
  /** The first characters, to distinguish keys. */
  readonly prefix: string
  /** Present in keys from before jobs had keys of their own: one key for everything its user may do. Such a key is refused. */
  readonly generation?: string | null
  readonly created: Time
  /** Accurate to a minute. */
  readonly lastUsed: Time | null
  /** Restricts the key to these verbs and spaces. Absent: not restricted beyond its user's rights. */
  readonly verbs?: readonly Verb[]
  readonly spaces?: readonly string[]
  /** The key is refused from then on. Absent: never. */
  readonly expires?: Time
}
export const keys = collection<KeyRecord>()('users.keys', { byUser: { on: ['user', 'name'], unique: true }, byExpiry: { on: ['expires'] } })

/** How a user has authenticated. `provider`: elsewhere, with the factors required there. */
export type SignInMethod = 'password' | 'totp' | 'passkey' | 'recovery-code' | 'provider'

/** A signed-in browser. Like a key it is stored as a hash only. */
export interface SessionRecord {
  readonly user: string
  readonly hash: string
  /** Matches the password at the start of the session; a new password ends it. */
  readonly stamp: string
  readonly created: Time
  readonly extended: Time
  readonly expires: Time
  /** Accurate to a minute. */
  readonly lastUsed?: Time
  /** The network at the start of the session, and the browser's `User-Agent`, for users to distinguish sessions. */
  readonly network?: string
  readonly userAgent?: string
  /** When its owner authenticated last, and how. Absent in sessions of older versions: at the start, by password. */
  readonly authenticated?: Time
  readonly methods?: readonly SignInMethod[]
  /**
   * For a session opened by the headers of a reverse proxy: the identity in them. The session is not accepted on requests for which the
   * proxy names another identity.
   */
  readonly identity?: string
}
export const sessions = collection<SessionRecord>()('users.sessions', {
  byExpiry: { on: ['expires'] },
  byUser: { on: ['user', 'created'] },
})

/** Attempts in a time window. Its id is a digest of account or network. */
export interface TriesRecord {
  readonly count: number
  /** When the window ends. */
  readonly until: Time
}
export const tries = collection<TriesRecord>()('users.tries', { byEnd: { on: ['until'] } })

/** An identity of another provider that can be used to sign in to an account once the account's owner has confirmed it. */
export interface IdentityLinkRecord {
  readonly account: string
  readonly provider: string
  /** As stored in accounts. */
  readonly identity: string
  /** Matches the password of the account at the time of the request. */
  readonly stamp: string
  /** Digests of its secret: one for each attempt to send it. */
  readonly secrets: readonly string[]
  readonly expires: Time
}
export const identityLinks = collection<IdentityLinkRecord>()('users.identity-links', {
  byAccount: { on: ['account'] },
  byExpiry: { on: ['expires'] },
})

/** Single values of this plugin: the installation's secret, the open setup link. */
export interface SettingRecord {
  readonly value: string
  /** For the secret: the previous ones, latest first, and until when each is still accepted. */
  readonly previous?: readonly { readonly value: string; readonly until: Time }[]
}
export const settings = collection<SettingRecord>()('users.settings')
