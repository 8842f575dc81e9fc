import type { Log, Outbox } from 'pounce/sdk'
import { pause } from './time-limit.ts'

const retryMs = 500

/** Tells the outbox which events are done, those of one turn in one call. */
export class AckBatcher {
  readonly #outbox: Outbox
  readonly #consumer: string
  readonly #log: Log
  readonly #signal: AbortSignal
  #waiting: { readonly id: string; readonly settled: () => void }[] = []
  #running: Promise<void> | undefined

  /** `signal` ends the retries of a store that is unavailable; the events are then handed out again. */
  constructor(outbox: Outbox, consumer: string, log: Log, signal: AbortSignal) {
    this.#outbox = outbox
    this.#consumer = consumer
    this.#log = log
    this.#signal = signal
  }

  /** Resolves when the event is settled for good, or was given up at the stop. */
  done(id: string): Promise<void> {
    const settled = new Promise<void>(resolve => this.#waiting.push({ id, settled: resolve }))
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined
    })
    return settled
  }

  async #run(): Promise<void> {
    // Handlers that wait for one group commit resolve in one turn: all of them go into one call.
    await new Promise(resolve => setImmediate(resolve))
    while (this.#waiting.length > 0) {
      const batch = this.#waiting
      this.#waiting = []
      await this.#settle(batch.map(({ id }) => id))
      for (const { settled } of batch) settled()
    }
  }

  async #settle(ids: readonly string[]): Promise<void> {
    for (;;) {
      try {
        return await this.#outbox.done(this.#consumer, ids)
      } catch (error) {
        this.#log.warn('Failed to acknowledge events', { consumer: this.#consumer, events: ids.length, error })
        if (this.#signal.aborted) return
        await pause(retryMs, this.#signal)
      }
    }
  }
}
