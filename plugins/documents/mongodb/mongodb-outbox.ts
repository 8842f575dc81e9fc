import { randomBytes, randomUUID } from 'node:crypto'
import type { AnyEvent, Clock, Log, NewEvent } from 'pounce/sdk'
import type { AbsentConsumer, Consumer, DeadLetter, Delivery, Outbox } from 'pounce/sdk/store-kit'
import { AcknowledgedEvents } from './acknowledged-events.ts'
import { ConsumerQueue } from './consumer-queue.ts'
import { Consumers } from './consumers.ts'
import { DeferredEvents, keyOf } from './deferred-events.ts'
import { EventClaims, eventOf, holdMs } from './event-claims.ts'
import { type EmbeddedEvent, EventRelay, maxWaitMs } from './event-relay.ts'
import type { MongodbCatalog } from './mongodb-catalog.ts'
import type { MongodbConnection } from './mongodb-connection.ts'
import type { Before } from './mongodb-writer.ts'
import { PendingDeliveries, subjectOf } from './pending-deliveries.ts'
import type { OutboxEvent } from './record-format.ts'
import { RepeatingTask } from './repeating-task.ts'
import { sweep } from './sweep.ts'

const kernelBytes = 5
/** Hex digits of the time. */
const timeDigits = 14
const [secondBits, millisecondBits] = [24n, 14n]

/**
 * IDs of events: a hybrid logical clock in 24 hex digits. 32 bits of seconds, 10 of milliseconds and 14 of a counter are followed by 40 random bits of the
 * kernel. They rise in a kernel; given the ID of the last event of a document, they rise with its revisions, whichever kernel changes it and whatever its clock says.
 */
export class EventIds {
  readonly #kernel = randomBytes(kernelBytes).toString('hex')
  #last = 0n

  /** The next ID, greater than all before it and than `after`, the ID of an event of any kernel. `now`: milliseconds since 1970. */
  next(now: number, after = ''): string {
    const ms = BigInt(Math.floor(now))
    const time = ((ms / 1000n) << secondBits) | ((ms % 1000n) << millisecondBits)
    const seen = after === '' ? 0n : BigInt(`0x${after.slice(0, timeDigits)}`)
    // An overflow of the counter continues in the milliseconds.
    this.#last = [this.#last + 1n, seen + 1n].reduce((one, other) => (one > other ? one : other), time)
    return this.#last.toString(16).padStart(timeDigits, '0') + this.#kernel
  }
}

/** Notifies listeners of new events, at most once per turn of the event loop. */
class CommitNotifier {
  readonly #log: Log
  readonly #listeners = new Set<() => void>()
  #isDue = false

  constructor(log: Log) {
    this.#log = log
  }

  /** Returns a function that removes the listener. */
  listen(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  notify(): void {
    if (this.#isDue) return
    this.#isDue = true
    queueMicrotask(() => {
      this.#isDue = false
      for (const listener of this.#listeners) {
        try {
          listener()
        } catch (error) {
          this.#log.error('A listener for new events failed', { error })
        }
      }
    })
  }
}

const renewalMs = 5000
const maintenanceMs = 5000

/** After this time without renewal, other kernels may have claimed what this one holds. */
const fenceMs = 15_000

/** A consumer that has not claimed for this long is assumed to run on another kernel. */
const idleMs = 5000

/** The dependencies of the outbox. */
export interface OutboxWiring {
  readonly server: MongodbConnection
  readonly catalog: MongodbCatalog
  readonly clock: Clock
  readonly log: Log
}

/** The document that contains events. */
interface ChangedDocument {
  readonly collection: string
  readonly document: string
  readonly isGone: boolean
}

/** Maximum number of documents of which it is known that this kernel has their events. */
const maxHeld = 1000

/**
 * Events are written into the document of their commit, delivered to the consumers of this kernel at once, and removed from the document
 * soon after: once all consumers have acknowledged them, or with a record in `_deliveries`, which any kernel can claim, for each remaining consumer.
 */
export class MongodbOutbox implements Outbox {
  readonly #wiring: OutboxWiring
  readonly #deliveries: PendingDeliveries
  readonly #consumers: Consumers
  readonly #acknowledged: AcknowledgedEvents
  readonly #relay: EventRelay
  readonly #deferred: DeferredEvents
  readonly #claiming: EventClaims
  readonly #ids = new EventIds()
  readonly #queues = new Map<string, ConsumerQueue>()
  /** Documents whose last events are not in `_deliveries` for another kernel to claim: this kernel got them, or there were none. */
  readonly #held = new Set<string>()
  readonly #notifier: CommitNotifier
  #me = randomUUID()
  #renewedAt = performance.now()
  /** Separate from the maintenance, which takes long on a slow server. */
  readonly #renewal: RepeatingTask
  readonly #maintenance: RepeatingTask

  constructor(wiring: OutboxWiring) {
    this.#wiring = wiring
    const { server, log } = wiring
    this.#deliveries = new PendingDeliveries(server)
    this.#consumers = new Consumers(server, this.#deliveries)
    this.#acknowledged = new AcknowledgedEvents(server)
    this.#relay = new EventRelay({
      server,
      log,
      deliveries: this.#deliveries,
      acknowledged: this.#acknowledged,
      describe: (fresh, consumer) => this.#describe(fresh, consumer),
      now: () => this.#now(),
    })
    this.#deferred = new DeferredEvents(server, this.#deliveries, this.#relay, log)
    this.#claiming = new EventClaims(this.#deliveries, this.#relay)
    this.#notifier = new CommitNotifier(log)
    this.#renewal = new RepeatingTask(() => this.#renew(), renewalMs, log)
    this.#maintenance = new RepeatingTask(() => this.#maintain(), maintenanceMs, log)
  }

  async start(): Promise<void> {
    await this.#deliveries.declare()
    await this.#acknowledged.declare()
    this.#renewal.start()
    this.#maintenance.start()
  }

  /** Stops without writing to the server. */
  async abandon(): Promise<void> {
    await Promise.all([this.#renewal.stop(), this.#maintenance.stop()])
    this.#deferred.clear()
    this.#relay.clear()
    this.#me = randomUUID()
  }

  /** Moves events that are still in documents to `_deliveries`, and releases the leases. */
  async dispose(): Promise<void> {
    await Promise.all([this.#renewal.stop(), this.#maintenance.stop()])
    await this.#deferred.flush()
    await this.#relay.flush()
    await this.#deliveries.release(this.#me)
    await this.#acknowledged.tidy()
    await this.#consumers.leave()
  }

  #now(): number {
    return this.#wiring.clock.now().getTime()
  }

  async declareConsumers(consumers: readonly Consumer[]): Promise<void> {
    await this.#consumers.declare(consumers, this.#now())
    for (const name of this.#queues.keys()) if (!consumers.some(one => one.name === name)) this.#queues.delete(name)
    for (const { name } of consumers) if (!this.#queues.has(name)) this.#queues.set(name, new ConsumerQueue(name))
  }

  /** Completes new events, without those that have no consumer. `after`: ID of an event that they follow. */
  make(events: readonly NewEvent[], after?: string): readonly OutboxEvent[] {
    const now = this.#wiring.clock.now()
    return events.flatMap(event => {
      const to = this.#consumers.audienceOf(event.type)
      if (to.length === 0) return []
      const id = this.#ids.next(now.getTime(), after)
      return [{ id, at: now.getTime(), e: JSON.stringify({ id, ...event, at: now.toISOString() }), to }]
    })
  }

  /** The marker of a tombstone, by which a sweep finds it. */
  tombstoneMark(after?: string): OutboxEvent {
    return { id: this.#ids.next(this.#now(), after), at: this.#now(), e: '', to: [] }
  }

  /** Delivers the events of a durable commit. */
  committed(events: readonly OutboxEvent[], changed: ChangedDocument, before: Before): void {
    const key = keyOf(changed)
    if (before !== 'own') this.#note(key, before === 'nothing')
    if (events.length === 0) return
    if ((this.#held.has(key) && !this.#deferred.hasAnyOf(key)) || this.#deferred.isFull) {
      this.#deliver(events, changed)
      return
    }
    const { collection, document } = changed
    this.#deferred.add({
      ...{ collection, document, events },
      earlier: typeof before === 'string' ? undefined : before,
      findBusy: () => this.#busyWith(events),
      deliver: busy => this.#deliver(events, changed, busy),
    })
  }

  #note(key: string, isHeld: boolean): void {
    this.#held.delete(key)
    if (isHeld) this.#held.add(key)
    for (const oldest of this.#held) {
      if (this.#held.size <= maxHeld) return
      this.#held.delete(oldest)
    }
  }

  /** Consumers with undelivered earlier events of the same subjects in `_deliveries`; all consumers when the query fails. */
  async #busyWith(events: readonly OutboxEvent[]): Promise<ReadonlySet<string>> {
    const consumers = [...new Set(events.flatMap(({ to }) => to))]
    if (consumers.length === 0) return new Set()
    const subjects = events.flatMap(({ e }) => (e === '' ? [] : [subjectOf(JSON.parse(e) as AnyEvent)]))
    try {
      return await this.#deliveries.waitingOf(consumers, [...new Set(subjects)], this.#me)
    } catch (error) {
      this.#wiring.log.debug('Failed to look for earlier events of a subject', { error })
      return new Set(consumers)
    }
  }

  #deliver(events: readonly OutboxEvent[], changed: ChangedDocument, busy?: ReadonlySet<string>): void {
    const { collection, document, isGone } = changed
    const until = performance.now() + maxWaitMs
    for (const consumer of busy ?? []) this.#queues.get(consumer)?.leave()
    let areHeld = true
    const fresh = events.map((one): EmbeddedEvent => {
      const { id, e: text, to } = one
      if (text === '') return { id, subject: '', text, collection, document, isGone, left: new Set(), recorded: new Set(), until }
      const event = eventOf(text)
      const elsewhere = to.filter(consumer => busy?.has(consumer) || !this.#offer(consumer, event))
      if (elsewhere.some(consumer => this.#queues.has(consumer))) areHeld = false
      const dueAt = elsewhere.length === 0 ? until : 0
      return { id, subject: subjectOf(event), text, collection, document, isGone, left: new Set(to), recorded: new Set(), until: dueAt }
    })
    this.#note(keyOf(changed), areHeld)
    this.#relay.add(fresh)
    this.#notifier.notify()
  }

  #offer(consumer: string, event: AnyEvent): boolean {
    const queue = this.#queues.get(consumer)
    if (queue === undefined) return false
    if (performance.now() - queue.claimedAt > idleMs) queue.leave()
    return queue.offer(event)
  }

  #describe(fresh: EmbeddedEvent, consumer: string): ReturnType<ConstructorParameters<typeof EventRelay>[0]['describe']> {
    const queue = this.#queues.get(consumer)
    if (!queue?.holds(fresh.id)) return { tries: 0 }
    const attempt = queue.attemptOf(fresh.id)
    return { tries: queue.isLeased(fresh.id) ? attempt : attempt - 1, lease: { by: this.#me, until: this.#now() + holdMs } }
  }

  async claim(
    name: string,
    { limit, leaseMs }: { readonly limit: number; readonly leaseMs: number; readonly owner: string },
  ): Promise<readonly Delivery[]> {
    const queue = this.#queues.get(name)
    if (queue === undefined) throw new Error(`Consumer ${name} is not declared`)
    this.#fence()
    return this.#claiming.claim(queue, { limit, leaseMs, now: this.#now(), me: this.#me })
  }

  async done(name: string, eventIds: readonly string[]): Promise<void> {
    const queue = this.#queues.get(name)
    const [here, elsewhere] = [eventIds.filter(id => this.#relay.has(id)), eventIds.filter(id => !this.#relay.has(id))]
    await Promise.all([this.#relay.settle(name, here), this.#deliveries.settle(name, elsewhere)])
    for (const id of eventIds) queue?.drop(id)
  }

  async failed(
    name: string,
    eventId: string,
    outcome: { readonly error: string } & ({ readonly retryInMs: number } | { readonly park: true }),
  ): Promise<void> {
    const queue = this.#queues.get(name)
    const tries = queue?.attemptOf(eventId) ?? 1
    // From now on, another kernel can claim it.
    this.#held.clear()
    await this.#relay.moveToDeliveries([eventId])
    const now = this.#wiring.clock.now()
    if ('park' in outcome) await this.#deliveries.park(name, eventId, tries, outcome.error, now.toISOString())
    else {
      const due = now.getTime() + outcome.retryInMs
      await this.#deliveries.fail(name, eventId, tries, outcome.error, due)
      queue?.retryAt(due)
    }
    queue?.drop(eventId)
  }

  deadLetters({ limit }: { readonly limit: number }): Promise<readonly DeadLetter[]> {
    return this.#deliveries.deadLetters(limit)
  }

  async settleDeadLetter(name: string, eventId: string, how: 'retry' | 'drop'): Promise<void> {
    if (how === 'drop') return this.#deliveries.dropDeadLetters(name, eventId)
    if (!(await this.#deliveries.retryDeadLetters(name, eventId))) return
    this.#queues.get(name)?.leave()
    this.#notifier.notify()
  }

  async waiting(): Promise<Readonly<Record<string, number>>> {
    const names = [...this.#queues.keys()]
    const counts = await this.#relay.whileIdle(() =>
      Promise.all(
        names.map(async name => {
          const moved = await this.#deliveries.waiting(name)
          return Math.min(100_000, moved + this.#relay.idsFor(name).length + this.#deferred.countFor(name))
        }),
      ),
    )
    return Object.fromEntries(names.map((name, at) => [name, counts[at] ?? 0]))
  }

  absent(): Promise<readonly AbsentConsumer[]> {
    return this.#consumers.absent(this.#now())
  }

  async forget(name: string): Promise<void> {
    await this.#deferred.flush()
    await this.#relay.flush()
    await this.#consumers.forget(name, this.#now())
  }

  onCommitted(listener: () => void): () => void {
    return this.#notifier.listen(listener)
  }

  /** After a long outage of the server, other kernels may have claimed what this one holds, so it is dropped here. */
  #fence(): void {
    if (performance.now() - this.#renewedAt < fenceMs) return
    this.#wiring.log.warn('Event leases expired before renewal; the events are claimed again')
    this.#me = randomUUID()
    this.#renewedAt = performance.now()
    this.#deferred.clear()
    this.#relay.clear()
    this.#acknowledged.clear()
    this.#held.clear()
    for (const queue of this.#queues.values()) queue.clear()
  }

  /** Renews the leases of this kernel. */
  async #renew(): Promise<void> {
    const begun = performance.now()
    const me = this.#me
    await this.#deliveries.renew(me, this.#now() + holdMs)
    if (me === this.#me) this.#renewedAt = begun
  }

  /** Reads the consumers of other kernels and sweeps stale events. */
  async #maintain(): Promise<void> {
    const { server, catalog } = this.#wiring
    await this.#consumers.refresh(this.#now())
    await this.#acknowledged.tidy()
    const isHeld = (id: string): boolean => this.#relay.has(id) || this.#deferred.has(id)
    const tools = { server, catalog, deliveries: this.#deliveries, acknowledged: this.#acknowledged, isHeld }
    const released = await this.#deliveries.releaseDoubtful(this.#me)
    const found = await sweep(tools, this.#now())
    if (found === 0) await this.#acknowledged.tidyOld(this.#now())
    if (found + released === 0) return
    this.#wiring.log.info('Stale events redelivered', { events: found + released })
    for (const queue of this.#queues.values()) queue.leave()
    this.#notifier.notify()
  }
}
