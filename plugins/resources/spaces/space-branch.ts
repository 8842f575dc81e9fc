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
import { SpaceLists } from './space-lists.ts'

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
    const holding = await whichHold(
      this.#counts,
      'space',
      items.map(one => one.id),
    )
    const nodes = items.map(
      ({ id, name, author }): TreeNode => ({ kind: 'space', id, name, hasChildren: holding.has(id), data: { authorId: author } }),
    )
    return { items: nodes, ...(next ? { next } : {}) }
  }
}
wire(SpaceBranch, SpaceLists, ContentCounts)
