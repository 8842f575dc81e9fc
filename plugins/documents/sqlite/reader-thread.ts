import { Worker } from 'node:worker_threads'
import { WorkerClient } from 'pounce/sdk/kit'
import type { Opening } from 'pounce/sdk/sqlite'
import type { Query, Results } from './queries.ts'

/** Most data is read once and becomes garbage at once: neither a large cache nor a large young generation makes it faster. */
const cacheMiB = 2
const resourceLimits = { maxYoungGenerationSizeMb: 3 }

/** A thread with a read-only connection of its own, for reads that would block the main thread. */
export class ReaderThread {
  readonly #thread: WorkerClient<Query>

  constructor(opening: Opening, timeoutMs: number) {
    const workerData = { ...opening, readOnly: true, cacheMiB: Math.min(opening.cacheMiB, cacheMiB) }
    const start = (): Worker => new Worker(new URL('./reader-worker.ts', import.meta.url), { workerData, resourceLimits })
    this.#thread = new WorkerClient({ start, timeoutMs, name: 'The reader of the document store' })
  }

  /** Rejects with `Unavailable` after the timeout, including queueing time, when the thread dies, and once it is closed. */
  run<K extends Query['kind']>(query: Extract<Query, { kind: K }>): Promise<Results[K]> {
    return this.#thread.run(query) as Promise<Results[K]>
  }

  /** Rejects pending queries and ends the thread. */
  close(): Promise<void> {
    return this.#thread.close()
  }
}
