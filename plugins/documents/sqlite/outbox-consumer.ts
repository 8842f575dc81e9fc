import type { AnyEvent } from 'pounce/sdk'

/** An event that waits in memory for a consumer. */
export interface Entry {
  readonly id: string
  readonly event: AnyEvent
  readonly attempt: number
  /** Two events of one subject are never leased at the same time. */
  readonly subject: string
}

/** A new, waiting event: one object shared by all its consumers. */
export const entryOf = (event: AnyEvent, attempt = 1): Entry => ({
  ...{ id: event.id, event, attempt },
  subject: `${event.subject.kind}/${event.subject.id}`,
})

interface Lease extends Entry {
  readonly until: number
  /** True for an event that failed before: the low mark has passed it. */
  readonly isRetry: boolean
}

/** A failed event that is due again at `due`, in milliseconds. */
export interface Retry {
  readonly attempts: number
  readonly due: number
}

/** Maximum number of a consumer's events in memory; the rest are read from the file when their turn comes. */
export const inMemory = 2000

const none: ReadonlySet<string> = new Set()

const byId = (a: { readonly id: string }, b: { readonly id: string }): number => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)

/**
 * The position of one consumer, in memory: leases last as long as the process does. The file holds the low mark below which nothing waits,
 * the IDs passed beyond it, and the failed events.
 */
export class OutboxConsumer {
  readonly id: number
  readonly name: string
  readonly types: ReadonlySet<string> | '*'
  /** Every event of this consumer below it has been passed: settled, or moved to the failed ones. */
  low: string
  /** Ids at or beyond `low` that have been passed. */
  readonly passed = new Set<string>()
  readonly retries = new Map<string, Retry>()
  readonly leases = new Map<string, Lease>()
  /** Events up to this ID have been read into memory; when `isLive`, all have. */
  loadedTo = ''
  isLive = false
  waiting = 0
  #pending: Entry[] = []

  constructor(id: number, name: string, types: readonly string[] | '*', low: string) {
    this.id = id
    this.name = name
    this.types = types === '*' ? '*' : new Set(types)
    this.low = low
  }

  handles(type: string): boolean {
    return this.types === '*' || this.types.has(type)
  }

  get pendingCount(): number {
    return this.#pending.length
  }

  isPending(id: string): boolean {
    return this.#pending.some(entry => entry.id === id)
  }

  /** No event can be leased. */
  get isIdle(): boolean {
    return this.isLive && this.#pending.length === 0 && this.retries.size === 0
  }

  /** Adds a new event, in the order of IDs, unless it was passed already. */
  push(entry: Entry): void {
    if (!this.passed.has(entry.id)) this.#pending.push(entry)
    this.loadedTo = entry.id
  }

  /** Adds a committed event: kept in memory while there is room, otherwise read later. */
  committed(entry: Entry): void {
    this.waiting++
    if (this.isLive && this.#pending.length < inMemory) this.push(entry)
    else this.isLive = false
  }

  /** Requeues events whose leases have expired. */
  expire(now: number): void {
    let isUnsorted = false
    for (const { id, event, attempt, isRetry, until } of this.leases.values()) {
      if (until > now) continue
      this.leases.delete(id)
      if (isRetry) this.retries.set(id, { attempts: attempt, due: now })
      else {
        this.#pending.push(entryOf(event, attempt + 1))
        isUnsorted = true
      }
    }
    if (isUnsorted) this.#pending.sort(byId)
  }

  /** Ids of failed events that are due, oldest first. */
  dueRetries(now: number): readonly string[] {
    const due: string[] = []
    for (const [id, retry] of this.retries) if (retry.due <= now && !this.leases.has(id)) due.push(id)
    return due.sort()
  }

  /**
   * Leases up to `limit` of the due events, oldest first. An event waits while another one of its subject is leased,
   * so that two workers never process events of one subject at the same time.
   */
  lease(retries: readonly AnyEvent[], limit: number, until: number): readonly Entry[] {
    const busy = new Set<string>()
    for (const { subject } of this.leases.values()) busy.add(subject)
    const retried = retries.map(event => entryOf(event, this.attemptOf(event.id)))
    const taken: Entry[] = []
    for (const entry of retried.length > 0 ? [...retried, ...this.#pending].sort(byId) : this.#pending) {
      if (taken.length === limit) break
      if (!busy.has(entry.subject)) taken.push(entry)
    }
    for (const entry of taken) this.leases.set(entry.id, { ...entry, until, isRetry: this.retries.has(entry.id) })
    if (taken.length > 0) this.#drop(entry => this.leases.has(entry.id))
    return taken
  }

  #drop(isGone: (entry: Entry) => boolean): void {
    this.#pending = this.#pending.filter(entry => !isGone(entry))
  }

  /**
   * The low mark once `settled` are passed; `last` is the newest durable event's ID. It never passes events that were not read yet: some
   * may be waiting between those that are leased.
   */
  lowAfter(last: string, settled: ReadonlySet<string> = none): string {
    let lowest = `${this.isLive && last > this.loadedTo ? last : this.loadedTo}+`
    for (const { id, isRetry } of this.leases.values()) if (!isRetry && !settled.has(id) && id < lowest) lowest = id
    const first = this.#pending.find(entry => !settled.has(entry.id))?.id
    if (first !== undefined && first < lowest) lowest = first
    return lowest > this.low ? lowest : this.low
  }

  /** The number of the current or last attempt at an event. */
  attemptOf(id: string): number {
    return this.leases.get(id)?.attempt ?? (this.retries.get(id)?.attempts ?? 0) + 1
  }

  /** Removes an event that was passed. */
  settle(id: string): void {
    if (!this.leases.delete(id)) this.#drop(entry => entry.id === id)
    this.retries.delete(id)
  }

  /** Moves the low mark; ids below it need not be stored. */
  raise(low: string): void {
    this.low = low
    for (const id of this.passed) if (id < low) this.passed.delete(id)
  }
}
