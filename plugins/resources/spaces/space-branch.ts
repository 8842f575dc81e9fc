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
import { SpaceListings, type SpaceLists } from './space-lists.ts'

/** Spaces in the tree: at the root, those that concern the caller, newest first. */
export class SpaceBranch implements TreeBranch {
  readonly kind = 'space'
  #lists: SpaceLists
  #counts: Contributions<ContentCount>

  constructor(lists: SpaceLists, counts: Contributions<ContentCount>) {
    this.#lists = lists
    this.#counts = counts
  }

  async below(
    { kind, mine }: TreeParent,
    caller: Caller,
    page: { readonly after?: After; readonly limit: number },
  ): Promise<Page<TreeNode>> {
    if (kind !== 'root') return { items: [] }
    const { items, next } = await this.#lists.atRoot(caller, page, { mine })
    const nodes: TreeNode[] = []
    for (const { id, name, author } of items) {
      const hasChildren = await holdsAny(this.#counts, { kind: 'space', id })
      nodes.push({ kind: 'space', id, name, hasChildren, data: { authorId: author } })
    }
    return { items: nodes, ...(next ? { next } : {}) }
  }
}
wire(SpaceBranch, SpaceListings, ContentCounts)
