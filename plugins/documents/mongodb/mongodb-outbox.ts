import { randomUUID } from 'node:crypto'
import type { AnyEvent, Clock, Consumer, Delivery, Ids, Log, NewEvent, Outbox, Parked } from 'pounce/sdk'
import type { Catalog } from './catalog.ts'
import { ConsumerQueue, type Held } from './consumer-queue.ts'
import { Consumers } from './consumers.ts'
import { Deliveries, type Kept, subjectOf } from './deliveries.ts'
import type { KeptEvent } from './form.ts'
import { type Fresh, Handover } from './handover.ts'
import type { Server } from './server.ts'
import { sweep } from './sweep.ts'

/** How long a lease lasts on the server unless it is renewed: so long do a dead kernel's events wait. */
const holdMs = 20_000
const upkeepMs = 5000
/** Without a renewal for so long what is held may have been taken by others. */
const fenceMs = 15_000
const lookMs = 1000
/** Who has not claimed for so long is taken to be elsewhere. */
const idleMs = 5000

/** What the outbox works with. */
export interface OutboxWiring {
  readonly server: Server
  readonly catalog: Catalog
  readonly ids: Ids
  readonly clock: Clock
  readonly log: Log
}

/** Where an event is. */
interface Place {
  readonly collection: string
  readonly document: string
  readonly isGone: boolean
}

const parsed = ({ e }: KeptEvent): AnyEvent => deepFreeze(JSON.parse(e) as AnyEvent)

const deepFreeze = <T>(value: T): T => {
  if (typeof value === 'object' && value !== null) for (const member of Object.values(Object.freeze(value))) deepFreeze(member)
  return value
}

/**
 * Events are written into the document of their commit, handed to the consumers of this kernel at once, and taken out of the document
 * soon after: when all have dealt with them that is all; else a record for each consumer that has not goes where every kernel can claim it.
 */
export class MongodbOutbox implements Outbox {
  readonly #wiring: OutboxWiring
  readonly #deliveries: Deliveries
  readonly #consumers: Consumers
  readonly #handover: Handover
  readonly #queues = new Map<string, ConsumerQueue>()
  readonly #turns = new Map<string, Promise<unknown>>()
  readonly #listeners = new Set<() => void>()
  #me = randomUUID()
  #renewedAt = performance.now()
  #upkeep: NodeJS.Timeout | undefined
  #upkeepRuns: Promise<void> = Promise.resolve()
  #isNewsDue = false

  constructor(wiring: OutboxWiring) {
    this.#wiring = wiring
    const { server, log } = wiring
    this.#deliveries = new Deliveries(server)
    this.#consumers = new Consumers(server, this.#deliveries)
    this.#handover = new Handover({
      server,
      log,
      deliveries: this.#deliveries,
      describe: (fresh, consumer) => this.#describe(fresh, consumer),
    })
  }

  async start(): Promise<void> {
    await this.#deliveries.declare()
    this.#schedule()
  }

  /** Leaves everything as it is on the server. */
  abandon(): void {
    clearTimeout(this.#upkeep)
    this.#upkeep = undefined
    this.#handover.clear()
    this.#me = randomUUID()
  }

  /** Hands on what is still in documents, and gives back what is leased. */
  async dispose(): Promise<void> {
    clearTimeout(this.#upkeep)
    this.#upkeep = undefined
    await this.#upkeepRuns
    await this.#handover.flush()
    await this.#deliveries.release(this.#me)
  }

  #now(): number {
    return this.#wiring.clock.now().getTime()
  }

  async declareConsumers(consumers: readonly Consumer[]): Promise<void> {
    await this.#consumers.declare(consumers, this.#now())
    for (const name of this.#queues.keys()) if (!consumers.some(one => one.name === name)) this.#queues.delete(name)
    for (const { name } of consumers) if (!this.#queues.has(name)) this.#queues.set(name, new ConsumerQueue(name))
  }

  /** Completes new events. Those that nobody hears of are left out. */
  make(events: readonly NewEvent[]): readonly KeptEvent[] {
    const now = this.#wiring.clock.now()
    return events.flatMap(event => {
      const to = this.#consumers.audienceOf(event.type)
      if (to.length === 0) return []
      const id = this.#wiring.ids.next()
      return [{ id, at: now.getTime(), e: JSON.stringify({ id, ...event, at: now.toISOString() }), to }]
    })
  }

  /** The mark of a tombstone, by which a sweep finds it. */
  tombstoneMark(): KeptEvent {
    return { id: this.#wiring.ids.next(), at: this.#now(), e: '', to: [] }
  }

  /** Hands on the events of a commit that is durable now. */
  committed(kept: readonly KeptEvent[], { collection, document, isGone }: Place): void {
    if (kept.length === 0) return
    let isUrgent = false
    const since = performance.now()
    const fresh = kept.map((one): Fresh => {
      const { id, e: text, to } = one
      if (text === '') return { id, subject: '', text, collection, document, isGone, left: new Set(), since }
      const event = parsed(one)
      for (const consumer of to) isUrgent = !this.#offer(consumer, event) || isUrgent
      return { id, subject: subjectOf(event), text, collection, document, isGone, left: new Set(to), since }
    })
    this.#handover.add(fresh, isUrgent)
    this.#news()
  }

  #offer(consumer: string, event: AnyEvent): boolean {
    const queue = this.#queues.get(consumer)
    if (queue === undefined) return false
    if (performance.now() - queue.claimedAt > idleMs) queue.leave()
    return queue.offer(event)
  }

  #describe(fresh: Fresh, consumer: string): ReturnType<ConstructorParameters<typeof Handover>[0]['describe']> {
    const queue = this.#queues.get(consumer)
    if (!queue?.holds(fresh.id)) return { tries: 0 }
    const attempt = queue.attemptOf(fresh.id)
    return { tries: queue.isLeased(fresh.id) ? attempt : attempt - 1, lease: { by: this.#me, until: this.#now() + holdMs } }
  }

  #news(): void {
    if (this.#isNewsDue) return
    this.#isNewsDue = true
    queueMicrotask(() => {
      this.#isNewsDue = false
      for (const listener of this.#listeners) {
        try {
          listener()
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
    const queue = this.#queues.get(name)
    if (queue === undefined) throw new Error(`No consumer ${name} was declared`)
    const before = this.#turns.get(name)
    const turn = (before ?? Promise.resolve()).then(() => this.#claim(queue, limit, leaseMs))
    const settled = turn.catch(() => undefined)
    this.#turns.set(name, settled)
    return turn
  }

  async #claim(queue: ConsumerQueue, limit: number, leaseMs: number): Promise<readonly Delivery[]> {
    this.#fence()
    queue.claimedAt = performance.now()
    const now = this.#now()
    queue.expire(now)
    const isTime = !queue.isLive || queue.isRetryDue(now) || queue.lookAt <= performance.now()
    const others = isTime ? await this.#look(queue, now, limit) : []
    const chosen = queue.choose(others, limit)
    const held = chosen.filter((one): one is Held => 'event' in one)
    const wanted = chosen.filter((one): one is Candidate => 'kept' in one)
    const taken = wanted.length > 0 ? await this.#take(wanted, now) : []
    const all = [...held, ...taken].sort((a, b) => (a.id < b.id ? -1 : 1))
    return queue.lease(all, now + leaseMs)
  }

  /** What waits elsewhere and may be taken. */
  async #look(queue: ConsumerQueue, now: number, limit: number): Promise<readonly Candidate[]> {
    const { leftElsewhere } = queue
    await this.#handover.moveOn(this.#handover.idsFor(queue.name).filter(id => !queue.holds(id)))
    const asked = limit + queue.leasedCount
    const { fresh, due } = await this.#deliveries.available(queue.name, now, asked, this.#me)
    queue.lookAt = performance.now() + lookMs
    if (due.length < asked) queue.retried(now)
    if (fresh.length < asked && leftElsewhere === queue.leftElsewhere) queue.isLive = true
    const found = [...fresh, ...due].map(kept => ({ id: kept.o, subject: kept.s, kept }))
    if (found.length === 0) return found
    const subjects = [...new Set(found.map(({ subject }) => subject))]
    const busy = await this.#deliveries.busySubjects(queue.name, subjects, now, this.#me)
    const free = found.filter(({ id, subject }) => !busy.has(subject) && !queue.holds(id))
    if (free.length > limit) queue.leave()
    return free
  }

  async #take(wanted: readonly Candidate[], now: number): Promise<readonly Held[]> {
    const lease = { by: this.#me, until: now + holdMs, take: randomUUID() }
    const got = await this.#deliveries.take(
      wanted.map(({ kept }) => kept._id),
      now,
      lease,
    )
    return wanted
      .filter(({ kept }) => got.has(kept._id))
      .map(({ id, subject, kept }) => ({ id, subject, event: parsed({ ...kept, id, at: 0, to: [] }), attempt: kept.n + 1 }))
  }

  async done(name: string, eventIds: readonly string[]): Promise<void> {
    const queue = this.#queues.get(name)
    const [here, elsewhere] = [eventIds.filter(id => this.#handover.has(id)), eventIds.filter(id => !this.#handover.has(id))]
    await Promise.all([this.#handover.settle(name, here), this.#deliveries.settle(name, elsewhere)])
    for (const id of eventIds) queue?.drop(id)
  }

  async failed(
    name: string,
    eventId: string,
    outcome: { readonly error: string } & ({ readonly retryInMs: number } | { readonly park: true }),
  ): Promise<void> {
    const queue = this.#queues.get(name)
    const tries = queue?.attemptOf(eventId) ?? 1
    await this.#handover.moveOn([eventId])
    const now = this.#wiring.clock.now()
    if ('park' in outcome) await this.#deliveries.park(name, eventId, tries, outcome.error, now.toISOString())
    else {
      const due = now.getTime() + outcome.retryInMs
      await this.#deliveries.fail(name, eventId, tries, outcome.error, due)
      queue?.retryAt(due)
    }
    queue?.drop(eventId)
  }

  parked({ limit }: { readonly limit: number }): Promise<readonly Parked[]> {
    return this.#deliveries.parked(limit)
  }

  async settleParked(name: string, eventId: string, how: 'retry' | 'drop'): Promise<void> {
    if (how === 'drop') return this.#deliveries.dropParked(name, eventId)
    if (!(await this.#deliveries.retryParked(name, eventId))) return
    this.#queues.get(name)?.leave()
    this.#news()
  }

  async waiting(): Promise<Readonly<Record<string, number>>> {
    const names = [...this.#queues.keys()]
    const counts = await this.#handover.standingStill(() =>
      Promise.all(
        names.map(async name => {
          const moved = await this.#deliveries.waiting(name)
          return Math.min(100_000, moved + this.#handover.idsFor(name).length)
        }),
      ),
    )
    return Object.fromEntries(names.map((name, at) => [name, counts[at] ?? 0]))
  }

  onCommitted(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** After a long silence of the server others may have what is held here, so it is given up. */
  #fence(): void {
    if (performance.now() - this.#renewedAt < fenceMs) return
    this.#wiring.log.warn('Leases of events could not be renewed in time; the events are claimed anew')
    this.#me = randomUUID()
    this.#renewedAt = performance.now()
    this.#handover.clear()
    for (const queue of this.#queues.values()) queue.clear()
  }

  #schedule(): void {
    this.#upkeep = setTimeout(() => {
      this.#upkeepRuns = this.#keepUp()
        .catch(error => this.#wiring.log.warn('The outbox could not be kept up', { error }))
        .then(() => {
          if (this.#upkeep) this.#schedule()
        })
    }, upkeepMs).unref()
  }

  /** Renews leases, takes note of other kernels' consumers and looks for events that were left behind. */
  async #keepUp(): Promise<void> {
    const { server, catalog } = this.#wiring
    const begun = performance.now()
    const me = this.#me
    await this.#deliveries.renew(me, this.#now() + holdMs)
    if (me === this.#me) this.#renewedAt = begun
    await this.#consumers.refresh(this.#now())
    const tools = { server, catalog, deliveries: this.#deliveries, isHeld: (id: string) => this.#handover.has(id) }
    const found = await sweep(tools, this.#now())
    if (found === 0) return
    this.#wiring.log.info('Events that were left behind are handed on', { events: found })
    for (const queue of this.#queues.values()) queue.leave()
    this.#news()
  }
}

/** An event that waits elsewhere. */
interface Candidate {
  readonly id: string
  readonly subject: string
  readonly kept: Kept
}
