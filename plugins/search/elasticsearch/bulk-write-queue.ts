import { setTimeout as pause } from 'node:timers/promises'
import { Unavailable } from 'pounce/sdk'
import type { IndexChange } from 'pounce/sdk/search'

interface Waiting {
  readonly changes: readonly IndexChange[]
  resolve(): void
  reject(error: unknown): void
}

const maxTogether = 1000

/** Collects changes from all callers and writes them in shared batches, one after the other, in the order of arrival. */
export class BulkWriteQueue {
  readonly #write: (changes: readonly IndexChange[]) => Promise<void>
  readonly #everyMs: number
  #waiting: Waiting[] = []
  #run: Promise<void> | undefined
  #lastAt = Number.NEGATIVE_INFINITY

  /** Batches begin at least `everyMs` apart. */
  constructor(write: (changes: readonly IndexChange[]) => Promise<void>, everyMs: number) {
    this.#write = write
    this.#everyMs = everyMs
  }

  /** Resolves when the changes are written. */
  add(changes: readonly IndexChange[]): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ changes, resolve, reject })
      this.#run ??= this.#writeWaiting()
    })
  }

  /** Resolves when nothing is pending. */
  async settled(): Promise<void> {
    await this.#run
  }

  async #writeWaiting(): Promise<void> {
    await Promise.resolve()
    while (this.#waiting.length > 0) {
      const tooEarlyMs = this.#lastAt + this.#everyMs - performance.now()
      if (tooEarlyMs > 0) await pause(tooEarlyMs)
      this.#lastAt = performance.now()
      await this.#writeBatch(this.#take())
    }
    this.#run = undefined
  }

  async #writeBatch(batch: readonly Waiting[]): Promise<void> {
    try {
      await this.#write(batch.flatMap(({ changes }) => changes))
      for (const each of batch) each.resolve()
    } catch (error) {
      // When the server is unavailable, each of the others would wait as long for the same error.
      const failed = error instanceof Unavailable ? [...batch, ...this.#waiting.splice(0)] : batch
      for (const each of failed) each.reject(error)
    }
  }

  #take(): readonly Waiting[] {
    let count = 0
    const end = this.#waiting.findIndex(({ changes }) => {
      count += changes.length
      return count > maxTogether
    })
    return this.#waiting.splice(0, end < 0 ? this.#waiting.length : Math.max(end, 1))
  }
}
