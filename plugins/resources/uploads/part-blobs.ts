import { type BlobOwner, DocumentStore, eq, wire } from 'pounce/sdk'
import { parts } from './collections.ts'

/** Which stored bytes are parts of uploads. */
export class PartBlobs implements BlobOwner {
  readonly places = [{ in: parts, field: 'blob' }]
  readonly #documents: DocumentStore

  constructor(documents: DocumentStore) {
    this.#documents = documents
  }

  async owned(keys: readonly string[]): Promise<ReadonlySet<string>> {
    const owned = new Set<string>()
    for (const key of keys) {
      const { items } = await this.#documents.find(parts, { using: 'byBlob', where: eq('blob', key), limit: 1 })
      if (items.length > 0) owned.add(key)
    }
    return owned
  }
}
wire(PartBlobs, DocumentStore)
