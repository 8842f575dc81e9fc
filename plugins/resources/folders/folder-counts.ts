import { type ContentCount, DocumentStore, eq, type Ref, wire } from 'pounce/sdk'
import { folders } from './collection.ts'

/** How many folders lie right in a dataset or folder. */
export class FolderCounts implements ContentCount {
  readonly kind = 'folder'
  #documents: DocumentStore

  constructor(documents: DocumentStore) {
    this.#documents = documents
  }

  async countIn({ kind, id }: Ref, upTo = 10_000): Promise<number> {
    if (kind !== 'dataset' && kind !== 'folder') return 0
    return this.#documents.count(folders, { using: 'byParent', where: eq('parent.id', id), upTo })
  }
}
wire(FolderCounts, DocumentStore)
