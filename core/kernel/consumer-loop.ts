import { type AnyEvent, type Log, type Metrics, Problem } from 'pounce/sdk'
import { pause, Semaphore, withTimeLimit } from 'pounce/sdk/kit'
import type { Delivery, Outbox } from 'pounce/sdk/store-kit'
import { messageOf } from './startup-error.ts'

/** How often and with which delays a failed operation is retried. */
export interface RetryRule {
  /** Number of failures after which an event is dead-lettered. */
  readonly tries: number
  readonly firstMs: number
  readonly maxMs: number
  readonly factor: number
  /** Maximum pause while a backend is unavailable: work must resume soon after it recovers (promises P4-P7). */
  readonly outageMs: number
}

export const usualRetry: RetryRule = { tries: 5, firstMs: 100, maxMs: 300_000, factor: 8, outageMs: 5_000 }

/** Delay before the next try after this number of failures, in milliseconds, with jitter to spread concurrent retries. */
const backOff = (rule: Pick<RetryRule, 'firstMs' | 'maxMs' | 'factor'>, failures: number): number => {
  const whole = Math.min(rule.maxMs, rule.firstMs * rule.factor ** Math.max(0, failures - 1))
  return Math.round(whole * (0.75 + Math.random() / 4))
}

/** True if the error means that a backend is unavailable or full: such failures are retried without limit. */
const isOutage = (error: unknown): boolean => error instanceof Error && 'status' in error && (error.status === 503 || error.status === 507)

/** An error may state when to retry, such as that of a mail server which defers a message. */
const statedRetry = (error: unknown): Partial<RetryRule> | false =>
  error instanceof Problem && error.retryAfterSeconds !== undefined && { firstMs: error.retryAfterSeconds * 1000, maxMs: 3_600_000 }

const minGatherMs = 4
const usualMaxDelayMs = 80

/**
 * How long the next batch collects events: the longer, the more events the last one had. This gives fewer, larger batches under load; the first event after
 * an idle period never waits.
 */
const gatherMsAfter = (events: number, maxDelayMs: number): number => Math.min(maxDelayMs, Math.max(minGatherMs, 2 * events))

/** A consumer's handler: for single events or for batches. */
export type ConsumerWork =
  | { readonly name: string; readonly handle: (event: AnyEvent) => Promise<void> }
  | { readonly name: string; readonly handleAll: (events: readonly AnyEvent[]) => Promise<void>; readonly maxDelayMs?: number | undefined }

/** Dependencies of a loop. */
export interface LoopTools {
  readonly outbox: Outbox
  /** Identifies this kernel in leases. */
  readonly owner: string
  readonly log: Log
  readonly metrics: Metrics
  readonly retry?: RetryRule
}

const handlerLimitMs = 300_000
const leaseMs = handlerLimitMs + 60_000
const pollMs = 1_000
const maxBatch = 200
const maxInFlight = 64
const maxSubjects = 8
const stopLimitMs = 10_000

const ackRetryMs = 500

/** Acknowledges events in the outbox, batching those of one event loop turn. */
class AckBatcher {
  readonly #tools: LoopTools
  readonly #consumer: string
  readonly #signal: AbortSignal
  #waiting: { readonly ids: readonly string[]; readonly settled: () => void }[] = []
  #running: Promise<void> | undefined

  /** `signal` ends the retries while the store is unavailable; the events are then redelivered. */
  constructor(tools: LoopTools, consumer: string, signal: AbortSignal) {
    this.#tools = tools
    this.#consumer = consumer
    this.#signal = signal
  }

  /** Resolves when the events are durably acknowledged, or abandoned at shutdown. */
  done(ids: readonly string[]): Promise<void> {
    const settled = new Promise<void>(resolve => this.#waiting.push({ ids, settled: resolve }))
    this.#running ??= this.#run()
    return settled
  }

  async #run(): Promise<void> {
    // Handlers that wait for the same group commit resolve in one turn: one call acknowledges all of them.
    await new Promise(resolve => setImmediate(resolve))
    while (this.#waiting.length > 0) {
      const batch = this.#waiting
      this.#waiting = []
      await this.#settle(batch.flatMap(({ ids }) => ids))
      for (const { settled } of batch) settled()
    }
    // Synchronous with the last check: an acknowledgement that arrives a microtask later must start another run.
    this.#running = undefined
  }

  async #settle(ids: readonly string[]): Promise<void> {
    for (;;) {
      try {
        return await this.#tools.outbox.done(this.#consumer, ids)
      } catch (error) {
        this.#tools.log.warn('Failed to acknowledge events', { consumer: this.#consumer, events: ids.length, error })
        if (this.#signal.aborted) return
        await pause(ackRetryMs, this.#signal)
      }
    }
  }
}

/**
 * Passes the events of one consumer to its handler. Events of one subject are handled sequentially, in commit order;
 * different subjects concurrently. Failures are retried later, and the event is dead-lettered after five of them.
 */
export class ConsumerLoop {
  readonly work: ConsumerWork
  readonly #tools: LoopTools
  readonly #rule: RetryRule
  readonly #acks: AckBatcher
  readonly #stopped = new AbortController()
  readonly #chains = new Map<string, Promise<() => void>>()
  /** Tries that failed because a backend was unavailable, by event: they do not count towards the five. */
  readonly #outageAttempts = new Map<string, number>()
  #inFlight = 0
  readonly #subjects = new Semaphore({ max: maxSubjects })
  /** The acknowledgement of the last batch, which overlaps with handling the next one. */
  #acknowledging: Promise<void> = Promise.resolve()
  #outages = 0
  #pausedUntil = 0
  #isWoken = false
  #wake: () => void = () => undefined
  #loop: Promise<void> = Promise.resolve()

  constructor(work: ConsumerWork, tools: LoopTools) {
    this.work = work
    this.#tools = tools
    this.#rule = tools.retry ?? usualRetry
    this.#acks = new AckBatcher(tools, work.name, this.#stopped.signal)
  }

  /** Number of events claimed by this loop that are neither acknowledged nor released. */
  get inFlight(): number {
    return this.#inFlight
  }

  start(): void {
    this.#loop = this.#run()
  }

  /** Signals that there may be new events. */
  wake(): void {
    this.#isWoken = true
    this.#wake()
  }

  /** Claims no more events and waits up to 10 s for running handlers; events whose handlers have not started are released. */
  async stop(): Promise<void> {
    this.#stopped.abort()
    this.#wake()
    try {
      await withTimeLimit(
        Promise.all([this.#loop.then(() => this.#acknowledging), ...this.#chains.values()]),
        stopLimitMs,
        'handlers did not end in time',
      )
    } catch (error) {
      this.#tools.log.warn('Events released; they will be redelivered', { consumer: this.work.name, error })
    }
  }

  async #run(): Promise<void> {
    while (!this.#stopped.signal.aborted) {
      const free = 'handleAll' in this.work ? maxBatch : maxInFlight - this.#inFlight
      const isPaused = this.#pausedUntil > performance.now()
      const claimed = free > 0 && !isPaused ? await this.#claim(free) : []
      if (claimed.length === 0) await this.#waitForWork()
      else if ('handleAll' in this.work) {
        this.#inFlight += claimed.length
        await this.#handleBatch(claimed, this.work.handleAll)
        const gatherMs = gatherMsAfter(claimed.length, this.work.maxDelayMs ?? usualMaxDelayMs)
        if (claimed.length < maxBatch) await pause(gatherMs, this.#stopped.signal)
      } else for (const delivery of claimed) this.#enqueue(delivery, this.work.handle)
    }
  }

  async #claim(limit: number): Promise<readonly Delivery[]> {
    this.#isWoken = false
    try {
      return await this.#tools.outbox.claim(this.work.name, { limit, leaseMs, owner: this.#tools.owner })
    } catch (error) {
      this.#pauseAll('Failed to claim events', error)
      return []
    }
  }

  /** Waits for a wake-up (a commit, a due retry, free capacity) or the next poll. */
  #waitForWork(): Promise<void> {
    const now = performance.now()
    const isPaused = this.#pausedUntil > now
    if ((this.#isWoken && !isPaused && this.#inFlight < maxInFlight) || this.#stopped.signal.aborted) return Promise.resolve()
    const until = isPaused ? this.#pausedUntil : now + pollMs
    return new Promise(resolve => {
      const timer = setTimeout(() => this.#wake(), Math.max(1, until - now)).unref()
      this.#wake = () => {
        if (this.#pausedUntil > performance.now() && !this.#stopped.signal.aborted) return
        clearTimeout(timer)
        this.#wake = () => undefined
        resolve()
      }
    })
  }

  #enqueue(delivery: Delivery, handle: (event: AnyEvent) => Promise<void>): void {
    const { kind, id } = delivery.event.subject
    const subject = `${kind}/${id}`
    const claimedAt = performance.now()
    this.#inFlight += 1
    const before = this.#chains.get(subject) ?? this.#subjects.acquire()
    const chain = before.then(async release => {
      await this.#handleOne(delivery, handle, claimedAt)
      return release
    })
    this.#chains.set(subject, chain)
    void chain.then(release => {
      if (this.#chains.get(subject) === chain) {
        this.#chains.delete(subject)
        release()
      }
    })
  }

  async #handleOne(delivery: Delivery, handle: (event: AnyEvent) => Promise<void>, claimedAt: number): Promise<void> {
    const isExpiring = performance.now() - claimedAt > leaseMs - handlerLimitMs
    if (this.#stopped.signal.aborted || isExpiring || this.#pausedUntil > performance.now()) await this.#release(delivery, 0)
    else {
      try {
        await withTimeLimit(handle(delivery.event), handlerLimitMs, 'the handler took longer than 5 minutes')
        await this.#succeeded([delivery])
      } catch (error) {
        await this.#failed(delivery, error)
      }
    }
    this.#inFlight -= 1
    // The outbox may have held back later events of this subject, and there is capacity for more.
    this.wake()
  }

  async #handleBatch(deliveries: readonly Delivery[], handleAll: (events: readonly AnyEvent[]) => Promise<void>): Promise<void> {
    if (this.#stopped.signal.aborted || this.#pausedUntil > performance.now()) {
      await Promise.all(deliveries.map(delivery => this.#release(delivery, 0)))
      this.#inFlight -= deliveries.length
      return
    }
    try {
      const events = deliveries.map(({ event }) => event)
      await withTimeLimit(handleAll(events), handlerLimitMs, 'the handler took longer than 5 minutes')
      await this.#acknowledging
      this.#acknowledging = this.#acknowledge(deliveries)
    } catch (error) {
      if (deliveries.length > 1 && !isOutage(error) && deliveries.some(({ attempt }) => attempt > 1)) {
        // One event may fail the whole batch: bisection isolates it, so that the others are not dead-lettered with it.
        const half = Math.ceil(deliveries.length / 2)
        await this.#handleBatch(deliveries.slice(0, half), handleAll)
        await this.#handleBatch(deliveries.slice(half), handleAll)
      } else {
        await Promise.all(deliveries.map(delivery => this.#failed(delivery, error)))
        this.#inFlight -= deliveries.length
      }
    }
  }

  async #acknowledge(deliveries: readonly Delivery[]): Promise<void> {
    await this.#succeeded(deliveries)
    this.#inFlight -= deliveries.length
    // The outbox may have held back later events of these subjects.
    this.wake()
  }

  async #succeeded(deliveries: readonly Delivery[]): Promise<void> {
    this.#outages = 0
    const ids = deliveries.map(({ event }) => event.id)
    for (const id of ids) this.#outageAttempts.delete(id)
    await this.#acks.done(ids)
    this.#tools.metrics.count('events_handled_total', { consumer: this.work.name }, deliveries.length)
  }

  async #failed(delivery: Delivery, error: unknown): Promise<void> {
    const { event, attempt } = delivery
    const { log, metrics } = this.#tools
    metrics.count('events_failed_total', { consumer: this.work.name })
    if (isOutage(error)) {
      this.#outageAttempts.set(event.id, (this.#outageAttempts.get(event.id) ?? 0) + 1)
      return this.#release(delivery, this.#pauseAll('Backend unavailable; events will be retried', messageOf(error)), error)
    }
    const failures = attempt - (this.#outageAttempts.get(event.id) ?? 0)
    const about = { consumer: this.work.name, event: event.type, eventId: event.id, subject: event.subject, failures, error }
    if (failures < this.#rule.tries) {
      log.warn('Handler failed; the event will be retried', about)
      return this.#release(delivery, backOff({ ...this.#rule, ...statedRetry(error) }, failures), error)
    }
    log.error('Handler failed too often; the event is a dead letter', about)
    this.#outageAttempts.delete(event.id)
    await this.#report(() => this.#tools.outbox.failed(this.work.name, event.id, { error: messageOf(error).slice(0, 2000), park: true }))
  }

  #release({ event }: Delivery, retryInMs: number, error: unknown = 'released'): Promise<void> {
    setTimeout(() => this.wake(), retryInMs + 1).unref()
    return this.#report(() => this.#tools.outbox.failed(this.work.name, event.id, { error: messageOf(error).slice(0, 2000), retryInMs }))
  }

  /** Retries while the store is unavailable or full: an event that is not released is redelivered only when its lease expires. */
  async #report(outcome: () => Promise<void>): Promise<void> {
    const { signal } = this.#stopped
    for (let tries = 1; ; tries += 1) {
      try {
        return await outcome()
      } catch (error) {
        if (tries === 1) this.#tools.log.warn('Failed to release an event', { consumer: this.work.name, error })
        if (!isOutage(error) || signal.aborted) return
        await pause(this.#outagePauseMs(tries), signal)
      }
    }
  }

  /** Logs the reason once per pause, regardless of the number of waiting events. */
  #pauseAll(why: string, error: unknown): number {
    if (this.#pausedUntil <= performance.now()) {
      this.#tools.log.warn(why, { consumer: this.work.name, error })
      this.#outages += 1
      this.#pausedUntil = performance.now() + this.#outagePauseMs(this.#outages)
    }
    return Math.ceil(this.#pausedUntil - performance.now())
  }

  #outagePauseMs(tries: number): number {
    return backOff({ firstMs: 100, maxMs: this.#rule.outageMs, factor: 2 }, tries)
  }
}
