import { type Log, Unavailable } from 'pounce/sdk'
import type { AcknowledgedEvents, Acknowledgement } from './acknowledged-events.ts'
import type { MongodbConnection } from './mongodb-connection.ts'
import type { NewDelivery, PendingDeliveries } from './pending-deliveries.ts'
import type { StoredRecord } from './record-format.ts'

/** An event that is still embedded in the document it was committed with. */
export interface EmbeddedEvent {
  readonly id: string
  readonly subject: string
  readonly text: string
  readonly collection: string
  /** `_id` of the document. */
  readonly document: string
  /** The document is a tombstone, deleted together with its last event. */
  readonly isGone: boolean
  /** Consumers that have not acknowledged it. */
  readonly left: Set<string>
  /** Consumers for which it may have a record in `_deliveries`, also after an attempt to move it that failed. */
  readonly recorded: Set<string>
  /** When it must be moved to `_deliveries`, by the monotonic clock. */
  readonly until: number
}

/** How a delivery is stored when its event leaves the document: leased to this kernel, with the attempts so far, or unleased. */
export type Describe = (fresh: EmbeddedEvent, consumer: string) => Pick<NewDelivery, 'tries' | 'lease'>

interface Tools {
  readonly server: MongodbConnection
  readonly deliveries: PendingDeliveries
  readonly acknowledged: AcknowledgedEvents
  readonly describe: Describe
  readonly now: () => number
  readonly log: Log
}

/** How long an event stays in its document. If all its consumers acknowledge it by then, removing it is the only write it costs. */
export const maxWaitMs = 1000
const retryMs = 500
const batchSize = 500

/**
 * Removes events from the documents they were committed with: once all consumers have acknowledged them, or after `maxWaitMs` with a record in
 * `_deliveries` for each remaining consumer. Acknowledgements before that are written in one record for many events. After a crash a sweep
 * finds the events in the documents.
 */
export class EventRelay {
  readonly #tools: Tools
  readonly #fresh = new Map<string, EmbeddedEvent>()
  #marks: Acknowledgement[] = []
  #running: Promise<void> | undefined
  #moves = 0
  #timer: NodeJS.Timeout | undefined
  #dueAt = Number.POSITIVE_INFINITY
  #next = Promise.withResolvers<void>()

  constructor(tools: Tools) {
    this.#tools = tools
    this.#next.promise.catch(() => undefined)
  }

  has(id: string): boolean {
    return this.#fresh.has(id)
  }

  /** Ids of events that a consumer has not acknowledged. */
  idsFor(consumer: string): readonly string[] {
    return [...this.#fresh.values()].filter(({ left }) => left.has(consumer)).map(({ id }) => id)
  }

  /** Adds the events of a commit. */
  add(fresh: readonly EmbeddedEvent[]): void {
    for (const one of fresh) {
      this.#fresh.set(one.id, one)
      this.#schedule(one.left.size === 0 ? 0 : one.until)
    }
  }

  /** Acknowledges events for a consumer. Resolves once the acknowledgement is durable. */
  async settle(consumer: string, ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return
    for (const event of ids) if (this.#fresh.get(event)?.left.delete(consumer)) this.#marks.push({ event, consumer })
    const own = new Set(ids)
    const isWaiting = () => this.#marks.some(mark => mark.consumer === consumer && own.has(mark.event))
    while (isWaiting()) {
      this.#schedule(0)
      await this.#next.promise
    }
  }

  /** Resolves once none of these events is in its document any more. */
  async moveToDeliveries(ids: readonly string[]): Promise<void> {
    while (ids.some(id => this.#fresh.has(id))) await this.#flush(new Set(ids))
  }

  /** Moves all events to `_deliveries`. */
  async flush(): Promise<void> {
    await this.moveToDeliveries([...this.#fresh.keys()])
  }

  /** Runs a function while no events are moved from documents to `_deliveries`, so that counting both counts each event once. */
  async whileIdle<R>(work: () => Promise<R>): Promise<R> {
    for (;;) {
      while (this.#running) await this.#running.catch(() => undefined)
      const moves = this.#moves
      const result = await work()
      if (moves === this.#moves) return result
    }
  }

  /** Drops everything from memory: a sweep will find it in the documents. */
  clear(): void {
    this.#fresh.clear()
    this.#marks = []
    clearTimeout(this.#timer)
    this.#dueAt = Number.POSITIVE_INFINITY
    this.#done(new Unavailable('The document store was unavailable for too long'))
  }

  #schedule(at: number): void {
    if (at >= this.#dueAt) return
    clearTimeout(this.#timer)
    this.#dueAt = at
    this.#timer = setTimeout(() => this.#start(), Math.max(0, at - performance.now()))
  }

  #start(): void {
    this.#dueAt = Number.POSITIVE_INFINITY
    this.#flush().catch(error => this.#tools.log.warn('Failed to move events from documents to the outbox; will be retried', { error }))
  }

  /** `chosen`: events to move in any case. */
  async #flush(chosen?: ReadonlySet<string>): Promise<void> {
    while (this.#running) await this.#running
    this.#moves++
    this.#running = this.#moveReady(chosen).finally(() => {
      this.#running = undefined
    })
    await this.#running
  }

  async #moveReady(chosen: ReadonlySet<string> | undefined): Promise<void> {
    const now = performance.now()
    const isReady = ({ id, left, until }: EmbeddedEvent): boolean => left.size === 0 || until <= now || chosen?.has(id) === true
    const ready = [...this.#fresh.values()].filter(isReady).slice(0, batchSize)
    const leaving = new Set(ready.map(({ id }) => id))
    const marks = this.#marks
    const later = this.#tools.acknowledged.write(
      marks.filter(({ event }) => this.#fresh.has(event) && !leaving.has(event)),
      this.#tools.now(),
    )
    try {
      await Promise.all([later, this.#move(ready)])
    } catch (error) {
      this.#schedule(performance.now() + retryMs)
      this.#done(error)
      throw error
    }
    const written = new Set(marks)
    this.#marks = this.#marks.filter(mark => !written.has(mark))
    this.#done()
    const soonest = Math.min(...[...this.#fresh.values()].map(({ left, until }) => (left.size === 0 ? 0 : until)))
    this.#schedule(this.#marks.length > 0 ? 0 : soonest)
  }

  #done(error?: unknown): void {
    const { resolve, reject } = this.#next
    this.#next = Promise.withResolvers<void>()
    this.#next.promise.catch(() => undefined)
    if (error === undefined) resolve()
    else reject(error)
  }

  async #move(ready: readonly EmbeddedEvent[]): Promise<void> {
    if (ready.length === 0) return
    const { deliveries, describe, acknowledged } = this.#tools
    const waiting = ready.flatMap(one => [...one.left].map(consumer => ({ one, consumer })))
    for (const { one, consumer } of waiting) one.recorded.add(consumer)
    await deliveries.add(
      waiting.map(({ one, consumer }) => ({ consumer, id: one.id, subject: one.subject, text: one.text, ...describe(one, consumer) })),
    )
    await Promise.all([...Map.groupBy(ready, ({ collection }) => collection)].map(([name, some]) => this.#clear(name, some)))
    // Acknowledged while their records were being written, or since an attempt that failed.
    const late = Map.groupBy(
      ready.flatMap(one => [...one.recorded.difference(one.left)].map(consumer => ({ one, consumer }))),
      ({ consumer }) => consumer,
    )
    for (const { id } of ready) this.#fresh.delete(id)
    acknowledged.left(ready.map(({ id }) => id))
    await Promise.all(
      [...late].map(([consumer, some]) =>
        deliveries.settle(
          consumer,
          some.map(({ one }) => one.id),
        ),
      ),
    )
  }

  async #clear(name: string, some: readonly EmbeddedEvent[]): Promise<void> {
    const { server } = this.#tools
    const documents = [...new Set(some.map(({ document }) => document))]
    const pull = { $pull: { ev: { id: { $in: some.map(({ id }) => id) } } } }
    const collection = () => server.collection<StoredRecord>(name)
    await server.use(() => collection().updateMany({ _id: { $in: documents } }, pull))
    const deleted = [...new Set(some.filter(({ isGone }) => isGone).map(({ document }) => document))]
    if (deleted.length === 0) return
    await server.use(() => collection().deleteMany({ _id: { $in: deleted }, gone: true, ev: { $size: 0 } }))
  }
}
