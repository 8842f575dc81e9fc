import {
  type After,
  type Caller,
  Collections,
  type ContentCount,
  ContentCounts,
  type Contributions,
  type Page,
  type TreeBranch,
  type TreeNode,
  type TreeParent,
  whichHold,
  wire,
} from 'pounce/sdk'
import type { Dataset } from './collection.ts'
import { DatasetLists } from './dataset-lists.ts'

/** Datasets in the tree: in a collection, in a space but in no collection of it, and at the root those of the caller that are in neither. */
export class DatasetBranch implements TreeBranch {
  readonly kind = 'dataset'
  #lists: DatasetLists
  #collections: Collections
  #counts: Contributions<ContentCount>

  constructor(lists: DatasetLists, collections: Collections, counts: Contributions<ContentCount>) {
    this.#lists = lists
    this.#collections = collections
    this.#counts = counts
  }

  async below(parent: TreeParent, caller: Caller, page: { readonly after?: After; readonly limit: number }): Promise<Page<TreeNode>> {
    const { items, next } = await this.#lists.below(caller, parent, page)
    const shown = parent.kind === 'space' && parent.id !== undefined ? await this.#loose(items, parent.id) : items
    const holding = await whichHold(
      this.#counts,
      'dataset',
      shown.map(one => one.id),
    )
    const nodes = shown.map(
      ({ id, name, author, spaces }): TreeNode => ({
        kind: 'dataset',
        id,
        name,
        hasChildren: holding.has(id),
        data: { authorId: author, spaces },
      }),
    )
    return { items: nodes, ...(next ? { next } : {}) }
  }

  /** Those that no collection of the space holds: the others show below their collection. */
  async #loose(datasets: readonly Dataset[], space: string): Promise<readonly Dataset[]> {
    const ids = [...new Set(datasets.flatMap(dataset => dataset.collections))]
    const inSpace = new Set<string>()
    for (let at = 0; at < ids.length; at += 1000) {
      for (const [id, { spaces, state }] of await this.#collections.getMany(ids.slice(at, at + 1000))) {
        if (state === 'live' && spaces.includes(space)) inSpace.add(id)
      }
    }
    return datasets.filter(dataset => !dataset.collections.some(id => inSpace.has(id)))
  }
}
wire(DatasetBranch, DatasetLists, Collections, ContentCounts)
