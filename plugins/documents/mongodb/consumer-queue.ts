import type { AnyEvent } from 'pounce/sdk'
import type { Delivery } from 'pounce/sdk/store-kit'
import { subjectOf } from './pending-deliveries.ts'

/** An event in memory that this kernel holds for a consumer. */
export interface ClaimedEvent {
  readonly id: string
  readonly subject: string
  readonly event: AnyEvent
  /** The number of the next or current attempt. */
  readonly attempt: number
}

interface Leased extends ClaimedEvent {
  readonly until: number
}

/** Maximum number of events that a kernel holds for a consumer; the rest stay where any kernel can claim them. */
const maxPending = 10_000

const byId = (a: { readonly id: string }, b: { readonly id: string }): number => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)

/** What this kernel holds for one consumer: events that only this kernel may deliver, and those it has delivered. */
export class ConsumerQueue {
  readonly name: string
  /** As far as this kernel can tell, it holds all pending events of this consumer: new events need not queue behind others. */
  isLive = false
  /** When to check for events stored elsewhere, by the monotonic clock. */
  lookAt = 0
  /** Time of the last claim by this kernel, by the monotonic clock. */
  claimedAt = Number.NEGATIVE_INFINITY
  /** Incremented when events are left elsewhere, which invalidates any check that began before. */
  leftElsewhere = 0
  #pending: ClaimedEvent[] = []
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

  /** Holds a new event, unless this kernel does not run the consumer or older events wait elsewhere. */
  offer(event: AnyEvent): boolean {
    if (!this.isLive || this.#pending.length >= maxPending) {
      this.leave()
      return false
    }
    this.#pending.push({ id: event.id, subject: subjectOf(event), event, attempt: 1 })
    this.#pendingIds.add(event.id)
    const before = this.#pending.at(-2)
    if (before && before.id > event.id) this.#pending.sort(byId)
    return true
  }

  /** Records that events for this consumer wait elsewhere. */
  leave(): void {
    this.isLive = false
    this.leftElsewhere++
    this.lookAt = 0
  }

  /** Records that a failed event, stored elsewhere, is due again at that time. */
  retryAt(due: number): void {
    this.#retries.push(due)
  }

  isRetryDue(now: number): boolean {
    return this.#retries.some(due => due <= now)
  }

  /** Marks everything that was due as checked. */
  retried(now: number): void {
    this.#retries = this.#retries.filter(due => due > now)
  }

  /** Requeues events whose leases have expired. */
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

  /** The oldest events, held here or given, whose subjects are not being processed. */
  choose<T extends { readonly id: string; readonly subject: string }>(others: readonly T[], limit: number): readonly (ClaimedEvent | T)[] {
    const busy = this.busySubjects
    const all = others.length > 0 ? [...this.#pending, ...others].sort(byId) : this.#pending
    const chosen: (ClaimedEvent | T)[] = []
    for (const one of all) {
      if (chosen.length === limit) break
      if (!busy.has(one.subject)) chosen.push(one)
    }
    return chosen
  }

  /** Leases events until that time. */
  lease(chosen: readonly ClaimedEvent[], until: number): readonly Delivery[] {
    const ids = new Set(chosen.map(({ id }) => id))
    for (const claimed of chosen) {
      this.#leases.set(claimed.id, { ...claimed, until })
      this.#pendingIds.delete(claimed.id)
    }
    this.#pending = this.#pending.filter(({ id }) => !ids.has(id))
    return chosen.map(({ event, attempt }) => ({ event, attempt }))
  }

  /** The number of the current attempt at an event; 1 for one that is not held. */
  attemptOf(id: string): number {
    return (this.#leases.get(id) ?? this.#pending.find(held => held.id === id))?.attempt ?? 1
  }

  /** True when the event was delivered and its lease is valid. */
  isLeased(id: string): boolean {
    return this.#leases.has(id)
  }

  /** Stops holding an event. */
  drop(id: string): void {
    if (!this.#leases.delete(id) && this.#pendingIds.delete(id)) this.#pending = this.#pending.filter(held => held.id !== id)
  }

  /** Drops everything: other kernels may have claimed it. */
  clear(): void {
    this.#pending = []
    this.#pendingIds.clear()
    this.#leases.clear()
    this.leave()
  }
}
