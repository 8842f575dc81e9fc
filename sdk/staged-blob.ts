import type { BlobInfo, BlobStore } from './ports/blob-store.ts'
import { changedNothing } from './ports/conflicts.ts'
import type { Log } from './ports/kernel.ts'

/**
 * Durable bytes that no record refers to yet. The holder must dispose of it (`await using`), which removes the bytes unless they were committed. A failed
 * removal is logged and left to the orphan sweep.
 */
export class StagedBlob implements AsyncDisposable {
  readonly bytes: BlobInfo
  readonly #blobs: Pick<BlobStore, 'remove'>
  readonly #log: Log
  #isAbandoned = true

  constructor(bytes: BlobInfo, blobs: Pick<BlobStore, 'remove'>, log: Log) {
    this.bytes = bytes
    this.#blobs = blobs
    this.#log = log
  }

  /**
   * Runs the commit of a record that refers to the bytes, and resolves to that record. The bytes stay staged if the commit certainly changed nothing, or
   * resolved to an earlier record with other bytes. If only the acknowledgement may have been lost, a record may refer to them: they are kept, and the orphan
   * sweep decides.
   */
  async commit<R extends { readonly blob: string }>(record: () => Promise<R>): Promise<R> {
    this.#isAbandoned = false
    try {
      const committed = await record()
      this.#isAbandoned = committed.blob !== this.bytes.key
      return committed
    } catch (error) {
      this.#isAbandoned = changedNothing(error)
      throw error
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#isAbandoned) return
    this.#isAbandoned = false
    try {
      await this.#blobs.remove(this.bytes.key)
    } catch (error) {
      this.#log.warn('Failed to delete abandoned bytes; the next sweep will', { blob: this.bytes.key, error })
    }
  }
}
