import type { Log } from 'pounce/sdk'

/** Tells listeners that there are new events, at most once in a turn of the event loop. */
export class CommitNotifier {
  readonly #log: Log
  readonly #listeners = new Set<() => void>()
  #isDue = false

  constructor(log: Log) {
    this.#log = log
  }

  /** Returns how to stop. */
  listen(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  tell(): void {
    if (this.#isDue) return
    this.#isDue = true
    queueMicrotask(() => {
      this.#isDue = false
      for (const listener of this.#listeners) {
        try {
          listener()
        } catch (error) {
          this.#log.error('A listener for new events failed', { error })
        }
      }
    })
  }
}
