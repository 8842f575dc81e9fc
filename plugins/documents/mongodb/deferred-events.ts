import { setTimeout as pause } from 'node:timers/promises'
import type { Log } from 'pounce/sdk'
import type { EventRelay } from './event-relay.ts'
import type { MongodbConnection } from './mongodb-connection.ts'
import type { PendingDeliveries } from './pending-deliveries.ts'
import type { OutboxEvent, StoredRecord } from './record-format.ts'

/** Events of one commit that wait for earlier ones of their document. */
export interface DeferredCommit {
  readonly collection: string
  /** `_id` of the document. */
  readonly document: string
  /** With the consumers of each. */
  readonly events: readonly Pick<OutboxEvent, 'id' | 'to'>[]
  /** IDs of the events that the document had before; undefined when they are unknown. */
  readonly earlier: readonly string[] | undefined
  /** Consumers that have earlier events of the same subjects waiting elsewhere. */
  readonly findBusy: () => Promise<ReadonlySet<string>>
  /** Delivers the events to their consumers; for busy consumers, they are stored where the earlier events wait. */
  readonly deliver: (busy: ReadonlySet<string>) => void
}

const pollMs = 10
const retryMs = 500
/** How long unsettled events that left the document block later ones: a slow or failing consumer must not stop the others. */
const maxUnsettledMs = 2000
/** Maximum number of deferred events. */
const maxDeferred = 10_000

/**
 * Events whose document still has earlier events of another kernel. They stay in the document until those are settled, so that each consumer
 * receives the events of a document in commit order. The sweep handles earlier events of a kernel that died.
 */
export class DeferredEvents {
  readonly #server: MongodbConnection
  readonly #deliveries: PendingDeliveries
  readonly #relay: Pick<EventRelay, 'has'>
  readonly #log: Log
  readonly #consumersOf = new Map<string, readonly string[]>()
  /** The last deferral for each document. */
  readonly #last = new Map<string, Promise<void>>()
  #stopped = new AbortController()

  constructor(server: MongodbConnection, deliveries: PendingDeliveries, relay: Pick<EventRelay, 'has'>, log: Log) {
    this.#server = server
    this.#deliveries = deliveries
    this.#relay = relay
    this.#log = log
  }

  has(id: string): boolean {
    return this.#consumersOf.has(id)
  }

  get isFull(): boolean {
    return this.#consumersOf.size >= maxDeferred
  }

  /** Whether events of a document (`keyOf`) are deferred: later ones must wait behind them. */
  hasAnyOf(key: string): boolean {
    return this.#last.has(key)
  }

  /** How many events wait for a consumer. */
  countFor(consumer: string): number {
    return [...this.#consumersOf.values()].filter(consumers => consumers.includes(consumer)).length
  }

  add(deferred: DeferredCommit): void {
    for (const { id, to } of deferred.events) this.#consumersOf.set(id, to)
    const key = keyOf(deferred)
    const { signal } = this.#stopped
    const turn = (this.#last.get(key) ?? Promise.resolve()).then(async () => {
      await this.#earlierSettled(deferred, signal)
      const busy = await deferred.findBusy()
      // Nothing is awaited from here on: a commit either finds this deferral and waits behind it, or comes after its events.
      if (deferred.events.every(({ id }) => this.#consumersOf.delete(id))) deferred.deliver(busy)
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

  /** Drops everything from memory: a sweep will find it in the documents. */
  clear(): void {
    this.#consumersOf.clear()
    this.#last.clear()
    this.#stopped.abort()
    this.#stopped = new AbortController()
  }

  async #earlierSettled(deferred: DeferredCommit, signal: AbortSignal): Promise<void> {
    const consumers = [...new Set(deferred.events.flatMap(({ to }) => to))]
    let earlier: readonly string[] | undefined
    let leftAt = Number.POSITIVE_INFINITY
    while (!signal.aborted) {
      let waitMs = pollMs
      try {
        // Those of earlier commits of this kernel are already delivered.
        earlier ??= (deferred.earlier ?? (await this.#eventsBefore(deferred))).filter(id => !this.#relay.has(id) && !this.has(id))
        if (earlier.length === 0) return
        if (!(await this.#areInDocument(deferred, earlier))) {
          leftAt = Math.min(leftAt, performance.now())
          if (performance.now() - leftAt > maxUnsettledMs || !(await this.#deliveries.hasAny(earlier, consumers))) return
        }
      } catch (error) {
        this.#log.debug('Failed to read earlier events of a document; will be retried', { collection: deferred.collection, error })
        waitMs = retryMs
      }
      // Rejects only on shutdown.
      await pause(waitMs, undefined, { signal, ref: false }).catch(() => undefined)
    }
  }

  async #areInDocument({ collection, document }: DeferredCommit, ids: readonly string[]): Promise<boolean> {
    const query = { _id: document, 'ev.id': { $in: [...ids] } }
    return (await this.#server.use(() => this.#server.collection<StoredRecord>(collection).countDocuments(query, { limit: 1 }))) > 0
  }

  async #eventsBefore({ collection, document, events }: DeferredCommit): Promise<readonly string[]> {
    const options = { projection: { 'ev.id': 1 } }
    const record = await this.#server.use(() => this.#server.collection<StoredRecord>(collection).findOne({ _id: document }, options))
    const ids = record?.ev.map(({ id }) => id) ?? []
    return ids.slice(0, Math.max(0, ids.indexOf(events[0]?.id ?? '')))
  }
}

/** Identifies a document of any collection. */
export const keyOf = ({ collection, document }: Pick<DeferredCommit, 'collection' | 'document'>): string => `${collection}/${document}`
