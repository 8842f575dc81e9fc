import { collection, type RoleRecord, type Time, type UserRecord } from 'pounce/sdk'
import type { Verb } from 'pounce/sdk/kit'

/** Accounts. Time of creation and id give the order of the list; e-mails are lower case. */
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

/** A role; the Admin role records which permissions it has been given, so that a new one is added to it once. */
export interface StoredRole extends RoleRecord {
  readonly given: readonly string[]
  /** Of a role that is gone: what those hold who held it. No one sees it, but a membership that was written late still finds its way. */
  readonly successor?: string
}
export const roles = collection<StoredRole>()('roles', { byName: { on: ['name'], unique: true } })

/** An API key. The key itself is nowhere: only its SHA-256, whose first 24 digits are the record's id. */
export interface KeyRecord {
  readonly user: string
  readonly name: string
  readonly scope: 'full' | 'extraction'
  readonly hash: string
  /** The first characters, to distinguish keys. */
  readonly prefix: string
  /** Text in a key that messages carried before jobs had keys of their own: one for everything its user may do. Such a key is refused. */
  readonly generation?: string | null
  readonly created: Time
  /** Accurate to a minute. */
  readonly lastUsed: Time | null
  /** How far it reaches: only these verbs, only what is in these spaces. Absent: as far as its user. */
  readonly verbs?: readonly Verb[]
  readonly spaces?: readonly string[]
  /** From then on it is refused. Absent: never. */
  readonly expires?: Time
}
export const keys = collection<KeyRecord>()('users.keys', { byUser: { on: ['user', 'name'], unique: true }, byExpiry: { on: ['expires'] } })

/** How someone has shown who they are. `provider`: elsewhere, with whatever factors are requested there. */
export type SignInMethod = 'password' | 'totp' | 'passkey' | 'recovery-code' | 'provider'

/** A browser that is signed in. Like a key it is known by a hash only. */
export interface SessionRecord {
  readonly user: string
  readonly hash: string
  /** Fits the password with which it began; another password ends it. */
  readonly stamp: string
  readonly created: Time
  readonly extended: Time
  readonly expires: Time
  /** Accurate to a minute. */
  readonly lastUsed?: Time
  /** The network from which it began, and the browser's `User-Agent`: for users to distinguish sessions. */
  readonly network?: string
  readonly userAgent?: string
  /** When its owner authenticated last, and by what. Absent in sessions of older versions: when it began, by password. */
  readonly authenticated?: Time
  readonly methods?: readonly SignInMethod[]
  /** Of one that a reverse proxy's headers opened: whom they named. It counts for no request on which the proxy names someone else. */
  readonly identity?: string
}
export const sessions = collection<SessionRecord>()('users.sessions', {
  byExpiry: { on: ['expires'] },
  byUser: { on: ['user', 'created'] },
})

/** Attempts in a window of time. Its id is a digest of account or network. */
export interface TriesRecord {
  readonly count: number
  /** When the window ends. */
  readonly until: Time
}
export const tries = collection<TriesRecord>()('users.tries', { byEnd: { on: ['until'] } })

/** An identity of another provider that may open an account once its owner has confirmed it. */
export interface IdentityLinkRecord {
  readonly account: string
  readonly provider: string
  /** As stored in accounts. */
  readonly identity: string
  /** Fits the password that the account had when it was requested. */
  readonly stamp: string
  /** Digests of its secret: one for each try to send it. */
  readonly secrets: readonly string[]
  readonly expires: Time
}
export const identityLinks = collection<IdentityLinkRecord>()('users.identity-links', {
  byAccount: { on: ['account'] },
  byExpiry: { on: ['expires'] },
})

/** Single values of this plugin: the installation's secret, the open set-up link. */
export interface SettingRecord {
  readonly value: string
  /** Of the secret: those before it, the latest first, and until when each is still accepted. */
  readonly previous?: readonly { readonly value: string; readonly until: Time }[]
}
export const settings = collection<SettingRecord>()('users.settings')
