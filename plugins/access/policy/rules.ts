import { type Caller, isServerAdmin, type Kind, type Membership, type Permission, type Rights, readingPermissions } from 'pounce/sdk'
import { extractionPermissions, readOnlyPermissions } from './permission-sets.ts'

/** How the installation is set. */
export interface Mode {
  readonly isPrivate: boolean
  /** Everybody who may look at something may also download it. */
  readonly isDownloadOpen: boolean
}

/** Why a caller has a right on one thing. */
export type Ground =
  | { readonly rule: 'superadmin' | 'author' | 'administrator' | 'service' | 'public' | 'open' }
  | { readonly rule: 'role'; readonly membership: Membership }

const grounds = {
  superadmin: { rule: 'superadmin' },
  author: { rule: 'author' },
  administrator: { rule: 'administrator' },
  service: { rule: 'service' },
  public: { rule: 'public' },
  open: { rule: 'open' },
} as const satisfies Record<string, Ground>

/** What has to hang on something to be seen by others: until then it is its author's alone, on a public server too. */
const derivedKinds: ReadonlySet<Kind> = new Set<Kind>([
  'folder',
  'file',
  'section',
  'preview',
  'thumbnail',
  'metadata',
  'comment',
  'relation',
])

/** True of what everybody may do on a public server, and on public things of a private one. */
export const isReading = (mode: Mode, permission: Permission): boolean =>
  readingPermissions.has(permission) || (mode.isDownloadOpen && permission === 'DownloadFiles')

/** Where downloads are open, a role that lets one see files lets one download them (Clowder 1.x, Permission.READONLY). */
export const roleHolds = (mode: Mode, membership: Membership, permission: Permission): boolean =>
  membership.permissions.has(permission) ||
  (mode.isDownloadOpen && permission === 'DownloadFiles' && membership.permissions.has('ViewFile'))

/** What stands between a caller and a permission whatever the resource: a sentence for people, or undefined. */
export const barred = (caller: Caller, permission: Permission): string | undefined => {
  if (caller.superAdmin) return undefined
  const status = caller.user?.status
  if (status === 'Inactive') return 'Account is not activated'
  if (status === 'ReadOnly' && !readOnlyPermissions.has(permission)) return 'Account is ReadOnly'
  if (caller.scope === 'extraction' && !extractionPermissions.has(permission)) return `An extraction key does not hold ${permission}`
  return undefined
}

/** A membership of the caller in one of the spaces whose role holds the permission. */
const heldRole = (mode: Mode, caller: Caller, permission: Permission, spaces: readonly string[]): Membership | undefined =>
  spaces.length === 0 ? undefined : caller.user?.memberships.find(held => spaces.includes(held.space) && roleHolds(mode, held, permission))

/** True when roles in spaces count for this permission on a thing in this state. */
const rolesCount = (permission: Permission, kind: Kind, state: Rights['state']): boolean => {
  if (state === 'importing') return false
  if (state === 'trashed') return permission.startsWith('Delete')
  // EditUser in a space is about its members, not about their accounts (reference, api-platform §5: "allow self or admin").
  return kind !== 'user' || readingPermissions.has(permission)
}

/**
 * The first rule that gives the caller the permission on a thing that exists, from what the thing says of itself.
 * A thing with parents is public, open or served only through them.
 */
export const groundOn = (mode: Mode, caller: Caller, permission: Permission, kind: Kind, rights: Rights): Ground | undefined => {
  if (caller.superAdmin) return grounds.superadmin
  if (barred(caller, permission)) return undefined
  if (caller.user !== undefined && caller.user.id === rights.author) return grounds.author
  if (kind === 'user' && isServerAdmin(caller)) return grounds.administrator
  const membership = rolesCount(permission, kind, rights.state) ? heldRole(mode, caller, permission, rights.spaces) : undefined
  if (membership) return { rule: 'role', membership }
  if (rights.state !== 'live' || (rights.parents !== undefined && rights.parents.length > 0)) return undefined
  if (caller.via === 'service') return grounds.service
  if (!isReading(mode, permission) || derivedKinds.has(kind)) return undefined
  if (rights.isPublic) return grounds.public
  return mode.isPrivate ? undefined : grounds.open
}
