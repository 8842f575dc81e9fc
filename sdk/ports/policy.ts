import type { EventType } from '../events.ts'
import type { Caller } from '../model/caller.ts'
import type { Kind, LifeState, Ref } from '../model/kind.ts'
import type { Permission } from '../model/permission.ts'
import type { ReadAccessOrigin } from '../model/read-access.ts'
import { contributions, port } from '../port.ts'
import type { Collection, Stored, Where } from './document-store.ts'

/**
 * `yes`; `no`: the caller may view the resource but lacks the permission; `unseen`: the resource does not exist for this caller (unknown, malformed or
 * invisible id, indistinguishably); `frozen`: would be `yes` if the resource were not in the trash.
 */
export type AccessDecision = 'yes' | 'no' | 'unseen' | 'frozen'

/**
 * How a request treats resources in the trash: trashed datasets and collections, and everything that is only in those. `readable`: allowed for callers who can
 * view it there, since the request only reads. `frozen`: refused, since the request changes the resource or ignores trashed ones. By default the permission
 * decides: View* and DownloadFiles are `readable`; DeleteDataset and DeleteCollection purge and restore; all others are `frozen`. `ignored`: decided as if
 * nothing were in the trash, for news that something was moved there; content must not be returned on this basis.
 */
export type TrashRule = 'readable' | 'frozen' | 'ignored'

/** Makes all access decisions. Every decision is up to date: nothing is cached between requests. */
export interface Policy {
  /** Permissions without a particular resource: yes for every active signed-in caller (v1), and for read permissions on a public server. */
  can(caller: Caller, permission: Permission): AccessDecision
  /** A permission on one resource. Derived resources delegate to their parent. */
  canOn(caller: Caller, permission: Permission, ref: Ref, trash?: TrashRule): Promise<AccessDecision>
  /** The same for many resources of one kind, with one read per 1,000; ids whose decision is not `yes` are omitted. */
  allowed(caller: Caller, permission: Permission, kind: Kind, ids: readonly string[], trash?: TrashRule): Promise<ReadonlySet<string>>
  /** `allowed` for several permissions in the same number of reads: the permissions held on each id, in argument order; ids without any are omitted. */
  held(
    caller: Caller,
    permissions: readonly Permission[],
    kind: Kind,
    ids: readonly string[],
    trash?: TrashRule,
  ): Promise<ReadonlyMap<string, readonly Permission[]>>
  /** The ids of one kind that the caller may view: `allowed` with the view permission of the kind. Empty for an undeclared kind. */
  seen(caller: Caller, kind: Kind, ids: readonly string[], trash?: TrashRule): Promise<ReadonlySet<string>>
  /** Whether a resource is in the trash, regardless of the caller: background jobs must not change it. */
  isInTrash(ref: Ref): Promise<boolean>
  /**
   * What the caller may view of records with the fields of `Rights` (spaces, author, isPublic), as a condition for lists; `'all'` without restriction,
   * `'nothing'` if no record is visible. With a permission other than View*: the records on which the caller has it. Does not exclude the trash; lists query
   * `state: 'live'`.
   */
  visibleTo(caller: Caller, permission: Permission): Where | 'all' | 'nothing'
  /**
   * The same rule for search: spaces, the caller's id (for files in the caller's datasets), whether public and own resources are included, and where metadata,
   * comments and sections may not be searched.
   */
  searchScope(caller: Caller): SearchScope
  /**
   * The rules that led to the decision, for display: `["role Editor in space 5f… grants EditDataset"]`. Parents are named only if `reader`, who receives this
   * (by default the caller), may view them.
   */
  explain(
    caller: Caller,
    permission: Permission,
    ref?: Ref,
    reader?: Caller,
  ): Promise<{ verdict: AccessDecision; because: readonly string[] }>
  /** True if reading requires sign-in. May change at run time: see `ReadAccess`. */
  readonly isPrivate: boolean
}
export const Policy = port<Policy>('policy')

/**
 * Whether anonymous callers may read: yes on a public server, no on a private one. Known without a query; changes take effect within a second on every kernel.
 */
export interface ReadAccess {
  readonly isPrivate: boolean
  readonly origin: ReadAccessOrigin
  /** Makes a new installation private until an admin chooses. No effect if it is configured, already chosen or pending. */
  ask(): Promise<void>
  /** `Conflict` if it is set by the configuration. */
  choose(isPrivate: boolean): Promise<void>
}
export const ReadAccess = port<ReadAccess>('readAccess')

/** The part of the search index that a caller may view. */
export type SearchScope =
  | {
      readonly all: true
      /** For files outside of datasets: only those of this author. Even on a public server such files are private to their authors. */
      readonly unplaced?: { readonly author?: string }
    }
  | {
      readonly all: false
      readonly spaces: readonly string[]
      readonly author?: string
      readonly includePublic: boolean
      /** Kinds without any public resources now, whatever the index contains. */
      readonly closedKinds?: readonly Kind[]
      /** Spaces that grant view access to certain kinds only. */
      readonly inPart?: readonly { readonly kinds: readonly Kind[]; readonly spaces: readonly string[] }[]
      /** Additionally restricts to these spaces: the scope of a limited key. */
      readonly within?: readonly string[]
      /**
       * Present if roles of the caller grant view access to resources without their metadata, comments or sections: for each of these, the spaces whose roles
       * grant that too. Indexes ignore it.
       */
      readonly annotated?: { readonly [annotation in 'metadata' | 'comments' | 'sections']?: readonly string[] }
    }

/** The data from which access to a resource is decided. */
export interface Rights {
  /** The creator, who has all permissions. */
  readonly author: string
  /** Spaces whose roles grant permissions on it. */
  readonly spaces: readonly string[]
  /** Readable by everyone, even on a private server. */
  readonly isPublic: boolean
  readonly state: LifeState
  /** For derived files: the job whose key was used for the upload. The key has access even before the file is attached. */
  readonly job?: string
  /** Decide by these instead: yes if any of them is yes. For example a file's datasets or a preview's file. */
  readonly parents?: readonly Ref[]
}

/** Reads the rights for one kind of resource from its own plugin's records. */
export interface RightsSource {
  /** The rights for the existing ids. At most 1,000 ids per call. */
  rightsOf(ids: readonly string[]): Promise<ReadonlyMap<string, Rights>>
}

/** Properties of a resource of any kind, for events and lists. */
export interface ResourceDescription {
  readonly name: string
  /** Account id. */
  readonly author: string
  readonly spaces: readonly string[]
  /** The resources that it derives its rights from. */
  readonly within: readonly Ref[]
}

/** The records of a kind, and the resources that each of them refers to. */
export interface ResourceReferences {
  readonly in: Collection<object>
  /** References that must resolve, also to resources in the trash. */
  of(record: object & Stored): readonly Ref[]
}

/** A kind of resource, for the policy and for features that work with any kind. Created by `defineResource`. */
export interface Resource extends RightsSource {
  readonly kind: Kind
  /** The permission without which resources of this kind appear not to exist. */
  readonly view: Permission
  /** Whether resources of this kind can be found by search. */
  readonly isSearched: boolean
  /** The types of its events, for events and feed; empty for Pounce's own kinds, which are built in. */
  readonly events: readonly EventType[]
  /** Present if the definition has a `name`. At most 1,000 ids per call. */
  describe?(ids: readonly string[]): Promise<ReadonlyMap<string, ResourceDescription>>
  /** Names for follow recommendations, by id; absent if the kind is not recommended. At most 1,000 ids per call. */
  namesOf?(ids: readonly string[]): Promise<ReadonlyMap<string, string>>
  /** For consistency checks; absent if the resources of this kind are parts of other records. */
  readonly references?: ResourceReferences
}
/** All kinds of resources of the loaded plugins. */
export const Resources = contributions<Resource>('resources')
