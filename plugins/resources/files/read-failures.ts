import { type BlobStore, Unavailable } from 'pounce/sdk'

/** Listing the first blob may read a segment of small ones. */
const probeEveryMs = 1000

/** The result of a check of stored bytes. */
interface Checked<Fault> {
  /** What is wrong with the bytes; absent if they are valid or could not be read. */
  readonly fault?: Fault
  /** Why the bytes could not be read. */
  readonly unreadable?: string
}

/** Tells failures to read single blobs, such as those whose encryption key is missing, from an outage of the store. */
export class ReadFailures {
  #blobs: BlobStore
  #respondedMs = Number.NEGATIVE_INFINITY

  constructor(blobs: BlobStore) {
    this.#blobs = blobs
  }

  /** The fault that `check` finds, or why it cannot read the bytes. Rejects during an outage of the store. */
  async faultIn<Fault>(check: () => Promise<Fault | undefined>): Promise<Checked<Fault>> {
    try {
      const fault = await check()
      return fault === undefined ? {} : { fault }
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error
      await this.#requireStore()
      return { unreadable: error.message }
    }
  }

  async #requireStore(): Promise<void> {
    if (performance.now() - this.#respondedMs < probeEveryMs) return
    for await (const _ of this.#blobs.list()) break
    this.#respondedMs = performance.now()
  }
}
