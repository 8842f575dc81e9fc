import type { Ref } from './kind.ts'
import type { Permission, Verb } from './permission.ts'

/** A role held in a space, with the current permissions of the role. */
export interface Membership {
  readonly space: string
  /** Id of the role. */
  readonly role: string
  /** For display; absent where only the permissions matter. */
  readonly roleName?: string
  readonly permissions: ReadonlySet<Permission>
  /** Id of the group through which the role is held; absent if held by the account itself. A space can then have several memberships. */
  readonly group?: string
}

/** The status of an account. `ReadOnly` may view and download; `Inactive` may do nothing. */
export type AccountStatus = 'Active' | 'Inactive' | 'ReadOnly' | 'Admin'

/** The signed-in user. */
export interface CallerUser {
  readonly id: string
  readonly email: string
  readonly fullName: string
  readonly status: AccountStatus
  /** Memberships of the account and of its groups. */
  readonly memberships: readonly Membership[]
  /** Set until the terms of service are accepted; meanwhile only routes with `beforeTerms` are allowed. */
  readonly termsPending?: true
  /** Set while the server requires a second factor that the account has not enrolled; meanwhile only the routes for enrolment are allowed. */
  readonly secondFactorPending?: true
}

/** How a caller whose authentication is too old or too weak can authenticate again. */
export interface StepUp {
  /** The possible methods: `password`, `totp`, `passkey`, `recovery-code`, `provider`. Empty for a credential that can never step up. */
  readonly methods: readonly string[]
  /** For display. */
  readonly message: string
}

/** The job whose key was used. */
export interface CallerJob {
  readonly id: string
  /** The file or dataset of the job: the key is valid for it and everything below it. */
  readonly target: Ref
  /** For a job on a file: the dataset it was submitted for, which the key may read and add to while the file is in it. */
  readonly dataset?: string
  /** `ExtractorInfo.name` of the job's extractor. */
  readonly extractor: string
  /** Expiry of the key. Jobs submitted with it get no key that is valid longer. */
  readonly expires: Date
}

/** The limits of a key within the rights of its user. An absent member limits nothing. */
export interface KeyLimits {
  readonly verbs?: ReadonlySet<Verb>
  /** The key of a job: valid only for routes that declare `jobKeys`, and only for the job's target. */
  readonly job?: CallerJob
  /** Only these spaces and their content. Everything else appears not to exist. */
  readonly spaces?: ReadonlySet<string>
}

/** The caller of a request, determined once per request by the `Callers` port. */
export interface Caller {
  /** Absent for anonymous callers and for the installation's own service key. */
  readonly user?: CallerUser
  /** How the caller authenticated; `proxy`: headers of a trusted reverse proxy. */
  readonly via: 'nothing' | 'session' | 'basic' | 'key' | 'bearer' | 'proxy' | 'service'
  /** `extraction`: only what extractors need (read, download, annotate, upload), never keys, users, roles or administration. */
  readonly scope: 'full' | 'extraction'
  /** Id of the API key used, if any. */
  readonly keyId?: string
  /** Id of the session used, if any. */
  readonly sessionId?: string
  /** Set for a key with fewer rights than its user. Such a caller is never a server admin and cannot manage its account. */
  readonly limits?: KeyLimits
  /** Set while routes that require step-up are refused. Absent for a caller that has authenticated recently enough. */
  readonly stepUp?: StepUp
  /** A server admin who sent `superAdmin=true`: passes every permission check on every resource. */
  readonly superAdmin: boolean
}

/** The anonymous caller. */
export const anonymous: Caller = { via: 'nothing', scope: 'full', superAdmin: false }

/** True for a caller with status Admin, whether or not superadmin mode is on. Never true for an extraction or limited key. */
export const isServerAdmin = (caller: Caller): boolean =>
  caller.user?.status === 'Admin' && caller.scope === 'full' && caller.limits === undefined

/** The user id under which anonymous and service actions are recorded (Clowder 1.x, User.anonymous). */
export const anonymousUserId = '000000000000000000000000'

/** True for a server admin in superadmin mode, who passes every permission check. Never true for a limited key, even if it sends `superAdmin=true`. */
export const isSuperAdmin = (caller: Caller): boolean => caller.superAdmin && caller.limits === undefined
