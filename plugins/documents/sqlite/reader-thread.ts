import { Worker } from 'node:worker_threads'
import { Unavailable } from 'pounce/sdk'
import type { Opening } from './connection.ts'
import type { Query, Results } from './queries.ts'

/** What the thread posts back for each query. */
export type Reply = { readonly ok: true; readonly result: unknown } | { readonly ok: false; readonly error: Error }

interface Waiting {
  readonly query: Query
  readonly timer: NodeJS.Timeout
  resolve(result: unknown): void
  reject(error: Error): void
}

/** A thread with nothing to do is ended, for it holds some megabytes. */
const idleMs = 60_000

/** What it reads it reads once, and most of it is garbage at once: neither a large cache nor a large nursery makes it faster. */
const cacheMiB = 8
const maxYoungGenerationSizeMb = 6

/**
 * One thread with a read-only connection of its own, for reads that would hold up the main thread. It takes one query at a time and is
 * made at the first one. A query that takes too long ends the thread; so does a crash; the next query gets a new one.
 */
export class ReaderThread {
  #opening: Opening
  #timeoutMs: number
  #worker: Worker | undefined
  #idle: NodeJS.Timeout | undefined
  #running: Waiting | undefined
  #queue: Waiting[] = []
  #isClosed = false

  constructor(opening: Opening, timeoutMs: number) {
    this.#opening = opening
    this.#timeoutMs = timeoutMs
  }

  /** Rejects with `Unavailable` after the time-out, waiting included, or when the thread dies. */
  run<K extends Query['kind']>(query: Extract<Query, { kind: K }>): Promise<Results[K]> {
    if (this.#isClosed) return Promise.reject(new Unavailable('The document store is closed'))
    return new Promise<unknown>((resolve, reject) => {
      const waiting: Waiting = { query, resolve, reject, timer: setTimeout(() => this.#timedOut(waiting), this.#timeoutMs) }
      this.#queue.push(waiting)
      this.#next()
    }) as Promise<Results[K]>
  }

  #next(): void {
    if (this.#running !== undefined) return
    this.#running = this.#queue.shift()
    if (this.#running === undefined) {
      this.#rest()
      return
    }
    clearTimeout(this.#idle)
    this.#worker ??= this.#start()
    this.#worker.ref()
    this.#worker.postMessage(this.#running.query)
  }

  #rest(): void {
    this.#worker?.unref()
    this.#idle = setTimeout(() => this.#end(), idleMs).unref()
  }

  #start(): Worker {
    const workerData = { ...this.#opening, readOnly: true, cacheMiB: Math.min(this.#opening.cacheMiB, cacheMiB) }
    const worker = new Worker(new URL('./reader-worker.ts', import.meta.url), { workerData, resourceLimits: { maxYoungGenerationSizeMb } })
    worker.on('message', (reply: Reply) => this.#settle(reply))
    worker.on('error', error => this.#died(worker, error))
    worker.on('exit', () => this.#died(worker, undefined))
    return worker
  }

  #settle(reply: Reply): void {
    const running = this.#running
    this.#running = undefined
    clearTimeout(running?.timer)
    if (reply.ok) running?.resolve(reply.result)
    else running?.reject(reply.error)
    this.#next()
  }

  #died(worker: Worker, cause: unknown): void {
    if (worker !== this.#worker) return
    this.#worker = undefined
    this.#settle({ ok: false, error: new Unavailable('The reader thread ended unexpectedly', { cause }) })
  }

  #timedOut(waiting: Waiting): void {
    const error = new Unavailable(`The query took longer than ${this.#timeoutMs} ms`)
    if (waiting === this.#running) {
      this.#end()
      this.#settle({ ok: false, error })
    } else {
      this.#queue = this.#queue.filter(other => other !== waiting)
      waiting.reject(error)
    }
  }

  #end(): void {
    const worker = this.#worker
    this.#worker = undefined
    worker?.terminate().catch(() => undefined)
  }

  /** Rejects what waits and ends the thread. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#idle)
    const worker = this.#worker
    this.#worker = undefined
    const left = [...(this.#running ? [this.#running] : []), ...this.#queue]
    this.#running = undefined
    this.#queue = []
    for (const { timer, reject } of left) {
      clearTimeout(timer)
      reject(new Unavailable('The document store is closed'))
    }
    await worker?.terminate()
  }
}
