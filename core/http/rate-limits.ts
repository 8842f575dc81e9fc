import type { IncomingMessage } from 'node:http'
import { type Caller, TooMany } from 'pounce/sdk'
import { type CostClass, networkOf } from 'pounce/sdk/kit'
import type { BudgetConfig } from './config.ts'
import type { Middleware, RequestContext } from './request-context.ts'
import type { RegisteredRoute } from './router.ts'

/** Classes budgeted in requests: most of their time is spent by the client or another server. */
const counted: ReadonlySet<CostClass> = new Set(['import', 'fetch'])

/** Names of the classes in messages. */
const nouns: Readonly<Record<CostClass, string>> = {
  search: 'searches',
  archive: 'downloads of archives',
  import: 'imports',
  export: 'exports',
  fetch: 'requests to other servers',
  expand: 'requests to SensorThings',
  metadata: 'large metadata',
}

/** An admitted request. */
export interface Admission {
  /** The request has been received: starts charging its time. */
  begin(): void
  /** The response begins: stops charging. */
  worked(): void
  /** The response has been sent or abandoned: releases the concurrency slot. */
  release(): void
}

/** The properties of a request that budgets use. */
export interface BudgetedRequest {
  readonly cost: CostClass
  readonly caller: Caller
  readonly address: string
  /** Aborted when the client disconnects. */
  readonly signal: () => AbortSignal
}

/**
 * The time that a class of work keeps the server busy, divided among its concurrent requests: a request is charged by how far this clock advanced
 * while it ran. So no request is charged for waiting behind others, and the total never exceeds the elapsed time.
 */
class SharedClock {
  #running = 0
  #sharedMs = 0
  #atMs = 0

  enter(nowMs: number): number {
    this.#advance(nowMs)
    this.#running += 1
    return this.#sharedMs
  }

  leave(nowMs: number): number {
    this.#advance(nowMs)
    this.#running -= 1
    return this.#sharedMs
  }

  #advance(nowMs: number): void {
    if (this.#running > 0) this.#sharedMs += (nowMs - this.#atMs) / this.#running
    this.#atMs = nowMs
  }
}

/** A token bucket that may be overdrawn, with concurrency slots and a queue, for one caller and class of work. */
class TokenBucket {
  running = 0
  readonly waiting: (() => void)[] = []
  readonly #capacity: number
  readonly #perMs: number
  #balance: number
  #atMs: number

  /** `capacity` is refilled within a minute. */
  constructor(capacity: number, nowMs: number) {
    this.#capacity = capacity
    this.#perMs = capacity / 60_000
    this.#balance = capacity
    this.#atMs = nowMs
  }

  get isIdle(): boolean {
    return this.running === 0 && this.waiting.length === 0
  }

  /** Time until this amount is available; 0 if it already is. */
  waitMs(amount: number, nowMs: number): number {
    this.#refill(nowMs)
    return Math.max(0, (amount - this.#balance) / this.#perMs)
  }

  /** Limits the debt to what is refilled within a minute. */
  spend(amount: number, nowMs: number): void {
    this.#refill(nowMs)
    this.#balance = Math.max(-this.#capacity, this.#balance - amount)
  }

  #refill(nowMs: number): void {
    this.#balance = Math.min(this.#capacity, this.#balance + (nowMs - this.#atMs) * this.#perMs)
    this.#atMs = nowMs
  }

  release(): void {
    const next = this.waiting.shift()
    if (next) next()
    else this.running -= 1
  }
}

/**
 * Limits each class of expensive work per caller: the number of concurrent requests, with a queue, and a budget per minute, which is charged
 * afterwards by the time that the work took. Callers are accounts, or addresses of anonymous callers. Each kernel counts separately.
 */
export class CostLimiter {
  readonly #config: BudgetConfig
  readonly #nowMs: () => number
  /** Least recently used first. */
  readonly #buckets = new Map<string, TokenBucket>()
  readonly #clocks = new Map<CostClass, SharedClock>()

  constructor(config: BudgetConfig, nowMs: () => number = () => performance.now()) {
    this.#config = config
    this.#nowMs = nowMs
  }

  /** True if a body is too small to be limited. */
  isSmall(cost: CostClass, bodyBytes: number | undefined): boolean {
    return cost === 'metadata' && bodyBytes !== undefined && bodyBytes <= this.#config.smallMetadataBytes
  }

  /** Resolves when the caller has a slot. `TooMany` if its budget is exhausted, or too many of its requests are waiting, or one waits too long. */
  async admit(work: BudgetedRequest): Promise<Admission> {
    const { cost } = work
    const who = accountOf(work.caller)
    const { maxConcurrent, maxPerMinute } = this.#config[cost][who === undefined ? 'anonymous' : 'account']
    const bucket = this.#bucket(`${cost} ${who ?? networkOf(work.address)}`, counted.has(cost) ? maxPerMinute : maxPerMinute * 1000)
    this.#requireBudget(bucket, cost)
    if (bucket.running < maxConcurrent) bucket.running += 1
    else await this.#wait(bucket, work, maxConcurrent)
    try {
      this.#requireBudget(bucket, cost)
    } catch (error) {
      bucket.release()
      throw error
    }
    if (counted.has(cost)) bucket.spend(1, this.#nowMs())
    return this.#admission(bucket, cost)
  }

  #requireBudget(bucket: TokenBucket, cost: CostClass): void {
    const waitMs = bucket.waitMs(1, this.#nowMs())
    if (waitMs === 0) return
    const seconds = Math.ceil(waitMs / 1000)
    throw new TooMany(`Rate limit exceeded for ${nouns[cost]}; retry in ${seconds} s`, seconds)
  }

  async #wait(bucket: TokenBucket, { cost, signal: signalOf }: BudgetedRequest, maxConcurrent: number): Promise<void> {
    const refusal = () => new TooMany(`Too many concurrent ${nouns[cost]} (maximum ${maxConcurrent}); wait until some of them finish`, 1)
    if (bucket.waiting.length >= this.#config.maxWaiting) throw refusal()
    const turn = Promise.withResolvers<void>()
    const signal = signalOf()
    const giveUp = (): void => {
      const at = bucket.waiting.indexOf(turn.resolve)
      if (at < 0) return
      bucket.waiting.splice(at, 1)
      turn.reject(refusal())
    }
    bucket.waiting.push(turn.resolve)
    const timer = setTimeout(giveUp, this.#config.maxWaitMs)
    signal.addEventListener('abort', giveUp)
    try {
      await turn.promise
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', giveUp)
    }
  }

  #admission(bucket: TokenBucket, cost: CostClass): Admission {
    const clock = this.#clocks.get(cost) ?? new SharedClock()
    this.#clocks.set(cost, clock)
    let beganMs: number | undefined
    let [isWorking, isOut] = [true, false]
    return {
      begin: () => {
        beganMs ??= clock.enter(this.#nowMs())
      },
      worked: () => {
        if (!isWorking) return
        isWorking = false
        if (beganMs !== undefined) {
          const nowMs = this.#nowMs()
          const tookMs = clock.leave(nowMs) - beganMs
          if (!counted.has(cost)) bucket.spend(Math.max(0, tookMs - this.#config.freeMs), nowMs)
        }
        if (isOut) bucket.release()
      },
      release: () => {
        if (isOut) return
        isOut = true
        if (!isWorking) bucket.release()
      },
    }
  }

  #bucket(key: string, capacity: number): TokenBucket {
    const bucket = this.#buckets.get(key) ?? new TokenBucket(capacity, this.#nowMs())
    this.#buckets.delete(key)
    this.#buckets.set(key, bucket)
    if (this.#buckets.size > this.#config.maxCallers) this.#forget()
    return bucket
  }

  /** Callers with running requests are not evicted. */
  #forget(): void {
    for (const [key, bucket] of this.#buckets) {
      if (this.#buckets.size <= this.#config.maxCallers) return
      if (bucket.isIdle) this.#buckets.delete(key)
    }
  }
}

/** Undefined for callers that are counted by address. */
const accountOf = ({ user, via }: Caller): string | undefined => (user ? `user ${user.id}` : via === 'service' ? 'service' : undefined)

/** Enforces budgets. Runs after authorization, so that a refusal reveals nothing, and before the body, which is not read while the request waits. */
export const limitCost =
  (limiter: CostLimiter): Middleware =>
  (context, next) => {
    const { request } = context.state
    const { cost } = (request.route as RegisteredRoute).declaration
    return cost === undefined || limiter.isSmall(cost, lengthOf(request.req)) ? next() : limited(limiter, cost, request, next)
  }

const limited = async (limiter: CostLimiter, cost: CostClass, request: RequestContext, next: () => Promise<unknown>): Promise<void> => {
  const { caller, address, res } = request
  const admission = await limiter.admit({ cost, caller, address, signal: () => request.signal })
  let isHandled = false
  const end = (): void => {
    if (isHandled) admission.worked()
    admission.release()
  }
  if (res.closed) admission.release()
  else res.once('close', end)
  request.admission = admission
  try {
    await next()
  } finally {
    isHandled = true
    // Otherwise the response is still being produced or sent: see `ResponseWriter.head`.
    if (res.closed) admission.worked()
  }
}

/** Undefined for a body of unknown length. */
const lengthOf = ({ headers }: IncomingMessage): number | undefined =>
  headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : undefined

/** Number of requests that begin in one turn of the event loop. */
const perTurn = 16

/**
 * Begins a limited number of requests per turn of the event loop, in order, and defers the others to the next turns. Otherwise a burst of requests would
 * block the event loop for half a second.
 */
export class RequestPacer {
  #begun = 0
  #isTurnDue = false
  #waiting: (() => void)[] = []

  /** Undefined if the request may begin immediately; otherwise resolves when it may. */
  enter(): Promise<void> | undefined {
    this.#awaitTurn()
    if (this.#begun < perTurn && this.#waiting.length === 0) {
      this.#begun += 1
      return undefined
    }
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#waiting.push(resolve)
    return promise
  }

  #awaitTurn(): void {
    if (this.#isTurnDue) return
    this.#isTurnDue = true
    setImmediate(() => this.#turn())
  }

  #turn(): void {
    this.#isTurnDue = false
    const next = this.#waiting.splice(0, perTurn)
    this.#begun = next.length
    if (next.length > 0) this.#awaitTurn()
    for (const begin of next) begin()
  }
}

/** Requests for this path are not deferred. */
export const pace =
  (pacer: RequestPacer, exempt: string): Middleware =>
  (context, next) => {
    const turn = context.state.request.target.path === exempt ? undefined : pacer.enter()
    return turn ? turn.then(next) : next()
  }
