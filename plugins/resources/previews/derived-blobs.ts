import { type BlobOwner, type Collection, DocumentStore, eq, type PreviewRecord, type ThumbnailRecord, wire } from 'pounce/sdk'
import { previews, thumbnails } from './collections.ts'

/** Which stored bytes belong to previews and thumbnails. */
export class DerivedBlobs implements BlobOwner {
  readonly places = [
    { in: previews, field: 'blob' },
    { in: thumbnails, field: 'blob' },
  ]
  #documents: DocumentStore

  constructor(documents: DocumentStore) {
    this.#documents = documents
  }

  async owned(keys: readonly string[]): Promise<ReadonlySet<string>> {
    const owned = new Set<string>()
    for (const key of keys) if ((await this.#names(previews, key)) || (await this.#names(thumbnails, key))) owned.add(key)
    return owned
  }

  async #names(from: Collection<PreviewRecord> | Collection<ThumbnailRecord>, key: string): Promise<boolean> {
    const { items } = await this.#documents.find<{ blob: string }>(from, { using: 'byBlob', where: eq('blob', key), limit: 1 })
    return items.length > 0
  }
}
wire(DerivedBlobs, DocumentStore)
