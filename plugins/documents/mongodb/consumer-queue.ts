import type { AnyEvent } from 'pounce/sdk'
import type { Delivery } from 'pounce/sdk/store-kit'
import { subjectOf } from './pending-deliveries.ts'

/** An event in memory that this kernel holds for a consumer. */
export interface Held {
  readonly id: string
  readonly subject: string
  readonly event: AnyEvent
  /** Which try comes next, or continues. */
  readonly attempt: number
}

interface Leased extends Held {
  readonly until: number
}

/** How many events a kernel holds for a consumer before it leaves them where any kernel can take them. */
const most = 10_000

const byId = (a: { readonly id: string }, b: { readonly id: string }): number => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)

/** What this kernel holds for one consumer: events that only it may deliver, and those it has delivered. */
export class ConsumerQueue {
  readonly name: string
  /** All pending events of this consumer are held here, as far as this kernel has seen: new events need not queue behind others. */
  isLive = false
  /** When to look at what waits elsewhere, of the monotonic clock. */
  lookAt = 0
  /** When someone last claimed here, of the monotonic clock. */
  claimedAt = Number.NEGATIVE_INFINITY
  /** Raised when events were left elsewhere, so that a look that began before proves nothing. */
  leftElsewhere = 0
  #pending: Held[] = []
  readonly #pendingIds = new Set<string>()
  /** When events that failed here are due again. */
  #retries: number[] = []
  readonly #leases = new Map<string, Leased>()

  constructor(name: string) {
    this.name = name
  }

  get pendingCount(): number {
    return this.#pending.length
  }

  get leasedCount(): number {
    return this.#leases.size
  }

  holds(id: string): boolean {
    return this.#leases.has(id) || this.#pendingIds.has(id)
  }

  /** Holds a new event, unless no consumer here handles it or older ones wait elsewhere. */
  offer(event: AnyEvent): boolean {
    if (!this.isLive || this.#pending.length >= most) {
      this.leave()
      return false
    }
    this.#pending.push({ id: event.id, subject: subjectOf(event), event, attempt: 1 })
    this.#pendingIds.add(event.id)
    const before = this.#pending.at(-2)
    if (before && before.id > event.id) this.#pending.sort(byId)
    return true
  }

  /** Takes note that events for this consumer wait elsewhere. */
  leave(): void {
    this.isLive = false
    this.leftElsewhere++
    this.lookAt = 0
  }

  /** A failed event is due again then, elsewhere. */
  retryAt(due: number): void {
    this.#retries.push(due)
  }

  isRetryDue(now: number): boolean {
    return this.#retries.some(due => due <= now)
  }

  /** Everything that was due has been looked at. */
  retried(now: number): void {
    this.#retries = this.#retries.filter(due => due > now)
  }

  /** Leases that ended: their events wait again. */
  expire(now: number): void {
    const ended = [...this.#leases.values()].filter(({ until }) => until <= now)
    if (ended.length === 0) return
    for (const { id, subject, event, attempt } of ended) {
      this.#leases.delete(id)
      this.#pending.push({ id, subject, event, attempt: attempt + 1 })
      this.#pendingIds.add(id)
    }
    this.#pending.sort(byId)
  }

  get busySubjects(): ReadonlySet<string> {
    return new Set([...this.#leases.values()].map(({ subject }) => subject))
  }

  /** The oldest events whose subjects no one deals with, of what is held and of these others. */
  choose<T extends { readonly id: string; readonly subject: string }>(others: readonly T[], limit: number): readonly (Held | T)[] {
    const busy = this.busySubjects
    const all = others.length > 0 ? [...this.#pending, ...others].sort(byId) : this.#pending
    const chosen: (Held | T)[] = []
    for (const one of all) {
      if (chosen.length === limit) break
      if (!busy.has(one.subject)) chosen.push(one)
    }
    return chosen
  }

  /** Hands events out until then. */
  lease(chosen: readonly Held[], until: number): readonly Delivery[] {
    const ids = new Set(chosen.map(({ id }) => id))
    for (const held of chosen) {
      this.#leases.set(held.id, { ...held, until })
      this.#pendingIds.delete(held.id)
    }
    this.#pending = this.#pending.filter(({ id }) => !ids.has(id))
    return chosen.map(({ event, attempt }) => ({ event, attempt }))
  }

  /** Which try of an event continues; 1 for one that is not held. */
  attemptOf(id: string): number {
    return (this.#leases.get(id) ?? this.#pending.find(held => held.id === id))?.attempt ?? 1
  }

  /** True when it was delivered and its lease is valid. */
  isLeased(id: string): boolean {
    return this.#leases.has(id)
  }

  /** No longer holds an event. */
  drop(id: string): void {
    if (!this.#leases.delete(id) && this.#pendingIds.delete(id)) this.#pending = this.#pending.filter(held => held.id !== id)
  }

  /** Holds nothing any more: others may have taken it. */
  clear(): void {
    this.#pending = []
    this.#pendingIds.clear()
    this.#leases.clear()
    this.leave()
  }
}
