import { type BlobOwner, DocumentStore, namedBy, wire } from 'pounce/sdk'
import { files } from './collection.ts'

/** Which stored bytes belong to a file. */
export class FileBlobs implements BlobOwner {
  readonly places = [{ in: files, field: 'blob' }]
  #documents: DocumentStore

  constructor(documents: DocumentStore) {
    this.#documents = documents
  }

  owned(keys: readonly string[]): Promise<ReadonlySet<string>> {
    return namedBy(this.#documents, files, { using: 'byBlob', field: 'blob', of: file => file.blob }, keys)
  }
}
wire(FileBlobs, DocumentStore)
