import { type After, type Caller, Files, type Page, type TreeBranch, type TreeNode, type TreeParent, wire } from 'pounce/sdk'

/** Files in the tree: below the dataset or folder they lie in, by name. */
export class FileBranch implements TreeBranch {
  readonly kind = 'file'
  #files: Files

  constructor(files: Files) {
    this.#files = files
  }

  async below(
    { kind, id }: TreeParent,
    _caller: Caller,
    page: { readonly after?: After; readonly limit: number },
  ): Promise<Page<TreeNode>> {
    if (id === undefined || (kind !== 'dataset' && kind !== 'folder')) return { items: [] }
    const { items, next } = await this.#files.in(id, page)
    const nodes = items.map(file => ({
      kind: 'file' as const,
      id: file.id,
      name: file.name,
      hasChildren: false,
      data: { authorId: file.author },
    }))
    return { items: nodes, ...(next ? { next } : {}) }
  }
}
wire(FileBranch, Files)
