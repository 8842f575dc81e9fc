import { type AnyEvent, type Clock, Conflict, type Ids, type Log, type NewEvent } from 'pounce/sdk'
import type { Connection } from 'pounce/sdk/sqlite'
import type { AbsentConsumer, Consumer, DeadLetter, Delivery, Outbox } from 'pounce/sdk/store-kit'
import { type AckOutbox, AckWork, type DeliveryOutcome } from './ack-work.ts'
import type { Database } from './database.ts'
import type { GroupCommit } from './group-commit.ts'
import { entryOf, inMemory, type OutboxConsumer } from './outbox-consumer.ts'
import * as tables from './outbox-tables.ts'
import { readEvent } from './outbox-tables.ts'
import { change, settlingDeadLetter } from './writer.ts'

/** The ID before a low mark: events after it are at or beyond the mark. */
const justBelow = (low: string): string => (low.endsWith('+') ? low.slice(0, -1) : (BigInt(`0x${low}`) - 1n).toString(16).padStart(24, '0'))

/** Reads the position of a consumer; leases granted by this process remain valid. */
const resume = (db: Connection, consumer: OutboxConsumer, former: OutboxConsumer | undefined): void => {
  for (const id of tables.passedBy(db, consumer.id)) consumer.passed.add(id)
  for (const { event, attempts, due } of tables.retriesOf(db, consumer.id)) consumer.retries.set(event, { attempts, due })
  for (const { audience, events } of tables.countFrom(db, consumer.low)) {
    if (tables.isFor(audience, consumer.id)) consumer.waiting += events
  }
  consumer.waiting += consumer.retries.size - consumer.passed.size
  consumer.loadedTo = justBelow(consumer.low)
  for (const [id, lease] of former?.leases ?? []) {
    const isOpen = lease.isRetry ? consumer.retries.has(id) : id >= consumer.low && !consumer.passed.has(id)
    if (isOpen) consumer.leases.set(id, lease)
  }
}

/** Reads events that are not yet in memory, until there are enough to choose from. */
const loadMore = (db: Connection, consumer: OutboxConsumer, limit: number): void => {
  while (!consumer.isLive && consumer.pendingCount < Math.min(limit + consumer.leases.size, inMemory)) {
    const events = tables.eventsAfter(db, consumer.loadedTo, 500)
    for (const { event, audience } of events) {
      if (tables.isFor(audience, consumer.id) && !consumer.leases.has(event.id)) consumer.push(entryOf(event))
      else consumer.loadedTo = event.id
    }
    consumer.isLive = events.length < 500
  }
}

const isAbsent = 10_000

/** The stored state of a consumer that is not declared. */
const absentOf = (db: Connection, { id, name, low }: OutboxConsumer): AbsentConsumer => {
  const sql = `SELECT count(*), min(event) FROM (
    SELECT e.id AS event FROM outbox_events e WHERE e.id >= ? AND e.audience LIKE ?
      AND NOT EXISTS (SELECT 1 FROM outbox_passed p WHERE p.consumer = ? AND p.event = e.id)
    UNION SELECT event FROM outbox_failed WHERE consumer = ? AND parked_at IS NULL LIMIT ?+0)`
  const [count, oldest] = db.get(sql, low, `%,${id},%`, id, id, isAbsent) ?? []
  const event = typeof oldest === 'string' ? readEvent(db, oldest) : undefined
  return { consumer: name, waiting: Number(count), oldest: event?.at ?? null }
}

const countedTo = 100_000

/**
 * The outbox in the documents' own database. An event is one row, however many consumers it has; a consumer's progress is one
 * low mark and the few IDs beyond it, so that settling a batch costs one small write. Leases are kept in memory and end with the process.
 */
export class SqliteOutbox implements Outbox {
  #wiring: OutboxWiring
  #consumers = new Map<string, OutboxConsumer>()
  #absent = new Map<string, OutboxConsumer>()
  #audiences = new Map<string, string>()
  /** The declared consumers of each type. */
  #consumersOf = new Map<string, readonly OutboxConsumer[]>()
  #listeners = new Set<(consumers: ReadonlySet<string>) => void>()
  #settlements = new Map<string, AckWork>()
  #last = ''
  /** The newest durable event: those of the open transaction are newer, and no consumer has passed them. */
  #announced = ''
  #prunedTo = ''
  /** A consumer that had not passed the oldest event at the last check. */
  #slowest: OutboxConsumer | undefined
  /** Consumers with new events whose listeners have not been notified. */
  #due = new Set<string>()

  constructor(wiring: OutboxWiring) {
    this.#wiring = wiring
  }

  load(): void {
    this.#wiring.database.use(db => {
      db.transaction(() => tables.prepareTables(db))
      this.#takeNote(tables.newestMark(db))
    })
  }

  async declareConsumers(consumers: readonly Consumer[]): Promise<void> {
    this.#wiring.database.use(db => {
      this.#declare(db, consumers)
      this.#prunedTo = db.transaction(() => this.#prune(db))
    })
    this.#wiring.database.onReopened = () => this.#reload()
  }

  #declare(db: Connection, consumers: readonly Consumer[]): void {
    const { declared, absent } = db.transaction(() => tables.declareConsumers(db, consumers, this.#end()))
    for (const consumer of declared.values()) resume(db, consumer, this.#consumers.get(consumer.name))
    this.#consumers = declared
    this.#absent = absent
    this.#audiences.clear()
    this.#consumersOf.clear()
    this.#slowest = undefined
  }

  /** Reloads everything: events of a commit that was reported as failed may be stored, and so may acknowledgements. */
  #reload(): void {
    const db = this.#wiring.database.connection()
    this.#takeNote(tables.newestMark(db))
    this.#declare(
      db,
      [...this.#consumers.values()].map(({ name, types }) => ({ name, types: types === '*' ? types : [...types] })),
    )
  }

  #takeNote(newest: string): void {
    if (newest > this.#last) this.#last = newest
    if (newest > this.#announced) this.#announced = newest
  }

  /** A mark beyond all currently durable events. */
  #end(): string {
    return `${this.#announced}+`
  }

  /** Assigns IDs and times to new events. Called while a transaction is open; `announce` follows once it is durable. */
  record(db: Connection, events: readonly NewEvent[]): readonly AnyEvent[] {
    const at = this.#wiring.clock.now().toISOString()
    const recorded: AnyEvent[] = []
    for (const event of events) {
      const audience = this.#audienceOf(event.type)
      if (audience === '') continue
      const text = JSON.stringify({ id: this.#nextId(), ...event, at })
      const stored = tables.eventOf(text)
      tables.insertEvent(db, stored.id, audience, text)
      recorded.push(stored)
    }
    return recorded
  }

  /** IDs rise even when the clock was set back since the last start. */
  #nextId(): string {
    const id = this.#wiring.ids.next()
    this.#last = id > this.#last ? id : (BigInt(`0x${this.#last}`) + 1n).toString(16).padStart(24, '0')
    return this.#last
  }

  #audienceOf(type: string): string {
    let audience = this.#audiences.get(type)
    if (audience === undefined) {
      const ids = [...this.#consumers.values(), ...this.#absent.values()].flatMap(consumer => (consumer.handles(type) ? [consumer.id] : []))
      audience = ids.length === 0 ? '' : `,${ids.join(',')},`
      this.#audiences.set(type, audience)
    }
    return audience
  }

  /** Notifies consumers of durable events. */
  announce(events: readonly AnyEvent[]): void {
    const newest = events.at(-1)
    if (newest === undefined) return
    this.#announced = newest.id
    for (const event of events) {
      const entry = entryOf(event)
      for (const consumer of this.#handling(event.type)) {
        consumer.committed(entry)
        this.#notify(consumer)
      }
    }
  }

  #handling(type: string): readonly OutboxConsumer[] {
    const known = this.#consumersOf.get(type)
    if (known) return known
    const consumers = [...this.#consumers.values()].filter(consumer => consumer.handles(type))
    this.#consumersOf.set(type, consumers)
    return consumers
  }

  #notify({ name }: OutboxConsumer): void {
    const isDue = this.#due.size === 0
    this.#due.add(name)
    if (!isDue) return
    queueMicrotask(() => {
      const due = this.#due
      this.#due = new Set()
      for (const listener of this.#listeners) {
        try {
          listener(due)
        } catch (error) {
          this.#wiring.log.error('A listener for new events failed', { error })
        }
      }
    })
  }

  async claim(
    name: string,
    { limit, leaseMs }: { readonly limit: number; readonly leaseMs: number; readonly owner: string },
  ): Promise<readonly Delivery[]> {
    const now = this.#wiring.clock.now().getTime()
    const known = this.#declared(name)
    known.expire(now)
    if (known.isIdle) return []
    return this.#wiring.database.use(db => {
      // Not `known`: when the file was reopened for this, all consumers were reloaded.
      const consumer = this.#declared(name)
      loadMore(db, consumer, limit)
      const due = consumer.dueRetries(now).slice(0, limit)
      const retries = due.flatMap(id => tables.readEvent(db, id) ?? [])
      return consumer.lease(retries, limit, now + leaseMs).map(({ event, attempt }) => ({ event, attempt }))
    })
  }

  #declared(name: string): OutboxConsumer {
    const consumer = this.#consumers.get(name)
    if (consumer === undefined) throw new Error(`Consumer ${name} is not declared`)
    return consumer
  }

  done(name: string, eventIds: readonly string[]): Promise<void> {
    return this.#settle(
      name,
      eventIds.map(id => ({ id, how: 'done' })),
    )
  }

  failed(
    name: string,
    eventId: string,
    outcome: { readonly error: string } & ({ readonly retryInMs: number } | { readonly park: true }),
  ): Promise<void> {
    const now = this.#wiring.clock.now()
    if ('park' in outcome) return this.#settle(name, [{ id: eventId, how: 'park', error: outcome.error, at: now.toISOString() }])
    return this.#settle(name, [{ id: eventId, how: 'retry', error: outcome.error, due: now.getTime() + outcome.retryInMs }])
  }

  /** All outcomes of one consumer in one turn are one write request of the next transaction. */
  async #settle(name: string, outcomes: readonly DeliveryOutcome[]): Promise<void> {
    if (!this.#consumers.has(name) || outcomes.length === 0) return
    let settlement = this.#settlements.get(name)
    if (settlement === undefined) {
      settlement = new AckWork(name, this.#ledger)
      this.#settlements.set(name, settlement)
      const settled = settlement.add(outcomes)
      this.#wiring.commits.add(settlement)
      return settled
    }
    return settlement.add(outcomes)
  }

  #ledger: AckOutbox = {
    connection: () => this.#wiring.database.connection(),
    consumer: name => this.#consumers.get(name),
    newest: () => this.#announced,
    prunedTo: () => this.#prunedTo,
    prune: (consumer, low) => this.#prune(this.#wiring.database.connection(), consumer, low),
    pruned: to => {
      if (to > this.#prunedTo) this.#prunedTo = to
    },
    begun: name => this.#settlements.delete(name),
  }

  /** Deletes the events that every consumer has passed, assuming that one of them is at `low`; returns the new lower bound. */
  #prune(db: Connection, moved?: OutboxConsumer, low = ''): string {
    const lowOf = (consumer: OutboxConsumer): string => (consumer === moved ? low : consumer.lowAfter(this.#announced))
    const isBehind = (consumer: OutboxConsumer): boolean => lowOf(consumer) <= this.#prunedTo
    // The consumer that was behind at the last check mostly still is: then nothing can be deleted.
    if (moved) {
      if (!this.#slowest || !isBehind(this.#slowest)) this.#slowest = [...this.#consumers.values()].find(isBehind)
      if (this.#slowest) return ''
    }
    let lowest = this.#end()
    for (const consumer of this.#consumers.values()) {
      const its = lowOf(consumer)
      if (its < lowest) lowest = its
    }
    if (lowest > this.#prunedTo) tables.pruneEvents(db, this.#prunedTo, lowest)
    return lowest
  }

  async deadLetters({ limit }: { readonly limit: number }): Promise<readonly DeadLetter[]> {
    return this.#wiring.database.use(db => tables.readDeadLetters(db, limit))
  }

  settleDeadLetter(name: string, eventId: string, how: 'retry' | 'drop'): Promise<void> {
    const { database, commits, clock } = this.#wiring
    return change(commits, () => {
      const consumer = this.#consumers.get(name) ?? this.#absent.get(name)
      if (consumer === undefined) return { write: () => undefined, finish: () => undefined }
      const db = database.connection()
      const tools = { db, due: clock.now().getTime(), prunedTo: () => this.#prunedTo, notify: () => this.#notify(consumer) }
      return settlingDeadLetter(tools, consumer, eventId, how)
    })
  }

  async absent(): Promise<readonly AbsentConsumer[]> {
    return this.#wiring.database.use(db => [...this.#absent.values()].map(consumer => absentOf(db, consumer)))
  }

  async forget(name: string): Promise<void> {
    if (this.#consumers.has(name)) throw new Conflict(`The consumer ${name} is loaded: its events are handled`)
    const absent = this.#absent.get(name)
    if (absent === undefined) return
    await change(this.#wiring.commits, () => ({
      write: () => {
        const db = this.#wiring.database.connection()
        tables.forgetConsumer(db, absent.id)
        tables.pruneEvents(db, '', this.#prunedTo)
      },
      finish: () => {
        this.#absent.delete(name)
        this.#audiences.clear()
      },
    }))
  }

  async waiting(): Promise<Readonly<Record<string, number>>> {
    return Object.fromEntries([...this.#consumers.values()].map(({ name, waiting }) => [name, Math.min(waiting, countedTo)]))
  }

  onCommitted(listener: (consumers: ReadonlySet<string>) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }
}

/** The outbox's dependencies. */
export interface OutboxWiring {
  readonly database: Database
  readonly commits: GroupCommit
  readonly ids: Ids
  readonly clock: Clock
  readonly log: Log
}
