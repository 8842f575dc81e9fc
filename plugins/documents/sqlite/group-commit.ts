import { Unavailable } from 'pounce/sdk'
import type { Database } from './database.ts'
import { isDatabaseError } from './problems.ts'

/** One caller's write. */
export interface WriteRequest {
  /** Checks conditions against the current data, in the open transaction; throws the error for the caller. Writes nothing. */
  plan(): PreparedWrite
  refuse(error: Error): void
}

/** A write request whose conditions hold. */
export interface PreparedWrite {
  write(): void
  /** After COMMIT. */
  finish(): void
}

/** Maximum number of requests that share one transaction: a few milliseconds of the main thread. */
const largest = 256

/** How long requests may wait for more, in milliseconds. */
const maxGatherMs = 2

/** Called after each transaction, with its number of commits and its duration. */
export type TransactionObserver = (pieces: number, seconds: number) => void

/**
 * Writes all requests of a few turns of the event loop in one transaction, so that they share one fsync: it waits as long as each turn adds more.
 * Callers get no result before COMMIT; requests whose conditions fail are left out and do not affect the rest.
 */
export class GroupCommit {
  #database: Database
  #measured: TransactionObserver
  #queue: WriteRequest[] = []
  #isScheduled = false
  #isClosed = false

  constructor(database: Database, measured: TransactionObserver) {
    this.#database = database
    this.#measured = measured
  }

  add(work: WriteRequest): void {
    if (this.#isClosed) {
      work.refuse(new Unavailable('The document store is closed'))
      return
    }
    this.#queue.push(work)
    this.#schedule()
  }

  /** Writes what is queued and accepts no more. */
  close(): void {
    while (this.#queue.length > 0) this.#flush()
    this.#isClosed = true
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    const until = performance.now() + maxGatherMs
    const gather = (known: number): void => {
      const { length } = this.#queue
      if (length > known && length < largest && performance.now() < until) setImmediate(gather, length)
      else {
        this.#isScheduled = false
        this.#flush()
        if (this.#queue.length > 0) this.#schedule()
      }
    }
    setImmediate(gather, 0)
  }

  #flush(): void {
    const works = this.#queue.splice(0, largest)
    if (works.length === 0) return
    const start = performance.now()
    this.#write(works)
    this.#measured(works.length, (performance.now() - start) / 1000)
  }

  #write(works: readonly WriteRequest[]): void {
    let answers: readonly (() => void)[]
    try {
      answers = this.#database.connection().transaction(() => works.map(attempt))
    } catch (error) {
      this.#database.failed(error)
      if (works.length > 1 && !this.#database.isBroken) for (const work of works) this.#write([work])
      else this.#refuse(works, this.#database.outcomeOf(error))
      return
    }
    for (const answer of answers) answer()
  }

  #refuse(works: readonly WriteRequest[], problem: Error): void {
    for (const work of works) work.refuse(problem)
  }
}

/** Checks and writes one request; returns a function that reports the result once the transaction is durable. Throws only errors of the database. */
const attempt = (work: WriteRequest): (() => void) => {
  let prepared: PreparedWrite
  try {
    prepared = work.plan()
  } catch (error) {
    if (isDatabaseError(error)) throw error
    return () => work.refuse(error instanceof Error ? error : new Error(String(error)))
  }
  prepared.write()
  return () => prepared.finish()
}
