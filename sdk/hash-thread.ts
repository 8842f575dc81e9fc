import { Worker } from 'node:worker_threads'

/** What the thread is asked: the arguments of argon2id, costs in the units of RFC 9106. */
export interface HashQuestion {
  readonly message: string
  readonly nonce: Uint8Array
  readonly memory: number
  readonly passes: number
  readonly parallelism: number
  readonly tagLength: number
}

/** What it posts back. */
export type HashReply = { readonly tag: Uint8Array } | { readonly error: Error }

interface Waiting {
  readonly question: HashQuestion
  resolve(tag: Buffer): void
  reject(error: Error): void
}

/** A thread with nothing to do is ended, for it holds some megabytes. */
const idleMs = 60_000

/**
 * One thread of low priority that hashes passwords, one at a time: however many people sign in, the requests of everybody else come
 * first. It is made at the first hash; one that dies fails the hash it had, and the next one gets another.
 */
export class HashThread {
  #worker: Worker | undefined
  #idle: NodeJS.Timeout | undefined
  #running: Waiting | undefined
  #queue: Waiting[] = []

  run(question: HashQuestion): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ question, resolve, reject })
      this.#next()
    })
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
    this.#worker.postMessage(this.#running.question)
  }

  #rest(): void {
    this.#worker?.unref()
    this.#idle = setTimeout(() => {
      const worker = this.#worker
      this.#worker = undefined
      worker?.terminate().catch(() => undefined)
    }, idleMs).unref()
  }

  #start(): Worker {
    const worker = new Worker(new URL('./hash-worker.ts', import.meta.url), { resourceLimits: { maxYoungGenerationSizeMb: 1 } })
    worker.on('message', (reply: HashReply) => this.#settle(reply))
    worker.on('error', error => this.#died(worker, error))
    worker.on('exit', () => this.#died(worker, undefined))
    return worker
  }

  #settle(reply: HashReply): void {
    const running = this.#running
    this.#running = undefined
    if ('tag' in reply) running?.resolve(Buffer.from(reply.tag))
    else running?.reject(reply.error)
    this.#next()
  }

  #died(worker: Worker, cause: unknown): void {
    if (worker !== this.#worker) return
    this.#worker = undefined
    this.#settle({ error: new Error('The thread that hashes passwords ended unexpectedly', { cause }) })
  }
}
