import {
  type After,
  type Caller,
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
import { CollectionLists } from './collection-lists.ts'

/** Collections in the tree: at the top of a space, in a collection, and at the root those of the caller that are in neither. */
export class CollectionBranch implements TreeBranch {
  readonly kind = 'collection'
  #lists: CollectionLists
  #counts: Contributions<ContentCount>

  constructor(lists: CollectionLists, counts: Contributions<ContentCount>) {
    this.#lists = lists
    this.#counts = counts
  }

  async below(parent: TreeParent, caller: Caller, page: { readonly after?: After; readonly limit: number }): Promise<Page<TreeNode>> {
    const { items, next } = await this.#lists.below(caller, parent, page)
    const holding = await whichHold(
      this.#counts,
      'collection',
      items.map(one => one.id),
    )
    const nodes = items.map(
      ({ id, name, author }): TreeNode => ({ kind: 'collection', id, name, hasChildren: holding.has(id), data: { authorId: author } }),
    )
    return { items: nodes, ...(next ? { next } : {}) }
  }
}
wire(CollectionBranch, CollectionLists, ContentCounts)
