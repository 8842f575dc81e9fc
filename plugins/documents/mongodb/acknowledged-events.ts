import { randomUUID } from 'node:crypto'
import type { MongodbConnection } from './mongodb-connection.ts'
import { idOf } from './pending-deliveries.ts'

/** The acknowledgement of an event that was still embedded in its document. */
export interface Acknowledgement {
  readonly event: string
  readonly consumer: string
}

interface AcknowledgedRecord {
  readonly _id: string
  /** Time of writing, in milliseconds. */
  readonly at: number
  /** Event and consumer, in the format of `idOf`. */
  readonly done: readonly string[]
}

/** Once a sweep found no embedded events, records older than this are obsolete. */
const oldMs = 600_000

/** Acknowledgements of events that are still embedded in their documents: one record for many, so that they are durable at once. */
export class AcknowledgedEvents {
  readonly #server: MongodbConnection
  /** Records of this kernel, each with its events that are still embedded in documents. */
  readonly #open = new Map<string, Set<string>>()
  #closed: string[] = []

  constructor(server: MongodbConnection) {
    this.#server = server
  }

  #collection() {
    return this.#server.collection<AcknowledgedRecord>('_settled')
  }

  async declare(): Promise<void> {
    await this.#server.withoutTimeLimit(() => this.#collection().createIndex({ at: 1 }))
  }

  async write(marks: readonly Acknowledgement[], now: number): Promise<void> {
    if (marks.length === 0) return
    const _id = randomUUID()
    await this.#server.use(() =>
      this.#collection().insertOne({ _id, at: now, done: marks.map(({ event, consumer }) => idOf(event, consumer)) }),
    )
    this.#open.set(_id, new Set(marks.map(({ event }) => event)))
  }

  /** Marks events as removed from their documents. */
  left(events: readonly string[]): void {
    for (const [id, waiting] of this.#open) {
      for (const event of events) waiting.delete(event)
      if (waiting.size > 0) continue
      this.#open.delete(id)
      this.#closed.push(id)
    }
  }

  /** Deletes records whose events have all been removed from their documents. */
  async tidy(): Promise<void> {
    const ids = this.#closed.slice(0, 1000)
    if (ids.length === 0) return
    await this.#server.use(() => this.#collection().deleteMany({ _id: { $in: ids } }))
    this.#closed = this.#closed.slice(ids.length)
  }

  /** Deletes the records of dead kernels. Called when a sweep has found nothing. */
  async tidyOld(now: number): Promise<void> {
    await this.#server.use(() => this.#collection().deleteMany({ at: { $lt: now - oldMs } }))
  }

  /** Acknowledgements of events that may still be embedded in their documents, as `event/consumer`. */
  async all(): Promise<ReadonlySet<string>> {
    const found = await this.#server.use(() =>
      this.#collection()
        .find({}, { projection: { done: 1 } })
        .toArray(),
    )
    return new Set(found.flatMap(({ done }) => done))
  }

  /** Clears the list of this kernel's records; `tidyOld` deletes them later. */
  clear(): void {
    this.#open.clear()
  }
}
