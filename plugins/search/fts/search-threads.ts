import { Worker } from 'node:worker_threads'
import { Invalid, Unavailable } from 'pounce/sdk'
import { DamagedIndex, isDamage } from './damage.ts'
import type { SearchReply, SearchTask } from './search-task.ts'

interface PendingTask {
  readonly task: SearchTask
  readonly limitMs: number
  timer?: NodeJS.Timeout
  resolve(value: unknown): void
  reject(error: unknown): void
}

const atMost = 2
/** Starting a thread on a busy machine may take seconds, which must not count against the query. */
const maxStartMs = 15_000

/** Returns the result, or throws the failure: `Invalid` for a wrong request, `DamagedIndex`, or `Unavailable`. */
export function resultOf(answer: SearchReply): unknown {
  if ('value' in answer) return answer.value
  const { message, isRefusal, code } = answer.failure
  if (isRefusal) throw new Invalid(message)
  throw isDamage(code) ? new DamagedIndex(message) : new Unavailable('The search failed', { cause: new Error(message) })
}

/**
 * Runs queries in worker threads, so that none blocks the event loop. A thread is created when a query finds none idle, and replaced
 * when a query times out.
 */
export class SearchThreads {
  readonly #running = new Map<Worker, PendingTask | undefined>()
  readonly #starting = new Set<Worker>()
  #waiting: PendingTask[] = []

  /**
   * Rejects with `Invalid` for a wrong request, `DamagedIndex`, or `Unavailable` when there is no answer after `limitMs`, which begin when there is a
   * thread.
   */
  run(task: SearchTask, limitMs: number): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const pendingTask: PendingTask = { task, limitMs, resolve, reject }
      this.#waiting.push(pendingTask)
      this.#next()
      this.#limit(pendingTask, this.#hasThread ? limitMs : Math.max(limitMs, maxStartMs))
    })
  }

  async dispose(): Promise<void> {
    const pendingTask = [...this.#waiting, ...this.#running.values()]
    const workers = [...this.#running.keys()]
    this.#waiting = []
    this.#running.clear()
    this.#starting.clear()
    for (const each of pendingTask) if (each) fail(each, new Unavailable('The search is being stopped'))
    await Promise.all(workers.map(worker => worker.terminate()))
  }

  #limit(pendingTask: PendingTask, ms: number): void {
    clearTimeout(pendingTask.timer)
    pendingTask.timer = setTimeout(() => this.#giveUp(pendingTask), ms)
  }

  get #hasThread(): boolean {
    return this.#running.size > this.#starting.size
  }

  #next(): void {
    if (this.#waiting.length === 0) return
    const worker = [...this.#running].find(([idle, pendingTask]) => !pendingTask && !this.#starting.has(idle))?.[0]
    const pendingTask = worker && this.#waiting.shift()
    if (pendingTask) {
      this.#running.set(worker, pendingTask)
      worker.postMessage(pendingTask.task)
    } else if (this.#starting.size === 0 && this.#running.size < atMost) this.#start()
  }

  #start(): void {
    const worker = new Worker(new URL('./search-worker.ts', import.meta.url))
    worker.unref()
    worker.once('message', () => this.#started(worker))
    worker.on('error', error => this.#drop(worker, new Unavailable('The search failed', { cause: error })))
    this.#starting.add(worker)
    this.#running.set(worker, undefined)
  }

  #started(worker: Worker): void {
    if (!this.#running.has(worker)) return
    if (!this.#hasThread) for (const pendingTask of this.#waiting) this.#limit(pendingTask, pendingTask.limitMs)
    this.#starting.delete(worker)
    worker.on('message', (answer: SearchReply) => {
      const pendingTask = this.#running.get(worker)
      if (!pendingTask) return
      this.#running.set(worker, undefined)
      settle(pendingTask, answer)
      this.#next()
    })
    this.#next()
    this.#next()
  }

  #giveUp(pendingTask: PendingTask): void {
    const tooLong = new Unavailable('The search timed out; narrow it or try again')
    const worker = [...this.#running].find(([, running]) => running === pendingTask)?.[0]
    this.#waiting = this.#waiting.filter(each => each !== pendingTask)
    if (worker) this.#drop(worker, tooLong)
    fail(pendingTask, tooLong)
  }

  #drop(worker: Worker, error: Error): void {
    const pendingTask = this.#running.get(worker)
    this.#running.delete(worker)
    const hasStarted = !this.#starting.delete(worker)
    // Where no thread starts, none will ever answer.
    if (!hasStarted && this.#running.size === 0) for (const waiting of this.#waiting.splice(0)) fail(waiting, error)
    if (hasStarted && !this.#hasThread) for (const waiting of this.#waiting) this.#limit(waiting, Math.max(waiting.limitMs, maxStartMs))
    if (pendingTask) fail(pendingTask, error)
    void worker.terminate()
    this.#next()
  }
}

function settle(pendingTask: PendingTask, answer: SearchReply): void {
  clearTimeout(pendingTask.timer)
  try {
    pendingTask.resolve(resultOf(answer))
  } catch (error) {
    pendingTask.reject(error)
  }
}

function fail(pendingTask: PendingTask, error: Error): void {
  clearTimeout(pendingTask.timer)
  pendingTask.reject(error)
}
