import type { Ref } from './kind.ts'
import type { Permission, Verb } from './permission.ts'

/** A role held in a space, with the role's permissions as they are now. */
export interface Membership {
  readonly space: string
  /** Id of the role. */
  readonly role: string
  /** For people; absent where only the rights matter. */
  readonly roleName?: string
  readonly permissions: ReadonlySet<Permission>
  /** Id of the group through which it is held; absent for one of the account itself. A space can be in several memberships then. */
  readonly group?: string
}

/** An account's standing. `ReadOnly` may read and download; `Inactive` may do nothing. */
export type AccountStatus = 'Active' | 'Inactive' | 'ReadOnly' | 'Admin'

/** Who is signed in. */
export interface CallerUser {
  readonly id: string
  readonly email: string
  readonly fullName: string
  readonly status: AccountStatus
  /** Those of the account and those of its groups. */
  readonly memberships: readonly Membership[]
  /** Set while the terms of service wait to be accepted: until then nothing goes but what leads there. */
  readonly termsPending?: true
  /** Set while the server requires a second factor of this account that has none: until then nothing goes but what leads there. */
  readonly secondFactorPending?: true
}

/** How a caller gets to what its authentication is too old or too weak for. */
export interface StepUp {
  /** By which of these: `password`, `totp`, `passkey`, `recovery-code`, `provider`. Empty for a credential that can never step up. */
  readonly methods: readonly string[]
  /** For a person. */
  readonly message: string
}

/** The job whose message carried the key that was used. */
export interface CallerJob {
  readonly id: string
  /** The file or dataset that the job is about: the key reaches it and what lies below it. */
  readonly target: Ref
  /** Of a job about a file: the dataset it was submitted for, where the key may read and add while the file lies in it. */
  readonly dataset?: string
  /** `ExtractorInfo.name` of the extractor of the job. */
  readonly extractor: string
  /** When the key expires. What the key itself submits gets no key that lasts longer. */
  readonly expires: Date
}

/** How far a key reaches, within the rights of its user. An absent member limits nothing. */
export interface KeyLimits {
  readonly verbs?: ReadonlySet<Verb>
  /** The key of a job: only routes that declare `jobKeys`, and only what that job is about. */
  readonly job?: CallerJob
  /** Only what is in one of these spaces, and the spaces themselves. Everything else is as if it were not there. */
  readonly spaces?: ReadonlySet<string>
}

/** The caller of a request, made once per request by the `Callers` port. */
export interface Caller {
  /** Absent for anonymous callers and for the installation's own service key. */
  readonly user?: CallerUser
  /** How the caller proved who they are; `proxy`: by the headers of a trusted reverse proxy. */
  readonly via: 'nothing' | 'session' | 'basic' | 'key' | 'bearer' | 'proxy' | 'service'
  /** `extraction`: can do what extractors do (read, download, annotate, upload), never keys, users, roles or administration. */
  readonly scope: 'full' | 'extraction'
  /** Id of the API key that was used, if one was. */
  readonly keyId?: string
  /** Id of the session that was used, if one was. */
  readonly sessionId?: string
  /** Of a key that reaches less far than its user. Such a caller is never a server admin, and has no account of its own to deal with. */
  readonly limits?: KeyLimits
  /** Set while what a route declares as `stepUp` is refused. Absent for a caller that has authenticated recently enough. */
  readonly stepUp?: StepUp
  /** A server admin who requested it with `superAdmin=true`: passes every permission on every resource. */
  readonly superAdmin: boolean
}

/** No one in particular. */
export const anonymous: Caller = { via: 'nothing', scope: 'full', superAdmin: false }

/** True of a caller with status Admin, whether or not superadmin mode is on. Never true with an extraction or limited key. */
export const isServerAdmin = (caller: Caller): boolean =>
  caller.user?.status === 'Admin' && caller.scope === 'full' && caller.limits === undefined

/** The user id under which anonymous and service actions are recorded (Clowder 1.x, User.anonymous). */
export const anonymousUserId = '000000000000000000000000'

/** True of a server admin who passes every permission check: superadmin mode is on. Never with a limited key, whatever it requests. */
export const isSuperAdmin = (caller: Caller): boolean => caller.superAdmin && caller.limits === undefined
