import type { Worker } from 'node:worker_threads'
import { Unavailable } from './problem.ts'

/** The message that the thread posts for each request. */
export type ThreadReply<Result = unknown> = { readonly ok: true; readonly result: Result } | { readonly ok: false; readonly error: Error }

/** How to start a thread, and the errors for requests that it does not answer. */
export interface ThreadOptions {
  readonly start: () => Worker
  /** For each request, including the time in the queue. */
  readonly timeoutMs: number
  /** Start of the error messages: `The thread that hashes passwords`. */
  readonly name: string
}

interface Waiting<Request> {
  readonly request: Request
  readonly timer: NodeJS.Timeout
  resolve(result: unknown): void
  reject(error: Error): void
}

/** Idle threads are stopped, since each takes some megabytes of memory. */
const idleMs = 60_000

/**
 * A worker thread for work that would block the main thread. It handles one request at a time, posts one `ThreadReply` for each, and starts on the first
 * request. A request that times out terminates the thread, as does a crash; the next request starts a new one.
 */
export class WorkerClient<Request> {
  readonly #options: ThreadOptions
  #worker: Worker | undefined
  #idle: NodeJS.Timeout | undefined
  #running: Waiting<Request> | undefined
  #queue: Waiting<Request>[] = []
  #isClosed = false

  constructor(options: ThreadOptions) {
    this.#options = options
  }

  /** Number of unanswered requests. */
  get pending(): number {
    return this.#queue.length + (this.#running ? 1 : 0)
  }

  /** Rejects with `Unavailable` on timeout, when the thread dies, and after `close`; otherwise with the error that the thread posts. */
  run(request: Request): Promise<unknown> {
    if (this.#isClosed) return Promise.reject(this.#closed())
    return new Promise<unknown>((resolve, reject) => {
      const timer = setTimeout(() => this.#timedOut(waiting), this.#options.timeoutMs)
      const waiting: Waiting<Request> = { request, resolve, reject, timer }
      this.#queue.push(waiting)
      this.#next()
    })
  }

  /** Rejects pending requests and stops the thread. */
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
      reject(this.#closed())
    }
    await worker?.terminate()
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
    this.#worker.postMessage(this.#running.request)
  }

  #rest(): void {
    this.#worker?.unref()
    this.#idle = setTimeout(() => this.#end(), idleMs).unref()
  }

  #start(): Worker {
    const worker = this.#options.start()
    worker.on('message', (reply: ThreadReply) => this.#settle(reply))
    worker.on('error', error => this.#died(worker, error))
    worker.on('exit', () => this.#died(worker, undefined))
    return worker
  }

  #settle(reply: ThreadReply): void {
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
    this.#settle({ ok: false, error: new Unavailable(`${this.#options.name} ended unexpectedly`, { cause }) })
  }

  #timedOut(waiting: Waiting<Request>): void {
    const error = new Unavailable(`${this.#options.name} took longer than ${this.#options.timeoutMs} ms`)
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

  #closed(): Unavailable {
    return new Unavailable(`${this.#options.name} is closed`)
  }
}

/** A pool of threads for requests of similar cost. A thread is started only when all existing ones are busy. */
export class WorkerPool<Request> {
  readonly #workers: readonly WorkerClient<Request>[]

  constructor(size: number, options: ThreadOptions) {
    this.#workers = Array.from({ length: size }, () => new WorkerClient<Request>(options))
  }

  /** Like `WorkerClient.run`, in the thread with the fewest requests. */
  run(request: Request): Promise<unknown> {
    return this.#workers.reduce((least, worker) => (worker.pending < least.pending ? worker : least)).run(request)
  }

  async close(): Promise<void> {
    await Promise.all(this.#workers.map(worker => worker.close()))
  }
}
