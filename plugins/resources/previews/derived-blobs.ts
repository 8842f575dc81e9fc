import { type BlobOwner, type Collection, DocumentStore, eq, wire } from 'pounce/sdk'
import { previews, thumbnails, tiles } from './collections.ts'

/** Which stored bytes belong to previews, thumbnails and tiles. */
export class DerivedBlobs implements BlobOwner {
  readonly places = [
    { in: previews, field: 'blob' },
    { in: thumbnails, field: 'blob' },
    { in: tiles, field: 'blob' },
  ]
  #documents: DocumentStore

  constructor(documents: DocumentStore) {
    this.#documents = documents
  }

  async owned(keys: readonly string[]): Promise<ReadonlySet<string>> {
    const owned = new Set<string>()
    for (const key of keys) {
      const named = await Promise.all([previews, thumbnails, tiles].map(from => this.#names(from as Collection<{ blob: string }>, key)))
      if (named.includes(true)) owned.add(key)
    }
    return owned
  }

  async #names(from: Collection<{ blob: string }>, key: string): Promise<boolean> {
    const { items } = await this.#documents.find(from, { using: 'byBlob', where: eq('blob', key), limit: 1 })
    return items.length > 0
  }
}
wire(DerivedBlobs, DocumentStore)
