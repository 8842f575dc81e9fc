import type { AnyEvent, Clock, Consumer, Delivery, Outbox, Parked } from 'pounce/sdk'

interface Entry {
  readonly event: AnyEvent
  readonly consumer: string
  attempts: number
  dueAt: number
  isLeased: boolean
  parked?: { readonly error: string; readonly at: string }
}

/** An outbox in memory, for tests of the dispatch. It holds events back while another one of their subject is leased. Time is the given clock's. */
export class MemoryOutbox implements Outbox {
  readonly #clock: Clock
  readonly #listeners = new Set<() => void>()
  #consumers: readonly Consumer[] = []
  #entries: Entry[] = []
  /** Calls of `done`, for tests of how they are grouped. */
  readonly doneCalls: (readonly string[])[] = []
  /** Set to make every call fail with it. */
  fault: Error | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  add(events: readonly AnyEvent[]): void {
    for (const event of events)
      for (const { name, types } of this.#consumers)
        if (types === '*' || types.includes(event.type))
          this.#entries.push({ event, consumer: name, attempts: 0, dueAt: 0, isLeased: false })
    if (events.length > 0) for (const listener of this.#listeners) listener()
  }

  async declareConsumers(consumers: readonly Consumer[]): Promise<void> {
    this.#consumers = consumers
  }

  async claim(consumer: string, { limit, leaseMs }: { limit: number; leaseMs: number }): Promise<readonly Delivery[]> {
    this.#failIfTold()
    const now = this.#now()
    const own = this.#entries.filter(entry => entry.consumer === consumer && !entry.parked)
    const busy = new Set(own.filter(entry => entry.isLeased && entry.dueAt > now).map(({ event }) => event.subject.id))
    const due = own.filter(entry => entry.dueAt <= now && !busy.has(entry.event.subject.id)).slice(0, limit)
    return due.map(entry => {
      entry.attempts += 1
      entry.isLeased = true
      entry.dueAt = now + leaseMs
      return { event: entry.event, attempt: entry.attempts }
    })
  }

  async done(consumer: string, eventIds: readonly string[]): Promise<void> {
    this.#failIfTold()
    this.doneCalls.push(eventIds)
    this.#entries = this.#entries.filter(entry => entry.consumer !== consumer || !eventIds.includes(entry.event.id))
  }

  async failed(
    consumer: string,
    eventId: string,
    outcome: { readonly error: string } & ({ readonly retryInMs: number } | { readonly park: true }),
  ): Promise<void> {
    this.#failIfTold()
    const entry = this.#entries.find(one => one.consumer === consumer && one.event.id === eventId)
    if (!entry) return
    entry.isLeased = false
    if ('park' in outcome) entry.parked = { error: outcome.error, at: this.#clock.now().toISOString() }
    else entry.dueAt = this.#now() + outcome.retryInMs
  }

  async parked({ limit }: { readonly limit: number }): Promise<readonly Parked[]> {
    return this.#entries
      .flatMap(({ event, consumer, attempts, parked }) =>
        parked ? [{ event, consumer, attempts, error: parked.error, parkedAt: parked.at }] : [],
      )
      .reverse()
      .slice(0, limit)
  }

  async settleParked(consumer: string, eventId: string, how: 'retry' | 'drop'): Promise<void> {
    const entry = this.#entries.find(one => one.consumer === consumer && one.event.id === eventId && one.parked)
    if (!entry) return
    if (how === 'drop') this.#entries = this.#entries.filter(one => one !== entry)
    else {
      delete entry.parked
      entry.attempts = 0
      entry.dueAt = 0
    }
  }

  async waiting(): Promise<Readonly<Record<string, number>>> {
    const counts: Record<string, number> = {}
    for (const { consumer, parked } of this.#entries) if (!parked) counts[consumer] = (counts[consumer] ?? 0) + 1
    return counts
  }

  onCommitted(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  #now(): number {
    return this.#clock.now().getTime()
  }

  #failIfTold(): void {
    if (this.fault) throw this.fault
  }
}
