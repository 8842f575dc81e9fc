import { setTimeout as pause } from 'node:timers/promises'
import type { Log } from 'pounce/sdk'

/** Runs a task repeatedly, one run at a time; a failed run is logged. */
export class RepeatingTask {
  readonly #run: () => Promise<void>
  readonly #everyMs: number
  readonly #log: Log
  readonly #stopped = new AbortController()
  #loop: Promise<void> = Promise.resolve()

  constructor(run: () => Promise<void>, everyMs: number, log: Log) {
    this.#run = run
    this.#everyMs = everyMs
    this.#log = log
  }

  start(): void {
    this.#loop = this.#go()
  }

  /** Starts no further run, and waits for the current one. */
  async stop(): Promise<void> {
    this.#stopped.abort()
    await this.#loop
  }

  async #go(): Promise<void> {
    const { signal } = this.#stopped
    while (!signal.aborted) {
      // It rejects only when stopped.
      await pause(this.#everyMs, undefined, { signal, ref: false }).catch(() => undefined)
      if (signal.aborted) return
      try {
        await this.#run()
      } catch (error) {
        this.#log.warn('Outbox maintenance failed', { error })
      }
    }
  }
}
