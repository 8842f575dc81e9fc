import { randomUUID } from 'node:crypto'
import type { AnyEvent } from 'pounce/sdk'
import { type Delivery, deepFreeze } from 'pounce/sdk/store-kit'
import type { ClaimedEvent, ConsumerQueue } from './consumer-queue.ts'
import type { EventRelay } from './event-relay.ts'
import type { PendingDeliveries, PendingRecord } from './pending-deliveries.ts'

/** How long a lease on the server is valid without renewal; events of a dead kernel wait this long. */
export const holdMs = 20_000
/** How often `_deliveries` is polled when nothing is known to wait there. */
const lookMs = 1000

/** Parses an event's stored text; frozen, since several consumers share it. */
export const eventOf = (text: string): AnyEvent => deepFreeze(JSON.parse(text) as AnyEvent)

/** An event in `_deliveries`. */
interface Candidate {
  readonly id: string
  readonly subject: string
  readonly record: PendingRecord
}

/** Claims events for consumers: those that this kernel holds in memory, and those in `_deliveries`. */
export class EventClaims {
  readonly #deliveries: PendingDeliveries
  readonly #relay: EventRelay
  readonly #turns = new Map<string, Promise<unknown>>()

  constructor(deliveries: PendingDeliveries, relay: EventRelay) {
    this.#deliveries = deliveries
    this.#relay = relay
  }

  /** Claims of one consumer run one at a time, so that two workers never get events of the same subject at once. */
  claim(
    queue: ConsumerQueue,
    how: { readonly limit: number; readonly leaseMs: number; readonly now: number; readonly me: string },
  ): Promise<readonly Delivery[]> {
    const turn = (this.#turns.get(queue.name) ?? Promise.resolve()).then(() => this.#claim(queue, how))
    this.#turns.set(
      queue.name,
      turn.catch(() => undefined),
    )
    return turn
  }

  async #claim(
    queue: ConsumerQueue,
    { limit, leaseMs, now, me }: { readonly limit: number; readonly leaseMs: number; readonly now: number; readonly me: string },
  ): Promise<readonly Delivery[]> {
    queue.claimedAt = performance.now()
    queue.expire(now)
    // Before later events of their subjects are claimed.
    if (!this.#deliveries.areReleased) await this.#deliveries.releaseDoubtful(me)
    const isTime = !queue.isLive || queue.isRetryDue(now) || queue.lookAt <= performance.now()
    const others = isTime ? await this.#look(queue, now, limit, me) : []
    const chosen = queue.choose(others, limit)
    const complete = chosen.filter((one): one is ClaimedEvent => 'event' in one)
    const wanted = chosen.filter((one): one is Candidate => 'record' in one)
    const taken = wanted.length > 0 ? await this.#take(wanted, now, me).catch(leftBy(queue)) : []
    const all = taken.length > 0 ? [...complete, ...taken].sort((a, b) => (a.id < b.id ? -1 : 1)) : complete
    return queue.lease(all, now + leaseMs)
  }

  /** Events in `_deliveries` that can be claimed. */
  async #look(queue: ConsumerQueue, now: number, limit: number, me: string): Promise<readonly Candidate[]> {
    const { leftElsewhere } = queue
    await this.#relay.moveToDeliveries(this.#relay.idsFor(queue.name).filter(id => !queue.holds(id)))
    const wantedCount = limit + queue.leasedCount
    const { fresh, due } = await this.#deliveries.available(queue.name, now, wantedCount, me)
    queue.lookAt = performance.now() + lookMs
    if (due.length < wantedCount) queue.retried(now)
    if (fresh.length < wantedCount && leftElsewhere === queue.leftElsewhere) queue.isLive = true
    const found = [...fresh, ...due].map(record => ({ id: record.o, subject: record.s, record }))
    if (found.length === 0) return found
    const subjects = [...new Set(found.map(({ subject }) => subject))]
    const busy = await this.#deliveries.busySubjects(queue.name, subjects, now, me)
    const free = found.filter(({ id, subject }) => !busy.has(subject) && !queue.holds(id))
    if (free.length > limit || free.length < found.length) queue.leave()
    return free
  }

  /**
   * Leases candidates to this kernel; returns those it got. The first of each subject is taken before the others, so that of two kernels that
   * found the same events, one gets all of a subject: otherwise both would handle some at the same time.
   */
  async #take(wanted: readonly Candidate[], now: number, me: string): Promise<readonly ClaimedEvent[]> {
    const seen = new Set<string>()
    const first = wanted.filter(({ subject }) => !seen.has(subject) && seen.add(subject))
    // One for both calls: if the second fails, the first is void too.
    const lease = { by: me, until: now + holdMs, take: randomUUID() }
    const taken = await this.#takeAll(first, now, lease)
    const subjects = new Set(taken.map(({ subject }) => subject))
    const later = wanted.filter(one => subjects.has(one.subject) && !first.includes(one))
    return later.length > 0 ? [...taken, ...(await this.#takeAll(later, now, lease))] : taken
  }

  async #takeAll(
    wanted: readonly Candidate[],
    now: number,
    lease: Parameters<PendingDeliveries['take']>[2],
  ): Promise<readonly ClaimedEvent[]> {
    const got = await this.#deliveries.take(
      wanted.map(({ record }) => record._id),
      now,
      lease,
    )
    return wanted
      .filter(({ record }) => got.has(record._id))
      .map(({ id, subject, record }) => ({ id, subject, event: eventOf(record.e), attempt: record.n + 1 }))
  }
}

/** Events that could not be claimed are left in `_deliveries`: later ones must queue behind them. */
const leftBy =
  (queue: ConsumerQueue) =>
  (error: unknown): never => {
    queue.leave()
    throw error
  }
