import type { Caller } from '../model/caller.ts'
import type { Kind, LifeState, Ref } from '../model/kind.ts'
import type { Permission } from '../model/permission.ts'
import { contributions, port } from '../port.ts'
import type { Where } from './document-store.ts'

/**
 * `yes`; `no`: the caller may see the thing but not do this; `unseen`: the thing does not exist for this caller
 * (unknown, malformed id, or invisible: nobody can tell which); `frozen`: the caller could do this, were the thing not in the trash.
 */
export type AccessDecision = 'yes' | 'no' | 'unseen' | 'frozen'

/**
 * What becomes of a thing in the trash: a trashed dataset or collection, or what hangs on nothing else. `readable`: whoever sees it there may do this, for it
 * only reads. `frozen`: nobody may, because it changes the thing, or because trash does not count. By default the permission tells: View* and
 * DownloadFiles read; DeleteDataset and DeleteCollection purge and restore; every other one is `frozen`.
 */
export type TrashRule = 'readable' | 'frozen'

/** Who may what, decided in one place. Every answer is about now: nothing is remembered between requests. */
export interface Policy {
  /** Rights without a particular resource: yes for every active signed-in caller (v1), and for reading on a public server. */
  can(caller: Caller, permission: Permission): AccessDecision
  /** Rights on one thing. Derived things ask their parent. */
  canOn(caller: Caller, permission: Permission, ref: Ref, trash?: TrashRule): Promise<AccessDecision>
  /** The same for many of one kind, with one read per batch of 1,000; ids without a verdict `yes` are left out. */
  allowed(caller: Caller, permission: Permission, kind: Kind, ids: readonly string[], trash?: TrashRule): Promise<ReadonlySet<string>>
  /** Those of one kind that the caller may see: `allowed` with the permission that the kind is declared with. None of a kind that no plugin declares. */
  seen(caller: Caller, kind: Kind, ids: readonly string[], trash?: TrashRule): Promise<ReadonlySet<string>>
  /** Whether a thing lies in the trash, for whoever asks: work in the background leaves it as it is. */
  isInTrash(ref: Ref): Promise<boolean>
  /**
   * What the caller may see of records that have the fields of `Rights` (spaces, author, isPublic), as a condition for
   * lists; `'all'` when there is nothing to hold back and `'nothing'` when nothing can be seen. With a permission other than
   * View*, the records on which the caller holds that permission. Trash is not the policy's: lists ask for `state: 'live'`.
   */
  visibleTo(caller: Caller, permission: Permission): Where | 'all' | 'nothing'
  /** The same rule for search: ids of spaces and of the caller, who sees the files of their datasets, and whether public and own things are included. */
  searchScope(caller: Caller): SearchScope
  /**
   * The rules that led to the verdict, for people: `["role Editor in space 5f… holds EditDataset"]`. What hangs on what is named as far as `reader`, who
   * is told this (the caller by default), may see it.
   */
  explain(
    caller: Caller,
    permission: Permission,
    ref?: Ref,
    reader?: Caller,
  ): Promise<{ verdict: AccessDecision; because: readonly string[] }>
  /** True when only signed-in people may read (`POUNCE_ACCESS__PRIVATE=true`). */
  readonly isPrivate: boolean
}
export const Policy = port<Policy>('policy')

/** The part of the index that a caller may see. */
export type SearchScope =
  | { readonly all: true }
  | {
      readonly all: false
      readonly spaces: readonly string[]
      readonly author?: string
      readonly includePublic: boolean
      /** Spaces that count for things of some kinds only: a role there lets the caller see these and no others. */
      readonly inPart?: readonly { readonly kinds: readonly Kind[]; readonly spaces: readonly string[] }[]
      /** Only what is in one of these spaces besides: how far a limited key reaches. */
      readonly within?: readonly string[]
    }

/** What a resource says of itself so that the policy can decide. */
export interface Rights {
  /** The user who made it: may do everything to it. */
  readonly author: string
  /** Spaces through whose roles people have rights here. */
  readonly spaces: readonly string[]
  /** Readable by everybody, also on a private server. */
  readonly isPublic: boolean
  readonly state: LifeState
  /** Of derived files: the job whose key uploaded it. That key reaches it before it is attached to anything. */
  readonly job?: string
  /** Ask these instead: yes if any of them says yes. A file's datasets, a preview's file. */
  readonly parents?: readonly Ref[]
}

/** Reads the rights of one kind of resource, from records of its own plugin only. */
export interface RightsSource {
  /** Rights of those ids that exist. At most 1,000 ids at a time. */
  rightsOf(ids: readonly string[]): Promise<ReadonlyMap<string, Rights>>
}

/** A kind of resource, as the policy and those who list resources of any kind know it. Made by `defineResource`. */
export interface Resource extends RightsSource {
  readonly kind: Kind
  /** The permission without which a resource of the kind does not exist for a caller. */
  readonly view: Permission
  /** Whether searches find resources of the kind. */
  readonly isSearched: boolean
  /** Names for follow recommendations, by id; absent when the kind is not recommended. At most 1,000 ids at a time. */
  namesOf?(ids: readonly string[]): Promise<ReadonlyMap<string, string>>
}
/** Every kind of resource that the loaded plugins declare. */
export const Resources = contributions<Resource>('resources')
