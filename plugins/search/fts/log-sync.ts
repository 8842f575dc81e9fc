import { closeSync, fdatasync, openSync } from 'node:fs'
import { promisify } from 'node:util'

const synced = promisify(fdatasync)

/** Makes the write-ahead log of a database durable without occupying the thread meanwhile. */
export class LogSync {
  readonly #path: string
  readonly #checkpoint: () => void
  #file: number | undefined
  #isInDoubt = false
  #syncing: Promise<void> = Promise.resolve()

  /** `checkpoint` copies the whole log into the database, syncs that, and empties the log; throws when it cannot. */
  constructor(path: string, checkpoint: () => void) {
    this.#path = path
    this.#checkpoint = checkpoint
  }

  /** Resolves when all that the log holds is durable; throws what the file system or `checkpoint` throws. One call at a time. */
  async sync(): Promise<void> {
    if (this.#isInDoubt) {
      // Linux reports a failed write-back once: only what is written again, into the database itself, can be relied on.
      this.#checkpoint()
      this.#isInDoubt = false
      return
    }
    this.#file ??= openSync(this.#path, 'r')
    try {
      this.#syncing = synced(this.#file)
      await this.#syncing
    } catch (error) {
      this.#isInDoubt = true
      throw error
    }
  }

  close(): void {
    const file = this.#file
    if (file === undefined) return
    this.#file = undefined
    const end = (): void => closeSync(file)
    // A number that is free may already be another file's when the sync begins.
    this.#syncing.then(end, end)
  }
}
