import type { Permission } from './permission.ts'

/** A role held in a space, with the role's permissions as they are now. */
export interface Membership {
  readonly space: string
  /** Id of the role. */
  readonly role: string
  /** For people; absent where only the rights matter. */
  readonly roleName?: string
  readonly permissions: ReadonlySet<Permission>
}

/** An account's standing. `ReadOnly` may read and download; `Inactive` may do nothing. */
export type AccountStatus = 'Active' | 'Inactive' | 'ReadOnly' | 'Admin'

/** Who is signed in. */
export interface CallerUser {
  readonly id: string
  readonly email: string
  readonly fullName: string
  readonly status: AccountStatus
  readonly memberships: readonly Membership[]
}

/** Who asks, made once per request by the `Callers` port. */
export interface Caller {
  /** Absent for anonymous callers and for the installation's own service key. */
  readonly user?: CallerUser
  /** How the caller proved who they are. */
  readonly via: 'nothing' | 'session' | 'basic' | 'key' | 'bearer' | 'service'
  /** `extraction`: can do what extractors do (read, download, annotate, upload), never keys, users, roles or administration. */
  readonly scope: 'full' | 'extraction'
  /** Id of the API key that was used, if one was. */
  readonly keyId?: string
  /** A server admin who asked for it with `superAdmin=true`: passes every permission on every resource. */
  readonly superAdmin: boolean
}

/** Nobody in particular. */
export const anonymous: Caller = { via: 'nothing', scope: 'full', superAdmin: false }

/** True of a caller with status Admin, whether or not superadmin mode is on. Never true with an extraction key. */
export const isServerAdmin = (caller: Caller): boolean => caller.user?.status === 'Admin' && caller.scope === 'full'

/** The user id under which anonymous and service actions are recorded (Clowder 1.x, User.anonymous). */
export const anonymousUserId = '000000000000000000000000'
