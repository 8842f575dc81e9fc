import type { Worker } from 'node:worker_threads'
import { Unavailable } from 'pounce/sdk'
import { fromTransferred } from './problems.ts'
import type { ThreadRequest } from './thread-requests.ts'
import type { TransferredError } from './transferred-errors.ts'

/** An idle thread is terminated, since it uses some megabytes. */
const idleMs = 60_000

/** A thread with tasks that sends nothing for this long is considered hung. */
const silentMs = 60_000

interface Task {
  readonly pieces: unknown[]
  isDone: boolean
  error: Error | undefined
  /** Wakes all waiters. */
  wake(): void
}

/** A thread that interleaves several tasks and returns the result of each piece by piece. It is started for the first task; when it dies its tasks fail, and the next task starts a new one. */
export class TaskThread {
  readonly #start: () => Worker
  readonly #name: string
  readonly #tasks = new Map<number, Task>()
  #worker: Worker | undefined
  #last = 0
  #idle: NodeJS.Timeout | undefined
  #silence: NodeJS.Timeout | undefined
  #isClosed = false

  /** `name` begins the messages of errors: `The thread that reads datapoints`. */
  constructor(start: () => Worker, name: string) {
    this.#start = start
    this.#name = name
  }

  /** Number of tasks in progress. */
  get load(): number {
    return this.#tasks.size
  }

  /** The first piece of the result. Rejects with `Unavailable` when the thread dies or is closed. */
  async run(request: ThreadRequest, transferList: ArrayBuffer[] = []): Promise<unknown> {
    for await (const piece of this.pieces(request, transferList)) return piece
    throw new Unavailable(`${this.#name} did not respond`)
  }

  /** The pieces of the result, produced on demand, one ahead. Leaving the loop or aborting the signal cancels the task. */
  async *pieces(request: ThreadRequest, transferList: ArrayBuffer[] = [], signal?: AbortSignal): AsyncGenerator<unknown> {
    signal?.throwIfAborted()
    const [number, task] = this.#begin(request, transferList)
    const stop = (): void => task.wake()
    signal?.addEventListener('abort', stop)
    try {
      for (;;) {
        signal?.throwIfAborted()
        const piece = task.pieces.shift()
        if (piece !== undefined) {
          if (!task.isDone) this.#worker?.postMessage({ task: number, more: true } satisfies ToThread)
          yield piece
        } else if (task.error) throw task.error
        else if (task.isDone) return
        else
          await new Promise<void>(resolve => {
            task.wake = resolve
          })
      }
    } finally {
      signal?.removeEventListener('abort', stop)
      this.#finish(number, task)
    }
  }

  #begin(request: ThreadRequest, transferList: ArrayBuffer[]): [number, Task] {
    if (this.#isClosed) throw this.#closed()
    clearTimeout(this.#idle)
    this.#worker ??= this.#startWorker()
    this.#worker.ref()
    this.#last += 1
    const task: Task = { pieces: [], isDone: false, error: undefined, wake: () => undefined }
    this.#worker.postMessage({ task: this.#last, request } satisfies ToThread, transferList)
    this.#tasks.set(this.#last, task)
    this.#listen()
    return [this.#last, task]
  }

  #finish(number: number, task: Task): void {
    if (!this.#tasks.delete(number)) return
    if (!task.isDone) this.#worker?.postMessage({ task: number, cancel: true } satisfies ToThread)
    this.#rest()
  }

  #rest(): void {
    if (this.#tasks.size > 0) return
    clearTimeout(this.#silence)
    this.#worker?.unref()
    clearTimeout(this.#idle)
    this.#idle = setTimeout(() => this.#dropWorker(), idleMs).unref()
  }

  #listen(): void {
    clearTimeout(this.#silence)
    this.#silence = setTimeout(() => this.#fail(new Unavailable(`${this.#name} does not respond`)), silentMs).unref()
  }

  #startWorker(): Worker {
    const worker = this.#start()
    worker.on('message', (message: FromThread) => this.#receive(message))
    worker.on('error', error => this.#died(worker, error))
    worker.on('exit', () => this.#died(worker, undefined))
    return worker
  }

  #receive(message: FromThread): void {
    this.#listen()
    if ('isWorking' in message) return
    const task = this.#tasks.get(message.task)
    if (!task) return
    if ('piece' in message) task.pieces.push(message.piece)
    else {
      task.isDone = true
      if ('error' in message) task.error = fromTransferred(message.error)
    }
    task.wake()
  }

  #died(worker: Worker, cause: unknown): void {
    if (worker !== this.#worker) return
    this.#fail(new Unavailable(`${this.#name} ended unexpectedly`, { cause }))
  }

  #fail(error: Error): void {
    this.#dropWorker()
    const tasks = [...this.#tasks.values()]
    this.#tasks.clear()
    clearTimeout(this.#silence)
    for (const task of tasks) {
      task.pieces.length = 0
      task.isDone = true
      task.error = error
      task.wake()
    }
  }

  #dropWorker(): void {
    const worker = this.#worker
    this.#worker = undefined
    worker?.terminate().catch(() => undefined)
  }

  /** Fails the tasks in progress and ends the thread, which closes its file first. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#idle)
    const worker = this.#worker
    this.#worker = undefined
    this.#fail(this.#closed())
    if (!worker) return
    const exited = new Promise<void>(resolve => worker.once('exit', () => resolve()))
    worker.postMessage({ end: true } satisfies ToThread)
    const late = setTimeout(() => void worker.terminate(), 5000)
    await exited
    clearTimeout(late)
  }

  #closed(): Unavailable {
    return new Unavailable(`${this.#name} is closed`)
  }
}

/** To a thread: a request with its task number, a request for the next piece, a cancellation, or the request to end. */
export type ToThread =
  | { readonly task: number; readonly request: ThreadRequest }
  | { readonly task: number; readonly more: true }
  | { readonly task: number; readonly cancel: true }
  | { readonly end: true }

/** From a thread: a piece, the end of the result, or an error; `isWorking` is a heartbeat. */
export type FromThread =
  | { readonly task: number; readonly piece: unknown }
  | { readonly task: number; readonly done: true }
  | { readonly task: number; readonly error: TransferredError }
  | { readonly isWorking: true }
