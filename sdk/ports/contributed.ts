import type { Caller } from '../model/caller.ts'
import type { Kind, Ref } from '../model/kind.ts'
import { type Contributions, contributions, port } from '../port.ts'
import type { After, Page } from './document-store.ts'
import type { SearchDocument } from './search-index.ts'

/** Numbers that are kept, not counted, and equal a recount once the outbox is empty. */
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
  /** To the trash, or for good where there is none or the thing lies in it. Rights are the caller's to check. Absent: `NotFound`. */
  discard(id: string, actor: string | undefined): Promise<void>
}
/** Plugins whose resources have a trash. */
export const TrashHandlers = contributions<TrashHandler>('trashHandlers')

/** What somebody might want to follow as well (reference, api-platform §1). */
export interface Recommendation {
  readonly id: string
  readonly name: string
  readonly objectType: Kind
}

/** Knows what those who follow a thing follow besides. */
export interface Recommender {
  /** The most followed first, at most 10, only what the caller may see and does not follow yet. */
  recommend(caller: Caller, target: Ref): Promise<readonly Recommendation[]>
}
/** Plugins that recommend resources. */
export const Recommenders = contributions<Recommender>('recommenders')

/** How much of one kind lies right in a thing: contributed from below, for answers that carry the number, or whether there is any. */
export interface ContentCount {
  /** What is counted: `collection`, `dataset`, `folder`, `file`. */
  readonly kind: Kind
  /** Live ones, counted up to `upTo`; by default, all of them, at most a minute ago where there are more than 10,000. 0 in what cannot hold any. */
  countIn(container: Ref, upTo?: number): Promise<number>
}
/** Plugins that count what containers hold. */
export const ContentCounts = contributions<ContentCount>('contentCounts')

/** How many of a kind lie right in a container; 0 where no plugin counts the kind. See `ContentCount.countIn`. */
export const countIn = async (counts: Contributions<ContentCount>, kind: Kind, container: Ref, upTo?: number): Promise<number> =>
  (await counts
    .all()
    .find(one => one.kind === kind)
    ?.countIn(container, upTo)) ?? 0

/** How many things are asked about at once: a store behind a network is waited for once for all of them. */
const askedAtOnce = 32

const holdsAny = async (counts: Contributions<ContentCount>, container: Ref): Promise<boolean> => {
  for (const count of counts.all()) if ((await count.countIn(container, 1)) > 0) return true
  return false
}

/** Those of some things of one kind in which anything lies right. */
export const whichHold = async (counts: Contributions<ContentCount>, kind: Kind, ids: readonly string[]): Promise<ReadonlySet<string>> => {
  const holding = new Set<string>()
  for (let at = 0; at < ids.length; at += askedAtOnce) {
    const some = ids.slice(at, at + askedAtOnce)
    const held = await Promise.all(some.map(id => holdsAny(counts, { kind, id })))
    for (const [n, id] of some.entries()) if (held[n]) holding.add(id)
  }
  return holding
}

/** Each resource plugin contributes one for every kind that can be found by search. */
export interface Searchable {
  readonly kind: Kind
  /** What the index should know of those that exist now; ids that are left out are removed from it. At most 200 ids. */
  describe(ids: readonly string[]): Promise<ReadonlyMap<string, SearchDocument>>
  /** Every id, for a rebuild. */
  all(): AsyncIterable<string>
  /**
   * The items of a search answer in v1's shape, by id. Ids the caller may not see were taken out before; what is in the trash is left out here,
   * for its author too: the index may be behind.
   */
  present(ids: readonly string[], caller: Caller): Promise<ReadonlyMap<string, Readonly<Record<string, unknown>>>>
}
/** Plugins with documents for the search index. */
export const Searchables = contributions<Searchable>('searchables')

/** Where the tree stands: `root`, or a space, collection, dataset or folder. */
export interface TreeParent {
  readonly kind: 'root' | 'space' | 'collection' | 'dataset' | 'folder'
  /** Absent at the root. */
  readonly id?: string
  /** Only what the caller made. */
  readonly mine: boolean
}

/** A thing in the tree (reference, api-platform §10). */
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
  /** Things of this kind right below the parent that the caller may see; none for parents that hold none of them. The right to see the parent was checked. */
  below(parent: TreeParent, caller: Caller, page: { readonly after?: After; readonly limit: number }): Promise<Page<TreeNode>>
}
/** Plugins with branches of the resource tree. */
export const TreeBranches = contributions<TreeBranch>('treeBranches')

/** Shows a media type to people. */
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
