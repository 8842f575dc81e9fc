import type { EventType } from '../events.ts'
import type { Caller } from '../model/caller.ts'
import type { Kind, LifeState, Ref } from '../model/kind.ts'
import type { Permission } from '../model/permission.ts'
import type { ReadAccessOrigin } from '../model/read-access.ts'
import { contributions, port } from '../port.ts'
import type { Where } from './document-store.ts'

/**
 * `yes`; `no`: the caller may view the resource but not do this; `unseen`: the resource does not exist for this caller
 * (unknown, malformed or invisible id, indistinguishably); `frozen`: the caller could do this if the resource were not in the trash.
 */
export type AccessDecision = 'yes' | 'no' | 'unseen' | 'frozen'

/**
 * How a request treats resources in the trash: trashed datasets and collections, and whatever belongs only to these. `readable`: callers who can view it there may do this, since it
 * only reads. `frozen`: no one may, because it changes the resource, or because trashed resources do not count. By default the permission decides: View* and
 * DownloadFiles read; DeleteDataset and DeleteCollection purge and restore; every other one is `frozen`.
 */
export type TrashRule = 'readable' | 'frozen'

/** Access decisions, in one place. Every decision is current: nothing is cached between requests. */
export interface Policy {
  /** Rights without a particular resource: yes for every active signed-in caller (v1), and for reading on a public server. */
  can(caller: Caller, permission: Permission): AccessDecision
  /** Rights on one resource. Derived resources delegate to their parent. */
  canOn(caller: Caller, permission: Permission, ref: Ref, trash?: TrashRule): Promise<AccessDecision>
  /** The same for many of one kind, with one read per batch of 1,000; ids that are not `yes` are omitted. */
  allowed(caller: Caller, permission: Permission, kind: Kind, ids: readonly string[], trash?: TrashRule): Promise<ReadonlySet<string>>
  /** `allowed` for several permissions, with the reads of one: those that the caller holds on each id, in the order of the argument; ids without any are omitted. */
  held(
    caller: Caller,
    permissions: readonly Permission[],
    kind: Kind,
    ids: readonly string[],
    trash?: TrashRule,
  ): Promise<ReadonlyMap<string, readonly Permission[]>>
  /** The ids of one kind that the caller may view: `allowed` with the view permission of the kind. Empty for a kind that no plugin declares. */
  seen(caller: Caller, kind: Kind, ids: readonly string[], trash?: TrashRule): Promise<ReadonlySet<string>>
  /** Whether a resource is in the trash, independently of a caller: background work does not change it. */
  isInTrash(ref: Ref): Promise<boolean>
  /**
   * What the caller may view of records that have the fields of `Rights` (spaces, author, isPublic), as a condition for
   * lists; `'all'` for no restriction and `'nothing'` when no record is visible. With a permission other than
   * View*, the records on which the caller holds that permission. Trash is left to the lists, which query `state: 'live'`.
   */
  visibleTo(caller: Caller, permission: Permission): Where | 'all' | 'nothing'
  /** The same rule for search: ids of spaces and of the caller, who may view the files of their datasets, and whether public and own resources are included. */
  searchScope(caller: Caller): SearchScope
  /**
   * The rules that led to the decision, for people: `["role Editor in space 5f… holds EditDataset"]`. Parents are named as far as `reader`, who
   * receives this (the caller by default), may view them.
   */
  explain(
    caller: Caller,
    permission: Permission,
    ref?: Ref,
    reader?: Caller,
  ): Promise<{ verdict: AccessDecision; because: readonly string[] }>
  /** True when reading requires sign-in. May change while the server runs: see `ReadAccess`. */
  readonly isPrivate: boolean
}
export const Policy = port<Policy>('policy')

/** Who may read without signing in: everyone on a public server, no one on a private one. Known without a query; a change counts within a second on every kernel. */
export interface ReadAccess {
  readonly isPrivate: boolean
  readonly origin: ReadAccessOrigin
  /** Makes a new installation private until an admin chooses. No effect where it is configured, chosen or asked already. */
  ask(): Promise<void>
  /** `Conflict` where it is configured. */
  choose(isPrivate: boolean): Promise<void>
}
export const ReadAccess = port<ReadAccess>('readAccess')

/** The part of the index that a caller may view. */
export type SearchScope =
  | {
      readonly all: true
      /** Of files in no dataset only those of this author: also on a public server they are their authors' alone. */
      readonly unplaced?: { readonly author?: string }
    }
  | {
      readonly all: false
      readonly spaces: readonly string[]
      readonly author?: string
      readonly includePublic: boolean
      /** Kinds of which nothing is public now, whatever the index has of them. */
      readonly closedKinds?: readonly Kind[]
      /** Spaces that count for resources of some kinds only: a role there lets the caller view these and no others. */
      readonly inPart?: readonly { readonly kinds: readonly Kind[]; readonly spaces: readonly string[] }[]
      /** Additionally only what is in one of these spaces: the scope of a limited key. */
      readonly within?: readonly string[]
    }

/** The facts about a resource from which the policy decides. */
export interface Rights {
  /** Its creator, who has all rights. */
  readonly author: string
  /** Spaces whose roles grant rights on it. */
  readonly spaces: readonly string[]
  /** Readable by everyone, also on a private server. */
  readonly isPublic: boolean
  readonly state: LifeState
  /** Of derived files: the job whose key uploaded it. That key has access before it is attached to anything. */
  readonly job?: string
  /** Decide by these instead: yes if any of them is yes. A file's datasets, a preview's file. */
  readonly parents?: readonly Ref[]
}

/** Reads the rights of one kind of resource, from records of its own plugin only. */
export interface RightsSource {
  /** Rights of those ids that exist. At most 1,000 ids at a time. */
  rightsOf(ids: readonly string[]): Promise<ReadonlyMap<string, Rights>>
}

/** What events and lists of resources of any kind say of one. */
export interface ResourceFacts {
  readonly name: string
  /** Account id. */
  readonly author: string
  readonly spaces: readonly string[]
  /** What it has its rights from. */
  readonly within: readonly Ref[]
}

/** A kind of resource, for the policy and for lists of resources of any kind. Created by `defineResource`. */
export interface Resource extends RightsSource {
  readonly kind: Kind
  /** The permission without which a resource of the kind does not exist for a caller. */
  readonly view: Permission
  /** Whether searches find resources of the kind. */
  readonly isSearched: boolean
  /** The types of its events, where its plugin has events and feed say what happens to it; of Pounce's own kinds none, since these are known. */
  readonly events: readonly EventType[]
  /** Present with `events`. At most 1,000 ids at a time. */
  factsOf?(ids: readonly string[]): Promise<ReadonlyMap<string, ResourceFacts>>
  /** Names for follow recommendations, by id; absent when the kind is not recommended. At most 1,000 ids at a time. */
  namesOf?(ids: readonly string[]): Promise<ReadonlyMap<string, string>>
}
/** Every kind of resource that the loaded plugins declare. */
export const Resources = contributions<Resource>('resources')
