import { setImmediate } from 'node:timers/promises'
import { NoSpace, Problem, Unavailable } from 'pounce/sdk'
import type { IndexChange } from 'pounce/sdk/search'
import { sqliteCodeOf, sqliteCodes } from 'pounce/sdk/sqlite'
import { isFull } from './damage.ts'

interface Waiting {
  readonly changes: readonly IndexChange[]
  done: number
  resolve(): void
  reject(error: unknown): void
}

/** Maximum duration of a transaction, so that other tasks of the event loop can run. */
const sliceMs = 8
/** From this many changes on, it pays to send them to another thread. */
const minThreadChanges = 8

/** How a queue writes. */
export interface IndexWrites {
  /** Writes the changes that it takes in one transaction. */
  write(changes: Iterable<IndexChange>): void
  /** Writes all changes in one transaction on another thread. */
  writeMany(changes: readonly IndexChange[]): Promise<void>
  /** Makes earlier writes durable. */
  sync(): Promise<void>
}

/**
 * Collects changes from all callers and writes them in shared transactions: few here and at once, many on another thread. While one is being written
 * there or made durable, the next is collected.
 */
export class FtsWriteQueue {
  readonly #writes: IndexWrites
  readonly #nowMs: () => number
  #waiting: Waiting[] = []
  #run: Promise<void> | undefined

  constructor(writes: IndexWrites, nowMs: () => number = () => performance.now()) {
    this.#writes = writes
    this.#nowMs = nowMs
  }

  /** Resolves when the changes are written and durable. */
  add(changes: readonly IndexChange[]): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ changes, done: 0, resolve, reject })
      this.#run ??= this.#writeWaiting()
    })
  }

  /** Resolves when nothing is pending. */
  async settled(): Promise<void> {
    await this.#run
  }

  async #writeWaiting(): Promise<void> {
    await Promise.resolve()
    while (this.#waiting.length > 0) {
      const written = this.#hasMany ? await this.#writeAll() : this.#writeSlice()
      if (written.length > 0) await this.#settle(written)
      else await setImmediate()
    }
    this.#run = undefined
  }

  async #settle(written: readonly Waiting[]): Promise<void> {
    try {
      await this.#writes.sync()
    } catch (error) {
      for (const each of written) each.reject(asProblem(error))
      return
    }
    for (const each of written) each.resolve()
  }

  get #hasMany(): boolean {
    return this.#waiting.reduce((sum, { changes, done }) => sum + changes.length - done, 0) >= minThreadChanges
  }

  /** Returns those that are now written completely: all pending ones, or none. */
  async #writeAll(): Promise<readonly Waiting[]> {
    const batch = this.#waiting
    this.#waiting = []
    try {
      await this.#writes.writeMany(batch.flatMap(({ changes, done }) => changes.slice(done)))
    } catch (error) {
      for (const each of batch) each.reject(asProblem(error))
      return []
    }
    return batch
  }

  /** Returns those that are now written completely. */
  #writeSlice(): readonly Waiting[] {
    const before = this.#waiting.map(({ done }) => done)
    try {
      this.#writes.write(this.#slice())
    } catch (error) {
      const failed = this.#waiting.filter(({ done }, at) => at === 0 || done > (before[at] ?? 0))
      this.#waiting = this.#waiting.filter(each => !failed.includes(each))
      for (const each of failed) each.reject(asProblem(error))
      return []
    }
    const finished = this.#waiting.filter(({ changes, done }) => done === changes.length)
    this.#waiting = this.#waiting.filter(each => !finished.includes(each))
    return finished
  }

  *#slice(): Generator<IndexChange> {
    const end = this.#nowMs() + sliceMs
    for (const waiting of this.#waiting) {
      while (waiting.done < waiting.changes.length) {
        if (this.#nowMs() > end) return
        const change = waiting.changes[waiting.done]
        waiting.done += 1
        if (change) yield change
      }
    }
  }
}

const { busy, locked, readOnly, ioError, cannotOpen } = sqliteCodes
const unavailableCodes: readonly number[] = [busy, locked, readOnly, ioError, cannotOpen]

const isOfFileSystem = (error: unknown): boolean => error instanceof Error && 'syscall' in error && 'code' in error

/** The error for callers for an error of the database or file system; others are returned unchanged. */
function asProblem(error: unknown): unknown {
  if (isFull(error)) return new NoSpace(undefined, { cause: error })
  if (isOfFileSystem(error)) return new Unavailable('The search index is not writable', { cause: error })
  const code = sqliteCodeOf(error)
  if (code === undefined || error instanceof Problem) return error
  return unavailableCodes.includes(code) ? new Unavailable('The search index is not writable', { cause: error }) : error
}
