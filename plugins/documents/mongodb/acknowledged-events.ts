import { randomUUID } from 'node:crypto'
import type { MongodbConnection } from './mongodb-connection.ts'
import { idOf } from './pending-deliveries.ts'

/** An acknowledgement of an event that was still in its document. */
export interface Mark {
  readonly event: string
  readonly consumer: string
}

interface Kept {
  readonly _id: string
  /** When it was written, in milliseconds. */
  readonly at: number
  /** Event and consumer, as `idOf` writes them. */
  readonly done: readonly string[]
}

/** Records of this age concern no event that is still in its document, once a sweep found none. */
const oldMs = 600_000

/** Acknowledgements of events that are still in their documents: one record for many, so that they are durable at once. */
export class AcknowledgedEvents {
  readonly #server: MongodbConnection
  /** Records of this kernel, with the events in them that are still in their documents. */
  readonly #open = new Map<string, Set<string>>()
  #closed: string[] = []

  constructor(server: MongodbConnection) {
    this.#server = server
  }

  #kept() {
    return this.#server.collection<Kept>('_settled')
  }

  async declare(): Promise<void> {
    await this.#server.withoutTimeLimit(() => this.#kept().createIndex({ at: 1 }))
  }

  async write(marks: readonly Mark[], now: number): Promise<void> {
    if (marks.length === 0) return
    const _id = randomUUID()
    await this.#server.use(() => this.#kept().insertOne({ _id, at: now, done: marks.map(({ event, consumer }) => idOf(event, consumer)) }))
    this.#open.set(_id, new Set(marks.map(({ event }) => event)))
  }

  /** These events have left their documents. */
  left(events: readonly string[]): void {
    for (const [id, waiting] of this.#open) {
      for (const event of events) waiting.delete(event)
      if (waiting.size > 0) continue
      this.#open.delete(id)
      this.#closed.push(id)
    }
  }

  /** Removes records whose events have all left their documents. */
  async tidy(): Promise<void> {
    const ids = this.#closed.slice(0, 1000)
    if (ids.length === 0) return
    await this.#server.use(() => this.#kept().deleteMany({ _id: { $in: ids } }))
    this.#closed = this.#closed.slice(ids.length)
  }

  /** Removes what dead kernels left. Called when a sweep has found nothing. */
  async tidyOld(now: number): Promise<void> {
    await this.#server.use(() => this.#kept().deleteMany({ at: { $lt: now - oldMs } }))
  }

  /** Acknowledgements of events that may still be in their documents, as `event/consumer`. */
  async all(): Promise<ReadonlySet<string>> {
    const found = await this.#server.use(() =>
      this.#kept()
        .find({}, { projection: { done: 1 } })
        .toArray(),
    )
    return new Set(found.flatMap(({ done }) => done))
  }

  /** Drops the list of this kernel's records; `tidyOld` removes them later. */
  clear(): void {
    this.#open.clear()
  }
}
