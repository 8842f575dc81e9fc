import { Unavailable } from './problem.ts'

/** How many may work at once, and how long others wait for them: without `queue` any number of them, without end. */
export interface SemaphoreOptions {
  readonly max: number
  readonly queue?: {
    readonly maxWaiting: number
    readonly maxWaitMs: number
    /** As sentences begin: `Too many large documents`. */
    readonly refusal: string
  }
}

interface Waiter {
  enter(): void
}

/** A counting semaphore, first come, first served. Anyone who waits too long in a bounded queue, or finds it full, gets `Unavailable`. */
export class Semaphore {
  readonly #options: SemaphoreOptions
  readonly #waiting = new Set<Waiter>()
  #free: number

  constructor(options: SemaphoreOptions) {
    this.#options = options
    this.#free = options.max
  }

  /** Resolves to what gives the place back; calling that again does nothing. Rejects with the reason of the signal when it is aborted first. */
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

/** One at a time, first come, first served. */
export class Mutex extends Semaphore {
  constructor() {
    super({ max: 1 })
  }
}

/** Work on the same key is done one piece after the other, in the order it was requested; work on different keys side by side. */
export class KeyedMutex {
  /** The last work on each key that has not ended. Never rejects. */
  readonly #last = new Map<string, Promise<void>>()

  /** Does the work once all earlier work on these keys has ended, at once when there is none. */
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

  /** Resolves when no work is under way. */
  async ended(): Promise<void> {
    while (this.#last.size > 0) await Promise.all(this.#last.values())
  }
}

const nothing = (): void => undefined
