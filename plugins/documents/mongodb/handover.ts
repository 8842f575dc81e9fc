import { type Log, Unavailable } from 'pounce/sdk'
import type { Deliveries, NewDelivery } from './deliveries.ts'
import type { Kept } from './form.ts'
import type { Server } from './server.ts'

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
  /** Of the monotonic clock. */
  readonly since: number
}

/** How a delivery is stored when its event leaves the document: leased to this kernel, with the tries so far, or free. */
export type Describe = (fresh: Fresh, consumer: string) => Pick<NewDelivery, 'tries' | 'lease'>

/** How long an event stays in its document in the hope that all its consumers are quick: then taking it away is the only write it costs. */
const patienceMs = 30
const retryMs = 500
const mostAtOnce = 500

/**
 * Takes events out of the documents they came with: at once when everybody has dealt with them, else soon, with a record for each consumer
 * that has not. A crash before that leaves them in the documents, where a sweep finds them.
 */
export class Handover {
  readonly #server: Server
  readonly #deliveries: Deliveries
  readonly #describe: Describe
  readonly #log: Log
  readonly #fresh = new Map<string, Fresh>()
  #running: Promise<void> | undefined
  #moves = 0
  #timer: NodeJS.Timeout | undefined
  #next = Promise.withResolvers<void>()

  constructor(tools: { readonly server: Server; readonly deliveries: Deliveries; readonly describe: Describe; readonly log: Log }) {
    this.#server = tools.server
    this.#deliveries = tools.deliveries
    this.#describe = tools.describe
    this.#log = tools.log
    this.#next.promise.catch(() => undefined)
  }

  has(id: string): boolean {
    return this.#fresh.has(id)
  }

  /** Ids of those that wait here for a consumer. */
  idsFor(consumer: string): readonly string[] {
    return [...this.#fresh.values()].filter(({ left }) => left.has(consumer)).map(({ id }) => id)
  }

  /** `isUrgent`: somebody who is not here waits for one of them. */
  add(fresh: readonly Fresh[], isUrgent: boolean): void {
    for (const one of fresh) this.#fresh.set(one.id, one)
    this.#schedule(isUrgent || fresh.some(({ left }) => left.size === 0) ? 0 : patienceMs)
  }

  /** A consumer has dealt with events. Resolves once that is durable; ids of events that are not here are returned. */
  async settle(consumer: string, ids: readonly string[]): Promise<void> {
    let isComplete = false
    for (const id of ids) {
      const one = this.#fresh.get(id)
      one?.left.delete(consumer)
      if (one?.left.size === 0) isComplete = true
    }
    if (isComplete) this.#schedule(0)
    while (ids.some(id => this.#fresh.has(id))) await this.#next.promise
  }

  /** Resolves once none of these events is in its document any more. */
  async moveOn(ids: readonly string[]): Promise<void> {
    while (ids.some(id => this.#fresh.has(id))) await this.#flush(true)
  }

  /** Takes everything away that is here. */
  async flush(): Promise<void> {
    while (this.#fresh.size > 0) await this.#flush(true)
  }

  /** Does something at a time when nothing moves from documents to records, so that counting both counts each event once. */
  async standingStill<R>(work: () => Promise<R>): Promise<R> {
    for (;;) {
      await this.#running?.catch(() => undefined)
      const moves = this.#moves
      const result = await work()
      if (moves === this.#moves) return result
    }
  }

  /** Forgets everything: a sweep finds it in the documents. */
  clear(): void {
    this.#fresh.clear()
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#done(new Unavailable('The document store was away for too long'))
  }

  #schedule(inMs: number): void {
    if (inMs === 0) {
      clearTimeout(this.#timer)
      this.#timer = setTimeout(() => this.#start(), 0)
    } else this.#timer ??= setTimeout(() => this.#start(), inMs)
  }

  #start(): void {
    this.#timer = undefined
    this.#flush(false).catch(error => this.#log.warn('Events could not be taken out of their documents; this is tried again', { error }))
  }

  async #flush(isAll: boolean): Promise<void> {
    while (this.#running) {
      await this.#running
      if (!isAll) return
    }
    this.#moves++
    this.#running = this.#takeAway(isAll).finally(() => {
      this.#running = undefined
    })
    await this.#running
  }

  async #takeAway(isAll: boolean): Promise<void> {
    const old = performance.now() - patienceMs + 2
    const ready = [...this.#fresh.values()].filter(({ left, since }) => isAll || left.size === 0 || since <= old).slice(0, mostAtOnce)
    try {
      if (ready.length > 0) await this.#move(ready)
    } catch (error) {
      this.#done(error)
      this.#timer ??= setTimeout(() => this.#start(), retryMs).unref()
      throw error
    }
    this.#done()
    if (this.#fresh.size > 0) this.#schedule(patienceMs)
  }

  #done(error?: unknown): void {
    const { resolve, reject } = this.#next
    this.#next = Promise.withResolvers<void>()
    this.#next.promise.catch(() => undefined)
    if (error === undefined) resolve()
    else reject(error)
  }

  async #move(ready: readonly Fresh[]): Promise<void> {
    const stored = ready.flatMap(one => [...one.left].map(consumer => ({ one, consumer })))
    await this.#deliveries.add(
      stored.map(({ one, consumer }) => ({ consumer, id: one.id, subject: one.subject, text: one.text, ...this.#describe(one, consumer) })),
    )
    await Promise.all([...Map.groupBy(ready, ({ collection }) => collection)].map(([name, some]) => this.#clear(name, some)))
    for (const { id } of ready) this.#fresh.delete(id)
    // Those that were dealt with while their records were being written.
    const late = Map.groupBy(
      stored.filter(({ one, consumer }) => !one.left.has(consumer)),
      ({ consumer }) => consumer,
    )
    await Promise.all(
      [...late].map(([consumer, some]) =>
        this.#deliveries.settle(
          consumer,
          some.map(({ one }) => one.id),
        ),
      ),
    )
  }

  async #clear(name: string, some: readonly Fresh[]): Promise<void> {
    const documents = [...new Set(some.map(({ document }) => document))]
    const pull = { $pull: { ev: { id: { $in: some.map(({ id }) => id) } } } }
    const collection = () => this.#server.collection<Kept>(name)
    await this.#server.use(() => collection().updateMany({ _id: { $in: documents } }, pull))
    const gone = [...new Set(some.filter(({ isGone }) => isGone).map(({ document }) => document))]
    if (gone.length === 0) return
    await this.#server.use(() => collection().deleteMany({ _id: { $in: gone }, gone: true, ev: { $size: 0 } }))
  }
}
