import { setTimeout as pause } from 'node:timers/promises'
import { Clock, DocumentStore, Log, wire } from 'pounce/sdk'
import { Broker } from './broker.ts'
import type { ConnectionUser } from './broker-connection.ts'
import { withBrokerTimeLimit } from './broker-time-limit.ts'
import type { ErrorQueues } from './error-queues.ts'
import type { JobSender } from './job-sender.ts'
import { maskQueue } from './mask-keys.ts'
import { countQueues } from './queue-search.ts'
import { RabbitJobRepository } from './rabbit-job-repository.ts'
import type { UnconfirmedJobs } from './unconfirmed-jobs.ts'

/** Dependencies of the sweep. */
export interface SweepingParts {
  readonly repository: RabbitJobRepository
  readonly sender: JobSender
  readonly doubtful: UnconfirmedJobs
  /** Absent in kernels that leave this to others. */
  readonly errorQueues: ErrorQueues | undefined
  readonly log: Log
  readonly leaseMs: number
  readonly sweepMs: number
}

const batchSize = 500

/** Sends jobs that no kernel is sending: published while the broker was unavailable, left by a dead kernel, or over the limit. */
export class UnsentJobs implements ConnectionUser {
  #parts: SweepingParts
  #timer: NodeJS.Timeout | undefined
  #running = false
  #isRequested = false
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
    // The sender reports that it accepts none.
  }

  /** Checks soon. */
  kick(): void {
    this.#isRequested = true
    if (this.#running || this.#isStopping) return
    this.#running = true
    void this.#run().finally(() => {
      this.#running = false
      if (this.#isRequested) setImmediate(() => this.kick())
    })
  }

  stop(): void {
    this.#isStopping = true
    clearInterval(this.#timer)
  }

  async #run(): Promise<void> {
    this.#isRequested = false
    try {
      await this.#parts.sender.renew()
      await Promise.all([this.#sendWaiting(), this.#parts.errorQueues?.putBack()])
    } catch (error) {
      this.#parts.log.warn('Failed to look for waiting jobs; will be retried', { error })
    }
  }

  async #sendWaiting(): Promise<void> {
    const { repository, sender, doubtful, leaseMs } = this.#parts
    while (sender.isConnected && !this.#isStopping) {
      if (sender.room < batchSize / 2) {
        await pause(5)
        continue
      }
      const since = performance.now()
      const jobs = await repository.claim('unsent', Math.min(batchSize, sender.room), leaseMs)
      if (jobs.length === 0) return
      sender.take(
        jobs.filter(({ isHeld }) => !isHeld),
        since,
      )
      sender.take(await doubtful.unsent(jobs.filter(({ id, isHeld }) => isHeld && !sender.isHeld(id))), since)
    }
  }
}

const timeMs = 30_000

/**
 * Jobs that the broker had and whose queue no longer exists, because it was deleted or the broker lost its disk: they are sent again, which
 * reports the missing queue, or reaches a queue recreated since.
 */
export class LostQueues {
  #broker: Broker
  #repository: RabbitJobRepository
  #log: Log

  constructor(broker: Broker, documents: DocumentStore, clock: Clock, log: Log) {
    this.#broker = broker
    this.#repository = new RabbitJobRepository(documents, () => clock.now())
    this.#log = log
  }

  async run(signal: AbortSignal): Promise<void> {
    const { model } = this.#broker.listening
    if (!model) return
    const queues = await Array.fromAsync(this.#repository.queueNames('sent'))
    for (const [queue, count] of await withBrokerTimeLimit(countQueues(model, queues, timeMs), 2 * timeMs)) {
      if (count || signal.aborted) continue
      const jobs = await this.#repository.inQueue('sent', queue)
      for (const job of jobs) await this.#repository.become(job, 'unsent')
      this.#log.warn('Queue with jobs is missing on the broker; its jobs are sent again', { queue: maskQueue(queue), jobs: jobs.length })
    }
  }
}
wire(LostQueues, Broker, DocumentStore, Clock, Log)
