import { type Log, Unavailable } from 'pounce/sdk'
import type { AcknowledgedEvents, Mark } from './acknowledged-events.ts'
import type { MongodbConnection } from './mongodb-connection.ts'
import type { NewDelivery, PendingDeliveries } from './pending-deliveries.ts'
import type { Kept } from './record-format.ts'

/** An event that is still in the document it came with. */
export interface Fresh {
  readonly id: string
  readonly subject: string
  readonly text: string
  readonly collection: string
  /** `_id` of the document. */
  readonly document: string
  /** The document is a tombstone, which goes with its last event. */
  readonly isGone: boolean
  /** Consumers that have not dealt with it. */
  readonly left: Set<string>
  /** When it leaves its document although it is not settled, of the monotonic clock. */
  readonly until: number
}

/** How a delivery is stored when its event leaves the document: leased to this kernel, with the tries so far, or free. */
export type Describe = (fresh: Fresh, consumer: string) => Pick<NewDelivery, 'tries' | 'lease'>

interface Tools {
  readonly server: MongodbConnection
  readonly deliveries: PendingDeliveries
  readonly settled: AcknowledgedEvents
  readonly describe: Describe
  readonly now: () => number
  readonly log: Log
}

/** How long an event stays in its document in the hope that all its consumers are quick: then taking it away is the only write it costs. */
export const maxWaitMs = 1000
const retryMs = 500
const mostAtOnce = 500

/**
 * Takes events out of the documents they came with: when everyone has dealt with them, else before long, with a record for each consumer
 * that has not. What some have settled before is noted in one record for many events. A crash leaves events in the documents, where a
 * sweep finds them.
 */
export class EventRelay {
  readonly #tools: Tools
  readonly #fresh = new Map<string, Fresh>()
  #marks: Mark[] = []
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

  /** Ids of those that wait here for a consumer. */
  idsFor(consumer: string): readonly string[] {
    return [...this.#fresh.values()].filter(({ left }) => left.has(consumer)).map(({ id }) => id)
  }

  /** Takes charge of events. */
  add(fresh: readonly Fresh[]): void {
    for (const one of fresh) {
      this.#fresh.set(one.id, one)
      this.#schedule(one.left.size === 0 ? 0 : one.until)
    }
  }

  /** A consumer has dealt with events that are here. Resolves once that is durable. */
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
  async moveOn(ids: readonly string[]): Promise<void> {
    while (ids.some(id => this.#fresh.has(id))) await this.#flush(new Set(ids))
  }

  /** Takes everything away that is here. */
  async flush(): Promise<void> {
    await this.moveOn([...this.#fresh.keys()])
  }

  /** Does something at a time when nothing moves from documents to records, so that counting both counts each event once. */
  async standingStill<R>(work: () => Promise<R>): Promise<R> {
    for (;;) {
      while (this.#running) await this.#running.catch(() => undefined)
      const moves = this.#moves
      const result = await work()
      if (moves === this.#moves) return result
    }
  }

  /** Forgets everything: a sweep finds it in the documents. */
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

  /** `chosen`: also these, whatever their time. */
  async #flush(chosen?: ReadonlySet<string>): Promise<void> {
    while (this.#running) await this.#running
    this.#moves++
    this.#running = this.#takeAway(chosen).finally(() => {
      this.#running = undefined
    })
    await this.#running
  }

  async #takeAway(chosen: ReadonlySet<string> | undefined): Promise<void> {
    const now = performance.now()
    const isReady = ({ id, left, until }: Fresh): boolean => left.size === 0 || until <= now || chosen?.has(id) === true
    const ready = [...this.#fresh.values()].filter(isReady).slice(0, mostAtOnce)
    const leaving = new Set(ready.map(({ id }) => id))
    const marks = this.#marks
    const later = this.#tools.settled.write(
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

  async #move(ready: readonly Fresh[]): Promise<void> {
    if (ready.length === 0) return
    const { deliveries, describe, settled } = this.#tools
    const stored = ready.flatMap(one => [...one.left].map(consumer => ({ one, consumer })))
    await deliveries.add(
      stored.map(({ one, consumer }) => ({ consumer, id: one.id, subject: one.subject, text: one.text, ...describe(one, consumer) })),
    )
    await Promise.all([...Map.groupBy(ready, ({ collection }) => collection)].map(([name, some]) => this.#clear(name, some)))
    // Those that were dealt with while their records were being written.
    const late = Map.groupBy(
      stored.filter(({ one, consumer }) => !one.left.has(consumer)),
      ({ consumer }) => consumer,
    )
    for (const { id } of ready) this.#fresh.delete(id)
    settled.left(ready.map(({ id }) => id))
    await Promise.all(
      [...late].map(([consumer, some]) =>
        deliveries.settle(
          consumer,
          some.map(({ one }) => one.id),
        ),
      ),
    )
  }

  async #clear(name: string, some: readonly Fresh[]): Promise<void> {
    const { server } = this.#tools
    const documents = [...new Set(some.map(({ document }) => document))]
    const pull = { $pull: { ev: { id: { $in: some.map(({ id }) => id) } } } }
    const collection = () => server.collection<Kept>(name)
    await server.use(() => collection().updateMany({ _id: { $in: documents } }, pull))
    const gone = [...new Set(some.filter(({ isGone }) => isGone).map(({ document }) => document))]
    if (gone.length === 0) return
    await server.use(() => collection().deleteMany({ _id: { $in: gone }, gone: true, ev: { $size: 0 } }))
  }
}
