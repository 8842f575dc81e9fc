import type { AccessDecision, Caller, Kind, Permission, Ref, Rights } from 'pounce/sdk'
import { idOf } from './cast.ts'

/** Rights of resources by `kind:name` or `kind:id`. */
export type NaiveWorld = Readonly<Record<string, Rights>>

const viewing: Readonly<Partial<Record<Kind, Permission>>> = {
  space: 'ViewSpace',
  dataset: 'ViewDataset',
  collection: 'ViewCollection',
  folder: 'ViewDataset',
  file: 'ViewFile',
  preview: 'ViewFile',
  section: 'ViewSection',
  metadata: 'ViewMetadata',
  comment: 'ViewComments',
  user: 'ViewUser',
}
/** Kinds with rights of their own besides those of the author; all others inherit the rights of their parents. */
const standing: readonly Kind[] = ['space', 'dataset', 'collection', 'user']

const looks = (permission: Permission): boolean => permission.startsWith('View') && permission !== 'ViewRelation'
const verb = (permission: Permission): 'read' | 'write' | 'delete' | 'manage' => {
  if (looks(permission) || permission === 'DownloadFiles' || permission === 'ViewRelation') return 'read'
  if (/Space$/.test(permission) && /^(Edit|Delete|Public|Create)/.test(permission)) return 'manage'
  if (permission === 'EditUser' || permission === 'PublicDataset' || permission === 'EditStagingArea') return 'manage'
  return /^(Delete|Remove)/.test(permission) ? 'delete' : 'write'
}

/** A literal, slow implementation of the rules of the reference, which shares no code with the policy. */
export class NaivePolicy {
  readonly #world: NaiveWorld
  readonly #isPrivate: boolean
  readonly #isDownloadOpen: boolean

  constructor(world: NaiveWorld, mode: { readonly isPrivate: boolean; readonly allowAnonymousDownload: boolean }) {
    this.#world = world
    this.#isPrivate = mode.isPrivate
    this.#isDownloadOpen = mode.allowAnonymousDownload
  }

  decide(caller: Caller, permission: Permission, ref: Ref): AccessDecision {
    if (!this.#isThere(ref) || !this.#isReached(caller, ref)) return 'unseen'
    const mayDo = this.#may(caller, permission, ref)
    const purges = `Delete${ref.kind}`.toLowerCase() === permission.toLowerCase() && (ref.kind === 'dataset' || ref.kind === 'collection')
    const isFrozen = this.#isInTrash(ref) && verb(permission) !== 'read' && !purges
    if (mayDo && isFrozen) return this.#may(caller, viewing[ref.kind] ?? 'ViewFile', ref) ? 'frozen' : 'unseen'
    if (mayDo) return 'yes'
    const isNobody = caller.user?.status === 'Inactive' || caller.user?.termsPending === true
    const viewer: Caller = isNobody ? { via: 'nothing', scope: 'full', superAdmin: false } : caller
    return this.#may(viewer, viewing[ref.kind] ?? 'ViewFile', ref) ? 'no' : 'unseen'
  }

  #of({ kind, id }: Ref): Rights | undefined {
    const key = Object.keys(this.#world).find(
      each => each === `${kind}:${id}` || (each.startsWith(`${kind}:`) && idOf(each.slice(kind.length + 1)) === id),
    )
    return key === undefined ? undefined : this.#world[key]
  }

  #parents(ref: Ref): readonly Ref[] {
    return this.#of(ref)?.parents ?? []
  }

  #isThere(ref: Ref): boolean {
    if (!this.#of(ref)) return false
    return this.#parents(ref).length === 0 || this.#parents(ref).some(parent => this.#isThere(parent))
  }

  /** Trashed, or all its parents are in the trash. */
  #isInTrash(ref: Ref): boolean {
    const above = this.#parents(ref).filter(parent => this.#isThere(parent))
    return this.#of(ref)?.state === 'trashed' || (above.length > 0 && above.every(parent => this.#isInTrash(parent)))
  }

  #isReached(caller: Caller, ref: Ref): boolean {
    const limit = caller.limits?.spaces
    if (limit === undefined) return true
    if (!this.#isThere(ref)) return false
    return (
      [...limit].some(space => this.#of(ref)?.spaces.includes(space)) || this.#parents(ref).some(parent => this.#isReached(caller, parent))
    )
  }

  #may(caller: Caller, permission: Permission, ref: Ref): boolean {
    if (!this.#isLetOut(caller, permission)) return false
    return permission === 'DeleteFile' || permission === 'ArchiveFile'
      ? this.#hasWhole(caller, permission, ref, this.#isInTrash(ref))
      : this.#has(caller, permission, ref)
  }

  /** Granted by the resource itself, or by all that it belongs to. Beside something live, the trash counts as before. */
  #hasWhole(caller: Caller, permission: Permission, ref: Ref, isInTrash: boolean, isBelow = false): boolean {
    const rights = this.#of(ref)
    if (!rights || !this.#isThere(ref)) return false
    const state = rights.state === 'trashed' && !isInTrash ? 'live' : rights.state
    if (this.#hasOf(caller, permission, ref.kind, { ...rights, state }, isBelow)) return true
    const above = this.#parents(ref).filter(parent => this.#isThere(parent))
    return above.length > 0 && above.every(parent => this.#hasWhole(caller, permission, parent, isInTrash, true))
  }

  /** Whether the account and the key allow this permission at all. */
  #isLetOut({ user, scope, limits, superAdmin }: Caller, permission: Permission): boolean {
    if (user?.termsPending) return false
    if (superAdmin && limits === undefined) return true
    if (user?.status === 'Inactive') return false
    if (user?.status === 'ReadOnly' && !looks(permission) && permission !== 'DownloadFiles') return false
    const isForPeople = ['delete', 'manage'].includes(verb(permission)) || permission === 'CreateSpace' || permission === 'ArchiveFile'
    if (scope === 'extraction' && isForPeople) return false
    return limits?.verbs === undefined || limits.verbs.has(verb(permission))
  }

  #has(caller: Caller, permission: Permission, ref: Ref, isBelow = false): boolean {
    const rights = this.#of(ref)
    if (!rights || !this.#isThere(ref)) return false
    return (
      this.#hasOf(caller, permission, ref.kind, rights, isBelow) ||
      this.#parents(ref).some(parent => this.#has(caller, permission, parent, true))
    )
  }

  #hasOf(caller: Caller, permission: Permission, kind: Kind, rights: Rights, isBelow: boolean): boolean {
    const { user, limits, superAdmin } = caller
    if (superAdmin && limits === undefined) return true
    if (kind === 'user' && limits !== undefined && !looks(permission)) return false
    if (user?.id === rights.author) return true
    const isAdmin = user?.status === 'Admin' && caller.scope === 'full' && limits === undefined
    if (kind === 'user' && isAdmin) return true
    const isRole = (user?.memberships ?? []).some(
      held =>
        rights.spaces.includes(held.space) &&
        (held.permissions.has(permission) || (this.#isDownloadOpen && permission === 'DownloadFiles' && held.permissions.has('ViewFile'))),
    )
    const ofTrashed = permission === 'DeleteDataset' ? kind === 'dataset' : permission === 'DeleteCollection' && kind === 'collection'
    const rolesCount = rights.state === 'live' || (rights.state === 'trashed' && ofTrashed && !isBelow)
    if (isRole && rolesCount && (kind !== 'user' || looks(permission))) return true
    if (rights.state !== 'live' || (rights.parents ?? []).length > 0) return false
    if (caller.via === 'service') return true
    const isToLook = looks(permission) || (this.#isDownloadOpen && permission === 'DownloadFiles')
    return isToLook && standing.includes(kind) && (rights.isPublic || !this.#isPrivate)
  }
}
