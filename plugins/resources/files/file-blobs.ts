import { type After, type BlobOwner, DocumentStore, isIn, wire } from 'pounce/sdk'
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
    let after: After | undefined
    // Copies share bytes: when those of one key fill the pages, the search goes on with the other keys.
    do {
      const left = keys.filter(key => !owned.has(key))
      if (left.length === 0) return owned
      const page = await this.#documents.find(files, { using: 'byBlob', where: isIn('blob', left), limit: 1000 })
      for (const { blob } of page.items) owned.add(blob)
      after = page.next
    } while (after)
    return owned
  }
}
wire(FileBlobs, DocumentStore)
