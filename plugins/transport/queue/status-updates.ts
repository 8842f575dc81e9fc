import type { JobStatus, TransportListener } from 'pounce/sdk/kit'
import { progressEveryMs } from './messages.ts'
import { type RetryPolicy, withRetry } from './retry.ts'

const tries = 5
const delayMs = 200
const unavailableMs = 60_000
const maxCharacters = 500

/** Status messages of one run in the format of Clowder's bus, sent one after the other. */
export class StatusUpdates {
  #listener: TransportListener
  #about: Omit<JobStatus, 'status' | 'at'>
  #now: () => Date
  #retryPolicy: RetryPolicy
  #unreported: (error: unknown) => void
  #monotonicMs: () => number
  #last: Promise<void> = Promise.resolve()
  #lastProgress = Number.NEGATIVE_INFINITY

  constructor(
    listener: TransportListener,
    about: Omit<JobStatus, 'status' | 'at'>,
    options: {
      readonly now: () => Date
      readonly signal: AbortSignal
      readonly unreported: (error: unknown) => void
      /** A clock that only goes forward, in milliseconds. */
      readonly monotonicMs?: () => number
    },
  ) {
    this.#listener = listener
    this.#about = about
    this.#now = options.now
    this.#retryPolicy = { signal: options.signal, tries, delayMs, unavailableMs }
    this.#unreported = options.unreported
    this.#monotonicMs = options.monotonicMs ?? (() => performance.now())
  }

  /** Sends it in the background. A message that fails five times is dropped: a progress line must not fail a job. */
  enqueue(status: string): void {
    const line = this.#line(status)
    this.#last = this.#last.then(() => this.#report(line)).catch(this.#unreported)
  }

  /** As `note`, but at most one line a second. */
  progress(message: string): void {
    const now = this.#monotonicMs()
    if (now - this.#lastProgress < progressEveryMs) return
    this.#lastProgress = now
    this.enqueue(`StatusMessage.processing: ${message}`)
  }

  /** Resolves when this and all earlier messages have been stored; rejects when this one could not be. */
  async send(status: string): Promise<void> {
    const line = this.#line(status)
    await this.#last
    await this.#report(line)
  }

  #line(status: string): JobStatus {
    // Text of an extractor may contain anything; a status is one line.
    const clean = status.replace(/[\u0000-\u001f\u007f]+/g, ' ').slice(0, maxCharacters)
    return { ...this.#about, status: clean, at: this.#now() }
  }

  async #report(line: JobStatus): Promise<void> {
    await withRetry(() => this.#listener.status(line), this.#retryPolicy)
  }
}
