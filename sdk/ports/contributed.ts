import type { Caller } from '../model/caller.ts'
import type { Kind, Ref } from '../model/kind.ts'
import type { Time } from '../model/records.ts'
import { type Contributions, contributions, port } from '../port.ts'
import type { After, Page } from './document-store.ts'
import type { MetadataValue, SearchDocument } from './search-index.ts'

/** Counters that are updated incrementally; they equal a full recount once the outbox is empty. */
export interface Counters {
  /** Counters of the whole installation. */
  instance(): Promise<{
    readonly spaces: number
    readonly collections: number
    readonly datasets: number
    readonly files: number
    readonly bytes: number
    readonly users: number
  }>
}
export const Counters = port<Counters>('counters')

/** Deletes resources of one kind in the same way as their DELETE route; contributed by the plugin of the kind. */
export interface TrashHandler {
  readonly kind: Kind
  /** Moves a resource to the trash, or purges it if it is already there or there is no trash. The caller must check permissions. `NotFound` if absent. */
  discard(id: string, actor: string | undefined): Promise<void>
}
/** Plugins whose resources have a trash. */
export const TrashHandlers = contributions<TrashHandler>('trashHandlers')

/** A resource recommended to a user (reference, api-platform §1). */
export interface Recommendation {
  readonly id: string
  readonly name: string
  readonly objectType: Kind
}

/** Finds resources that followers of a resource also follow. */
export interface Recommender {
  /** The most followed first, at most 10; only resources that the caller may view and does not follow yet. */
  recommend(caller: Caller, target: Ref): Promise<readonly Recommendation[]>
}
/** Plugins that recommend resources. */
export const Recommenders = contributions<Recommender>('recommenders')

/** Counts resources of one kind directly in a container; contributed by the plugin of the kind. */
export interface ContentCount {
  /** The kind that is counted: `collection`, `dataset`, `folder`, `file`. */
  readonly kind: Kind
  /** Live resources, counted up to `upTo`; without it all of them, cached for up to one minute above 10,000. 0 for containers that cannot contain any. */
  countIn(container: Ref, upTo?: number): Promise<number>
}
/** Plugins that count content of containers. */
export const ContentCounts = contributions<ContentCount>('contentCounts')

/** The number of resources of a kind directly in a container; 0 if no plugin counts the kind. See `ContentCount.countIn`. */
export const countIn = async (counts: Contributions<ContentCount>, kind: Kind, container: Ref, upTo?: number): Promise<number> =>
  (await counts
    .all()
    .find(one => one.kind === kind)
    ?.countIn(container, upTo)) ?? 0

/** How many resources are queried concurrently, to share the round trip to a remote store. */
const maxConcurrent = 32

const holdsAny = async (counts: Contributions<ContentCount>, container: Ref): Promise<boolean> => {
  for (const count of counts.all()) if ((await count.countIn(container, 1)) > 0) return true
  return false
}

/** The subset of the given resources that contain anything. */
export const nonEmptyContainers = async (
  counts: Contributions<ContentCount>,
  kind: Kind,
  ids: readonly string[],
): Promise<ReadonlySet<string>> => {
  const holding = new Set<string>()
  for (let at = 0; at < ids.length; at += maxConcurrent) {
    const some = ids.slice(at, at + maxConcurrent)
    const areFilled = await Promise.all(some.map(id => holdsAny(counts, { kind, id })))
    for (const [n, id] of some.entries()) if (areFilled[n]) holding.add(id)
  }
  return holding
}

/** A resource in the full view of search results. */
export interface ResourceSummary {
  /** The id in the API. */
  readonly id: string
  readonly name: string
  readonly description: string
  /** Account id of the author. */
  readonly author: string
  readonly created: Time
  readonly tags: readonly string[]
  /** Its direct containers by preference: the first one that the caller may view is shown as its location. */
  readonly containers: readonly Ref[]
  /** For files: media type, size and original name. */
  readonly contentType?: string
  readonly sizeBytes?: number
  readonly createdAs?: string
  /** Id of its thumbnail. */
  readonly thumbnail?: string
  /** Indexed values from outside of metadata documents. */
  readonly values?: readonly MetadataValue[]
}

/** Contributed by resource plugins for every kind that can be found by search. */
export interface Searchable {
  readonly kind: Kind
  /** Index entries of the existing ones; omitted ids are removed from the index. At most 200 ids. */
  describe(ids: readonly string[]): Promise<ReadonlyMap<string, SearchDocument>>
  /** All ids, for a rebuild. */
  all(): AsyncIterable<string>
  /**
   * Items of a search response in v1's format, by id. The caller has removed ids that may not be viewed; trashed resources are omitted here, even for their
   * author, because the index may be outdated.
   */
  present(ids: readonly string[], caller: Caller): Promise<ReadonlyMap<string, Readonly<Record<string, unknown>>>>
  /** The same for the full view. */
  summarize(ids: readonly string[]): Promise<ReadonlyMap<string, ResourceSummary>>
}
/** Plugins whose resources are in the search index. */
export const Searchables = contributions<Searchable>('searchables')

/** Finds resources of a kind that is not in the search index by their names; contributed by the plugin of the kind. */
export interface NameFinder {
  readonly kind: Kind
  /**
   * At most `limit` resources that the caller may view and whose names contain words with the given prefixes; an arbitrary selection if there are very many.
   */
  find(text: string, caller: Caller, limit: number): Promise<readonly { readonly id: string; readonly name: string }[]>
}
/** Plugins that find resources by name. */
export const NameFinders = contributions<NameFinder>('nameFinders')

/** The position in the tree: `root`, or a space, collection, dataset or folder. */
export interface TreeParent {
  readonly kind: 'root' | 'space' | 'collection' | 'dataset' | 'folder'
  /** Absent at the root. */
  readonly id?: string
  /** Only resources created by the caller. */
  readonly mine: boolean
}

/** A node of the tree (reference, api-platform §10). */
export interface TreeNode {
  readonly kind: Kind
  readonly id: string
  readonly name: string
  readonly hasChildren: boolean
  /** Additional members of v1's `data` and node: `authorId`, `spaces`, `parentDataset`. */
  readonly data: Readonly<Record<string, unknown>>
}

/** Contributed by resource plugins for every kind in the tree. */
export interface TreeBranch {
  readonly kind: TreeNode['kind']
  /**
   * Resources of this kind directly below the parent that the caller may view; none for parents that cannot contain any. The permission on the parent has been
   * checked.
   */
  below(parent: TreeParent, caller: Caller, page: { readonly after?: After; readonly limit: number }): Promise<Page<TreeNode>>
}
/** Plugins whose resources are in the tree. */
export const TreeBranches = contributions<TreeBranch>('treeBranches')

/** A viewer for media types. */
export interface Previewer {
  readonly id: string
  readonly summary: string
  /** Media types of exactly two parts; a part may be `*`. */
  readonly mediaTypes: readonly string[]
  /** Asset path and main script for the browser (v1: p_path, p_main). */
  readonly path: string
  readonly main: string
  /** Displays the file itself if no preview matches. */
  readonly showsFiles: boolean
}
/** Plugins with previewers for the web interface. */
export const Previewers = contributions<Previewer>('previewers')
