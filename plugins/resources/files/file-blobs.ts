import { type BlobOwner, DocumentStore, eq, wire } from 'pounce/sdk'
import { files } from './collection.ts'

/** Which stored bytes belong to a file. */
export class FileBlobs implements BlobOwner {
  readonly places = [{ in: files, field: 'blob' }]
  #documents: DocumentStore

  constructor(documents: DocumentStore) {
    this.#documents = documents
  }

  async owned(keys: readonly string[]): Promise<ReadonlySet<string>> {
    const owned = new Set<string>()
    for (const key of keys) {
      const { items } = await this.#documents.find(files, { using: 'byBlob', where: eq('blob', key), limit: 1 })
      if (items.length > 0) owned.add(key)
    }
    return owned
  }
}
wire(FileBlobs, DocumentStore)
