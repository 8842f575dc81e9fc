import { Worker } from 'node:worker_threads'
import { Invalid, Unavailable } from 'pounce/sdk'
import { DamagedIndex, isDamage } from './damage.ts'
import type { Answer, Question } from './questions.ts'

interface Asked {
  readonly question: Question
  timer?: NodeJS.Timeout
  resolve(value: unknown): void
  reject(error: unknown): void
}

const atMost = 2

/** What an answer says, or its failure thrown: `Invalid` for a wrong request, `DamagedIndex`, or `Unavailable`. */
export function resultOf(answer: Answer): unknown {
  if ('value' in answer) return answer.value
  const { message, isRefusal, code } = answer.failure
  if (isRefusal) throw new Invalid(message)
  throw isDamage(code) ? new DamagedIndex(message) : new Unavailable('The search failed', { cause: new Error(message) })
}

/**
 * Asks worker threads, so that no query holds up the event loop. A thread is made when a question finds none idle, and replaced
 * when a question took too long.
 */
export class Readers {
  readonly #running = new Map<Worker, Asked | undefined>()
  #waiting: Asked[] = []

  /** Rejects with `Invalid` for a wrong request, `DamagedIndex`, or `Unavailable` when there is no answer after `limitMs`. */
  ask(question: Question, limitMs: number): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const asked: Asked = { question, resolve, reject }
      asked.timer = setTimeout(() => this.#giveUp(asked), limitMs)
      this.#waiting.push(asked)
      this.#next()
    })
  }

  async dispose(): Promise<void> {
    const asked = [...this.#waiting, ...this.#running.values()]
    const workers = [...this.#running.keys()]
    this.#waiting = []
    this.#running.clear()
    for (const each of asked) if (each) fail(each, new Unavailable('The search is being stopped'))
    await Promise.all(workers.map(worker => worker.terminate()))
  }

  #next(): void {
    const worker = [...this.#running].find(([, asked]) => !asked)?.[0] ?? (this.#running.size < atMost ? this.#start() : undefined)
    const asked = worker && this.#waiting.shift()
    if (!asked) return
    this.#running.set(worker, asked)
    worker.postMessage(asked.question)
  }

  #start(): Worker {
    const worker = new Worker(new URL('./search-worker.ts', import.meta.url))
    worker.unref()
    worker.on('message', (answer: Answer) => {
      const asked = this.#running.get(worker)
      if (!asked) return
      this.#running.set(worker, undefined)
      settle(asked, answer)
      this.#next()
    })
    worker.on('error', error => this.#drop(worker, new Unavailable('The search failed', { cause: error })))
    this.#running.set(worker, undefined)
    return worker
  }

  #giveUp(asked: Asked): void {
    const tooLong = new Unavailable('The search takes too long; make it narrower or try again')
    const worker = [...this.#running].find(([, running]) => running === asked)?.[0]
    if (worker) this.#drop(worker, tooLong)
    this.#waiting = this.#waiting.filter(each => each !== asked)
    fail(asked, tooLong)
  }

  #drop(worker: Worker, error: Error): void {
    const asked = this.#running.get(worker)
    this.#running.delete(worker)
    if (asked) fail(asked, error)
    void worker.terminate()
    this.#next()
  }
}

function settle(asked: Asked, answer: Answer): void {
  clearTimeout(asked.timer)
  try {
    asked.resolve(resultOf(answer))
  } catch (error) {
    asked.reject(error)
  }
}

function fail(asked: Asked, error: Error): void {
  clearTimeout(asked.timer)
  asked.reject(error)
}
