import { type Caller, isServerAdmin, isSuperAdmin, type Kind, type Membership, type Permission, type Ref, type Rights } from 'pounce/sdk'
import { type CallerJob, type KeyLimits, type PermissionCatalog, readingPermissions } from 'pounce/sdk/kit'
import { extractionPermissions, jobAddingPermissions, jobPermissions, readOnlyPermissions } from './permission-sets.ts'
import type { CallerRoles, ParentStep, RightsGraph } from './rights-graph.ts'

/** The policy settings of the installation. */
export interface Mode {
  readonly isPrivate: boolean
  /** Callers who may view a file may also download it. */
  readonly isDownloadOpen: boolean
  /** Everyone may read geostreams, on a private server too. */
  readonly areGeostreamsOpen: boolean
  /** Permissions of Pounce and of the running plugins. */
  readonly permissions: PermissionCatalog
}

/** True for permissions that everyone has on a public server, and on public resources of a private one. */
export const isReading = (mode: Mode, permission: Permission): boolean =>
  mode.permissions.isReading(permission) || (mode.isDownloadOpen && permission === 'DownloadFiles')

/** True for what everyone may read, signed in or not, wherever it is. */
export const isOpen = (mode: Mode, permission: Permission): boolean =>
  isReading(mode, permission) && (!mode.isPrivate || (permission === 'ViewGeoStream' && mode.areGeostreamsOpen))

/** Where downloads are open, a role that may view files may download them (Clowder 1.x, Permission.READONLY). */
export const roleHolds = (mode: Mode, membership: Membership, permission: Permission): boolean =>
  membership.permissions.has(permission) ||
  (mode.isDownloadOpen && permission === 'DownloadFiles' && membership.permissions.has('ViewFile'))

/** Why a caller has a right on one resource. */
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

/** Kinds that must be attached to something to be visible to others: until then only their author may view them, even on a public server. */
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

/** True for an account that is not yet active or no longer active: it sees what anonymous callers see, and may change nothing. */
export const isShutOut = ({ user }: Caller): boolean => user?.status === 'Inactive' || user?.termsPending === true

/** View permissions added by plugins are granted to all who may read. */
export const includes = ({ permissions }: Mode, held: ReadonlySet<Permission>, permission: Permission): boolean =>
  held.has(permission) || permissions.isReading(permission)

const beyondVerbs = ({ permissions }: Mode, { verbs }: KeyLimits, permission: Permission): string | undefined => {
  const verb = permissions.verbOf(permission)
  if (verbs === undefined || (verb !== undefined && verbs.has(verb))) return undefined
  return `The key is limited to ${[...verbs].join(', ') || 'nothing'}; ${permission} requires the verb ${verb}`
}

/** What denies the caller a permission whatever the resource, as a sentence; undefined when nothing does. */
export const barred = (mode: Mode, caller: Caller, permission: Permission): string | undefined => {
  if (caller.user?.termsPending) return 'The terms of service are not accepted'
  if (isSuperAdmin(caller)) return undefined
  const status = caller.user?.status
  if (status === 'Inactive') return 'Account is not activated'
  if (status === 'ReadOnly' && !includes(mode, readOnlyPermissions, permission)) return 'Account is ReadOnly'
  if (caller.limits?.job) {
    if (!includes(mode, jobPermissions, permission)) return `The key of a job does not hold ${permission}`
  } else if (caller.scope === 'extraction' && !includes(mode, extractionPermissions, permission))
    return `An extraction key does not hold ${permission}`
  return caller.limits && beyondVerbs(mode, caller.limits, permission)
}

/** Spaces in which a role of the caller has the permission, each once. */
export const spacesHeld = (mode: Mode, { user }: Caller, permission: Permission): ReadonlySet<string> =>
  new Set(user?.memberships.filter(held => roleHolds(mode, held, permission)).map(held => held.space))

/** The right to delete a trashed resource permanently and to restore it. */
const purgingPermission: Readonly<Partial<Record<Kind, Permission>>> = { dataset: 'DeleteDataset', collection: 'DeleteCollection' }

/** True for kinds that are trashed as a whole. */
export const isPurgeable = (kind: Kind): boolean => purgingPermission[kind] !== undefined

/** True for actions on a trashed resource as a whole. */
export const isPurging = (permission: Permission, kind: Kind): boolean => purgingPermission[kind] === permission

/** True when space roles apply to this permission on a resource in this state, or on its descendants. */
const rolesCount = (permission: Permission, kind: Kind, state: Rights['state'], isBelow: boolean): boolean => {
  if (state === 'importing') return false
  if (state === 'trashed') return !isBelow && isPurging(permission, kind)
  // EditUser in a space is about its members, not about their accounts (reference, api-platform §5: "allow self or admin").
  return kind !== 'user' || readingPermissions.has(permission)
}

/**
 * The first rule that grants the caller the permission on an existing resource, from the resource's own record.
 * A resource with parents is public, open or served only through them.
 */
export const groundOn = (
  callerRoles: CallerRoles,
  permission: Permission,
  { ref: { kind }, rights, below }: ParentStep,
): Ground | undefined => {
  const { caller, mode } = callerRoles
  if (barred(mode, caller, permission)) return undefined
  if (isSuperAdmin(caller)) return grounds.superadmin
  // A limited key may not manage accounts, including its owner's.
  if (kind === 'user' && caller.limits && !readingPermissions.has(permission)) return undefined
  if (caller.user !== undefined && caller.user.id === rights.author) return grounds.author
  if (kind === 'user' && isServerAdmin(caller)) return grounds.administrator
  const membership = rolesCount(permission, kind, rights.state, below !== undefined)
    ? callerRoles.roleIn(rights.spaces, permission)
    : undefined
  if (membership) return { rule: 'role', membership }
  if (rights.state !== 'live' || (rights.parents !== undefined && rights.parents.length > 0)) return undefined
  if (caller.via === 'service') return grounds.service
  if (!isReading(mode, permission) || derivedKinds.has(kind)) return undefined
  if (rights.isPublic) return grounds.public
  return isOpen(mode, permission) ? grounds.open : undefined
}

/** Kinds that are uploaded first and attached next. Those of other users can be viewed, but not described again. */
const jobDerivedKinds: ReadonlySet<Kind> = new Set<Kind>(['preview', 'thumbnail'])

/** The current scope of a job key: its file may have left the dataset that it was submitted for. */
export class JobKeyScope {
  readonly #mode: Mode
  readonly #job: CallerJob
  readonly #dataset: string | undefined

  /** `targets` contains the target of a job that names a dataset. */
  constructor(mode: Mode, job: CallerJob, targets: RightsGraph) {
    this.#mode = mode
    this.#job = job
    const parents = targets.of(job.target)?.parents ?? []
    this.#dataset = parents.some(({ kind, id }) => kind === 'dataset' && id === job.dataset) ? job.dataset : undefined
  }

  /** True for the target and its descendants, for what the job uploaded to attach, and, to read and add, for the dataset that contains the target. */
  includes(permission: Permission, ref: Ref, graph: RightsGraph): boolean {
    const { target, id } = this.#job
    const above = graph.above(ref).filter(step => graph.exists(step.ref))
    if (above.some(step => isSame(step.ref, target))) return true
    if (above[0]?.rights.job === id) return true
    const { kind } = ref
    const isAdding = includes(this.#mode, jobAddingPermissions, permission) && !(permission === 'AddFile' && jobDerivedKinds.has(kind))
    return isAdding && above.some(step => step.ref.kind === 'dataset' && step.ref.id === this.#dataset)
  }
}

const isSame = (one: Ref, other: Ref): boolean => one.kind === other.kind && one.id === other.id
