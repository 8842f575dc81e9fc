import type { Caller } from '../model/caller.ts'
import type { Kind, Ref } from '../model/kind.ts'
import type { Time } from '../model/records.ts'
import { type Contributions, contributions, port } from '../port.ts'
import type { After, Page } from './document-store.ts'
import type { MetadataValue, SearchDocument } from './search-index.ts'

/** Counters that are maintained rather than counted, and equal a recount once the outbox is empty. */
export interface Counters {
  /** The whole installation. */
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

/** Deletes resources of one kind as their DELETE route does; contributed by the plugin of the kind. */
export interface TrashHandler {
  readonly kind: Kind
  /** Moves to the trash, or purges where there is none or the resource is in it. Rights are checked by the caller. Absent: `NotFound`. */
  discard(id: string, actor: string | undefined): Promise<void>
}
/** Plugins whose resources have a trash. */
export const TrashHandlers = contributions<TrashHandler>('trashHandlers')

/** What a user might want to follow as well (reference, api-platform §1). */
export interface Recommendation {
  readonly id: string
  readonly name: string
  readonly objectType: Kind
}

/** Finds what followers of a resource also follow. */
export interface Recommender {
  /** The most followed first, at most 10, only what the caller may view and does not follow yet. */
  recommend(caller: Caller, target: Ref): Promise<readonly Recommendation[]>
}
/** Plugins that recommend resources. */
export const Recommenders = contributions<Recommender>('recommenders')

/** Counts the resources of one kind that are directly in a container; contributed by the plugin of the kind. */
export interface ContentCount {
  /** What is counted: `collection`, `dataset`, `folder`, `file`. */
  readonly kind: Kind
  /** Live ones, counted up to `upTo`; by default all, from a cache of up to a minute where there are more than 10,000. 0 in what cannot contain any. */
  countIn(container: Ref, upTo?: number): Promise<number>
}
/** Plugins that count what containers hold. */
export const ContentCounts = contributions<ContentCount>('contentCounts')

/** How many of a kind are directly in a container; 0 where no plugin counts the kind. See `ContentCount.countIn`. */
export const countIn = async (counts: Contributions<ContentCount>, kind: Kind, container: Ref, upTo?: number): Promise<number> =>
  (await counts
    .all()
    .find(one => one.kind === kind)
    ?.countIn(container, upTo)) ?? 0

/** How many resources are queried concurrently: one round trip to a remote store for all of them. */
const askedAtOnce = 32

const holdsAny = async (counts: Contributions<ContentCount>, container: Ref): Promise<boolean> => {
  for (const count of counts.all()) if ((await count.countIn(container, 1)) > 0) return true
  return false
}

/** Those of some resources of one kind that contain anything. */
export const whichHold = async (counts: Contributions<ContentCount>, kind: Kind, ids: readonly string[]): Promise<ReadonlySet<string>> => {
  const holding = new Set<string>()
  for (let at = 0; at < ids.length; at += askedAtOnce) {
    const some = ids.slice(at, at + askedAtOnce)
    const held = await Promise.all(some.map(id => holdsAny(counts, { kind, id })))
    for (const [n, id] of some.entries()) if (held[n]) holding.add(id)
  }
  return holding
}

/** What the full view of a search shows of a resource. */
export interface ResourceSummary {
  /** As the API shows it. */
  readonly id: string
  readonly name: string
  readonly description: string
  /** Account id of the author. */
  readonly author: string
  readonly created: Time
  readonly tags: readonly string[]
  /** What it is directly in, by preference: the first that a caller may view is shown as its place. */
  readonly containers: readonly Ref[]
  /** Of a file: media type, size and the name it was uploaded under. */
  readonly contentType?: string
  readonly sizeBytes?: number
  readonly createdAs?: string
  /** Id of its thumbnail. */
  readonly thumbnail?: string
  /** Values that are indexed besides those of metadata documents. */
  readonly values?: readonly MetadataValue[]
}

/** Each resource plugin contributes one for every kind that can be found by search. */
export interface Searchable {
  readonly kind: Kind
  /** The index entries of those that exist; omitted ids are removed from the index. At most 200 ids. */
  describe(ids: readonly string[]): Promise<ReadonlyMap<string, SearchDocument>>
  /** Every id, for a rebuild. */
  all(): AsyncIterable<string>
  /**
   * The items of a search answer in v1's shape, by id. Ids that the caller may not view were removed before; what is in the trash is omitted here,
   * for its author too: the index may be behind.
   */
  present(ids: readonly string[], caller: Caller): Promise<ReadonlyMap<string, Readonly<Record<string, unknown>>>>
  /** The same for the full view. */
  summarize(ids: readonly string[]): Promise<ReadonlyMap<string, ResourceSummary>>
}
/** Plugins with documents for the search index. */
export const Searchables = contributions<Searchable>('searchables')

/** Finds resources of a kind that no search index holds by their names; contributed by the plugin of the kind. */
export interface NameFinder {
  readonly kind: Kind
  /** Those that the caller may view and of whose names some words begin with those of the text, at most `limit`; of very many alike, some. */
  find(text: string, caller: Caller, limit: number): Promise<readonly { readonly id: string; readonly name: string }[]>
}
/** Plugins that find resources by their names. */
export const NameFinders = contributions<NameFinder>('nameFinders')

/** Where the tree stands: `root`, or a space, collection, dataset or folder. */
export interface TreeParent {
  readonly kind: 'root' | 'space' | 'collection' | 'dataset' | 'folder'
  /** Absent at the root. */
  readonly id?: string
  /** Only what the caller created. */
  readonly mine: boolean
}

/** A node of the tree (reference, api-platform §10). */
export interface TreeNode {
  readonly kind: Kind
  readonly id: string
  readonly name: string
  readonly hasChildren: boolean
  /** Further members of v1's `data` and node: `authorId`, `spaces`, `parentDataset`. */
  readonly data: Readonly<Record<string, unknown>>
}

/** Each resource plugin contributes one for every kind that shows in the tree. */
export interface TreeBranch {
  readonly kind: TreeNode['kind']
  /** Resources of this kind directly below the parent that the caller may view; none for parents that cannot contain any. The right to view the parent was checked. */
  below(parent: TreeParent, caller: Caller, page: { readonly after?: After; readonly limit: number }): Promise<Page<TreeNode>>
}
/** Plugins with branches of the resource tree. */
export const TreeBranches = contributions<TreeBranch>('treeBranches')

/** Displays a media type. */
export interface Previewer {
  readonly id: string
  readonly summary: string
  /** Media types of exactly two parts, `*` for a part. */
  readonly mediaTypes: readonly string[]
  /** Asset path and main script for the browser (v1: p_path, p_main). */
  readonly path: string
  readonly main: string
  /** Shows the file itself when no preview fits. */
  readonly showsFiles: boolean
}
/** Plugins with previewers for the web interface. */
export const Previewers = contributions<Previewer>('previewers')
