import { closeSync, fdatasync, openSync } from 'node:fs'
import { promisify } from 'node:util'

const synced = promisify(fdatasync)

/** Makes the write-ahead log of a database durable without blocking the thread. */
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

  /** Resolves when everything in the log is durable; throws errors of the file system or of `checkpoint`. One call at a time. */
  async sync(): Promise<void> {
    if (this.#isInDoubt) {
      // Linux reports a failed write-back once: only what is then written again, into the database itself, is reliable.
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
    // A closed descriptor's number may be reused for another file before the sync begins.
    this.#syncing.then(end, end)
  }
}
