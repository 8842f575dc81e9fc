import { setImmediate } from 'node:timers/promises'
import { Unavailable } from 'pounce/sdk'
import { buffersOf, type PackedPoints } from './packed-points.ts'
import { fromTransferred } from './problems.ts'
import type { Inserted } from './rtree-writer.ts'
import type { TaskThread } from './task-thread.ts'

interface Waiting {
  readonly batch: PackedPoints
  resolve(isNew: Uint8Array): void
  reject(error: Error): void
}

/** Maximum number of points that share one transaction: some tens of milliseconds of the thread. */
const maxPoints = 10_000

/** Sends batches to the writing thread: those that arrive while one transaction is being written share the next one. */
export class InsertQueue {
  readonly #thread: TaskThread
  #waiting: Waiting[] = []
  #isWriting = false

  constructor(thread: TaskThread) {
    this.#thread = thread
  }

  /** Resolves when the points are durable: 1 for each new one, 0 for one that existed. */
  add(batch: PackedPoints): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ batch, resolve, reject })
      if (!this.#isWriting) void this.#writeAll()
    })
  }

  async #writeAll(): Promise<void> {
    this.#isWriting = true
    // Calls of the same turn of the event loop share a batch.
    await setImmediate()
    while (this.#waiting.length > 0) await this.#write(this.#next())
    this.#isWriting = false
  }

  #next(): readonly Waiting[] {
    let points = 0
    const count = this.#waiting.findIndex(({ batch }) => {
      points += batch.count
      return points > maxPoints
    })
    return this.#waiting.splice(0, count < 0 ? this.#waiting.length : Math.max(1, count))
  }

  async #write(works: readonly Waiting[]): Promise<void> {
    const batches = works.map(({ batch }) => batch)
    try {
      const inserted = (await this.#thread.run({ type: 'insert', batches }, batches.flatMap(buffersOf))) as readonly Inserted[]
      for (const [at, work] of works.entries()) settle(work, inserted[at])
    } catch (error) {
      for (const { reject } of works) reject(error instanceof Error ? error : new Error(String(error)))
    }
  }
}

const settle = ({ resolve, reject }: Waiting, inserted: Inserted | undefined): void => {
  if (inserted === undefined) reject(new Unavailable('The datapoint store did not respond'))
  else if ('error' in inserted) reject(fromTransferred(inserted.error))
  else resolve(inserted.isNew)
}
