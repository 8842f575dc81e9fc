import { setTimeout as pause } from 'node:timers/promises'
import type { Log } from 'pounce/sdk'
import type { Tenant } from './broker-connection.ts'
import type { ErrorQueues } from './error-queues.ts'
import type { JobSender } from './job-sender.ts'
import type { RabbitJobRepository } from './rabbit-job-repository.ts'
import type { UnconfirmedJobs } from './unconfirmed-jobs.ts'

/** What sweeping needs around it. */
export interface SweepingParts {
  readonly book: RabbitJobRepository
  readonly sender: JobSender
  readonly doubtful: UnconfirmedJobs
  /** Absent in kernels that leave this to others. */
  readonly errorQueues: ErrorQueues | undefined
  readonly log: Log
  readonly leaseMs: number
  readonly sweepMs: number
}

const batch = 500

/** Sends jobs that nobody sends: published while the broker was away, left by a kernel that ended, or too many at once. */
export class UnsentJobs implements Tenant {
  #parts: SweepingParts
  #timer: NodeJS.Timeout | undefined
  #running = false
  #isAsked = false
  #isStopping = false

  constructor(parts: SweepingParts) {
    this.#parts = parts
  }

  start(): void {
    this.#timer = setInterval(() => this.kick(), this.#parts.sweepMs).unref()
  }

  async up(): Promise<void> {
    this.kick()
  }

  down(): void {
    // The sender says that it takes nothing.
  }

  /** Looks soon. */
  kick(): void {
    this.#isAsked = true
    if (this.#running || this.#isStopping) return
    this.#running = true
    void this.#run().finally(() => {
      this.#running = false
      if (this.#isAsked) setImmediate(() => this.kick())
    })
  }

  stop(): void {
    this.#isStopping = true
    clearInterval(this.#timer)
  }

  async #run(): Promise<void> {
    this.#isAsked = false
    try {
      await this.#parts.sender.renew()
      await Promise.all([this.#sendWaiting(), this.#parts.errorQueues?.putBack()])
    } catch (error) {
      this.#parts.log.warn('failed to look for waiting jobs; will be retried', { error })
    }
  }

  async #sendWaiting(): Promise<void> {
    const { book, sender, doubtful, leaseMs } = this.#parts
    while (sender.isConnected && !this.#isStopping) {
      if (sender.room < batch / 2) {
        await pause(5)
        continue
      }
      const since = performance.now()
      const jobs = await book.claim('unsent', Math.min(batch, sender.room), leaseMs)
      if (jobs.length === 0) return
      sender.take(
        jobs.filter(({ isHeld }) => !isHeld),
        since,
      )
      sender.take(await doubtful.unsent(jobs.filter(({ id, isHeld }) => isHeld && !sender.isHeld(id))), since)
    }
  }
}
