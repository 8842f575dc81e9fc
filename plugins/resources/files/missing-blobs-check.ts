import { BlobStore, DocumentStore, Log, wire } from 'pounce/sdk'
import { files } from './collection.ts'

/** Number of files whose bytes are looked up. */
const sampleSize = 3

/** Reports at startup if the latest files have no stored bytes: the blob store may be another one, or its disk may not be mounted. */
export class MissingBlobsCheck {
  #documents: DocumentStore
  #blobs: BlobStore
  #log: Log

  constructor(documents: DocumentStore, blobs: BlobStore, log: Log) {
    this.#documents = documents
    this.#blobs = blobs
    this.#log = log
  }

  /** Does not delay or prevent the start, also while a store is unavailable. */
  start(): void {
    void this.#check().catch((error: unknown) => this.#log.debug('The stored bytes of the latest files were not checked', { error }))
  }

  async #check(): Promise<void> {
    const sort = { by: 'created', order: 'descending' } as const
    const { items } = await this.#documents.find(files, { using: 'byCreated', sort, limit: sampleSize })
    // The bytes of an archived file may be elsewhere.
    const latest = items.filter(({ status }) => status !== 'ARCHIVED')
    for (const { blob } of latest) if (await this.#blobs.stat(blob)) return
    if (latest.length === 0) return
    const message = 'The stored bytes of the latest files are missing: check that the blob store is the right one and its disk is mounted'
    this.#log.error(message, { files: latest.map(({ id }) => id) })
  }
}
wire(MissingBlobsCheck, DocumentStore, BlobStore, Log)
