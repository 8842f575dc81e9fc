import { type BlobOwner, type Collection, DocumentStore, namedBy, wire } from 'pounce/sdk'
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
    const named = await Promise.all([previews, thumbnails, tiles].map(from => this.#named(from as Collection<{ blob: string }>, keys)))
    return new Set(named.flatMap(some => [...some]))
  }

  #named(from: Collection<{ blob: string }>, keys: readonly string[]): Promise<ReadonlySet<string>> {
    return namedBy(this.#documents, from, { using: 'byBlob', field: 'blob', of: ({ blob }) => blob }, keys)
  }
}
wire(DerivedBlobs, DocumentStore)
