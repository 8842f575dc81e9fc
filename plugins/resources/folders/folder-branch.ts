import {
  type After,
  type Caller,
  type ContentCount,
  ContentCounts,
  type Contributions,
  Folders,
  type Page,
  type TreeBranch,
  type TreeNode,
  type TreeParent,
  whichHold,
  wire,
} from 'pounce/sdk'

/** Folders in the tree: below the dataset or folder they lie in, by name. */
export class FolderBranch implements TreeBranch {
  readonly kind = 'folder'
  #folders: Folders
  #counts: Contributions<ContentCount>

  constructor(folders: Folders, counts: Contributions<ContentCount>) {
    this.#folders = folders
    this.#counts = counts
  }

  async below(
    { kind, id }: TreeParent,
    _caller: Caller,
    page: { readonly after?: After; readonly limit: number },
  ): Promise<Page<TreeNode>> {
    if (id === undefined || (kind !== 'dataset' && kind !== 'folder')) return { items: [] }
    const { items, next } = await this.#folders.childrenOf(id, page)
    const holding = await whichHold(
      this.#counts,
      'folder',
      items.map(one => one.id),
    )
    const nodes = items.map(
      ({ id, displayName: name, dataset }): TreeNode => ({
        kind: 'folder',
        id,
        name,
        hasChildren: holding.has(id),
        data: { parentDataset: dataset },
      }),
    )
    return { items: nodes, ...(next ? { next } : {}) }
  }
}
wire(FolderBranch, Folders, ContentCounts)
