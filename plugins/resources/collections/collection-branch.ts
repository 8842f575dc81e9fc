import {
  type After,
  type Caller,
  type ContentCount,
  ContentCounts,
  type Contributions,
  holdsAny,
  type Page,
  type TreeBranch,
  type TreeNode,
  type TreeParent,
  wire,
} from 'pounce/sdk'
import { CollectionListings, type CollectionLists } from './collection-lists.ts'

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
    const nodes: TreeNode[] = []
    for (const { id, name, author } of items) {
      const hasChildren = await holdsAny(this.#counts, { kind: 'collection', id })
      nodes.push({ kind: 'collection', id, name, hasChildren, data: { authorId: author } })
    }
    return { items: nodes, ...(next ? { next } : {}) }
  }
}
wire(CollectionBranch, CollectionListings, ContentCounts)
