import { setTimeout as pause } from 'node:timers/promises'
import type { Log } from 'pounce/sdk'
import type { MongodbConnection } from './mongodb-connection.ts'
import type { PendingDeliveries } from './pending-deliveries.ts'
import type { Kept } from './record-format.ts'

/** Events of one commit that wait for earlier ones of their document. */
export interface Deferred {
  readonly collection: string
  /** `_id` of the document. */
  readonly document: string
  readonly ids: readonly string[]
  readonly consumers: readonly string[]
  /** IDs of the earlier events. */
  readonly earlier: readonly string[]
  /** Consumers that earlier events of the same subjects wait for elsewhere. */
  readonly findBusy: () => Promise<ReadonlySet<string>>
  /** Hands the events to their consumers, to busy ones where the earlier events wait. */
  readonly deliver: (busy: ReadonlySet<string>) => void
}

const pollMs = 10
const retryMs = 500
/** How long events that left the document unsettled block those behind them: a slow or failing consumer must not stop all others. */
const maxUnsettledMs = 2000
/** Events beyond this number are not deferred. */
const maxDeferred = 10_000

/**
 * Events whose document still has earlier ones of another kernel. They stay in the document until those are settled, so that every consumer
 * receives the events of a document in commit order. The sweep takes care of earlier events of a kernel that died.
 */
export class DeferredEvents {
  readonly #server: MongodbConnection
  readonly #deliveries: PendingDeliveries
  readonly #log: Log
  readonly #consumersOf = new Map<string, readonly string[]>()
  /** The last deferral of each document. */
  readonly #last = new Map<string, Promise<void>>()
  #stopped = new AbortController()

  constructor(server: MongodbConnection, deliveries: PendingDeliveries, log: Log) {
    this.#server = server
    this.#deliveries = deliveries
    this.#log = log
  }

  has(id: string): boolean {
    return this.#consumersOf.has(id)
  }

  get isFull(): boolean {
    return this.#consumersOf.size >= maxDeferred
  }

  /** Whether events of a document wait here: later ones wait behind them. */
  hasAnyOf(collection: string, document: string): boolean {
    return this.#last.has(keyOf({ collection, document }))
  }

  /** How many events wait for a consumer. */
  countFor(consumer: string): number {
    return [...this.#consumersOf.values()].filter(consumers => consumers.includes(consumer)).length
  }

  add(deferred: Deferred): void {
    for (const id of deferred.ids) this.#consumersOf.set(id, deferred.consumers)
    const key = keyOf(deferred)
    const { signal } = this.#stopped
    const turn = (this.#last.get(key) ?? Promise.resolve()).then(async () => {
      await this.#earlierSettled(deferred, signal)
      const busy = await deferred.findBusy()
      // From here on nothing is awaited: a commit either finds this turn and waits behind it, or comes after its events.
      if (deferred.ids.every(id => this.#consumersOf.delete(id))) deferred.deliver(busy)
      if (this.#last.get(key) === turn) this.#last.delete(key)
    })
    this.#last.set(key, turn)
  }

  /** Delivers everything at once, in the order of the commits made here. */
  async flush(): Promise<void> {
    this.#stopped.abort()
    this.#stopped = new AbortController()
    await Promise.all(this.#last.values())
  }

  /** Drops everything from memory: a sweep finds it in the documents. */
  clear(): void {
    this.#consumersOf.clear()
    this.#last.clear()
    this.#stopped.abort()
    this.#stopped = new AbortController()
  }

  async #earlierSettled({ collection, document, earlier, consumers }: Deferred, signal: AbortSignal): Promise<void> {
    const query = { _id: document, 'ev.id': { $in: [...earlier] } }
    const inDocument = () => this.#server.use(() => this.#server.collection<Kept>(collection).countDocuments(query, { limit: 1 }))
    let leftAt = Number.POSITIVE_INFINITY
    while (earlier.length > 0 && !signal.aborted) {
      let waitMs = pollMs
      try {
        if ((await inDocument()) === 0) {
          leftAt = Math.min(leftAt, performance.now())
          if (performance.now() - leftAt > maxUnsettledMs || !(await this.#deliveries.hasAny(earlier, consumers))) return
        }
      } catch (error) {
        this.#log.debug('Failed to look for earlier events of a document; will be retried', { collection, error })
        waitMs = retryMs
      }
      // Rejects only when the wait is to end.
      await pause(waitMs, undefined, { signal, ref: false }).catch(() => undefined)
    }
  }
}

const keyOf = ({ collection, document }: Pick<Deferred, 'collection' | 'document'>): string => `${collection}/${document}`
