import { Unavailable } from './problem.ts'

/** Limits of a semaphore. Without `queue`, any number of callers wait indefinitely. */
export interface SemaphoreOptions {
  readonly max: number
  readonly queue?: {
    readonly maxWaiting: number
    readonly maxWaitMs: number
    /** Start of the error message, such as `Too many large documents`. */
    readonly refusal: string
  }
}

interface Waiter {
  enter(): void
}

/** A fair (FIFO) counting semaphore. A caller that waits too long in a bounded queue, or finds it full, gets `Unavailable`. */
export class Semaphore {
  readonly #options: SemaphoreOptions
  readonly #waiting = new Set<Waiter>()
  #free: number

  constructor(options: SemaphoreOptions) {
    this.#options = options
    this.#free = options.max
  }

  /** Resolves to a function that releases the permit; calling it again has no effect. Rejects with the signal's reason if that is aborted first. */
  async acquire(signal?: AbortSignal): Promise<() => void> {
    signal?.throwIfAborted()
    if (this.#free > 0) this.#free -= 1
    else await this.#turn(signal)
    let isHeld = true
    return () => {
      if (isHeld) this.#release()
      isHeld = false
    }
  }

  async use<T>(work: () => Promise<T> | T, signal?: AbortSignal): Promise<T> {
    const release = await this.acquire(signal)
    try {
      return await work()
    } finally {
      release()
    }
  }

  #turn(signal: AbortSignal | undefined): Promise<void> {
    const { queue } = this.#options
    if (queue && this.#waiting.size >= queue.maxWaiting) return Promise.reject(refused(queue.refusal))
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', abort)
        this.#waiting.delete(waiter)
      }
      const waiter: Waiter = {
        enter: () => {
          leave()
          resolve()
        },
      }
      const fail = (error: unknown): void => {
        leave()
        reject(error)
      }
      const abort = (): void => fail(signal?.reason)
      const timer = queue && setTimeout(() => fail(refused(queue.refusal)), queue.maxWaitMs)
      signal?.addEventListener('abort', abort)
      this.#waiting.add(waiter)
    })
  }

  #release(): void {
    const [next] = this.#waiting
    if (next) next.enter()
    else this.#free += 1
  }
}

const refused = (refusal: string): Unavailable => new Unavailable(`${refusal}; try again in a few seconds`)

/** A fair (FIFO) mutex. */
export class Mutex extends Semaphore {
  constructor() {
    super({ max: 1 })
  }
}

/** Runs work for the same key sequentially, in the order of the calls; work for different keys runs concurrently. */
export class KeyedMutex {
  /** The last unfinished work per key. Never rejects. */
  readonly #last = new Map<string, Promise<void>>()

  /** Runs the work once all earlier work for these keys has finished. */
  use<T>(keys: string | readonly string[], work: () => Promise<T>): Promise<T> {
    const all = typeof keys === 'string' ? [keys] : keys
    const before = new Set(all.flatMap(key => this.#last.get(key) ?? []))
    const result = before.size === 0 ? work() : Promise.all(before).then(work)
    const ended: Promise<void> = result.then(nothing, nothing).then(() => {
      for (const key of all) if (this.#last.get(key) === ended) this.#last.delete(key)
    })
    for (const key of all) this.#last.set(key, ended)
    return result
  }

  /** Resolves when no work is running. */
  async ended(): Promise<void> {
    while (this.#last.size > 0) await Promise.all(this.#last.values())
  }
}

const nothing = (): void => undefined
