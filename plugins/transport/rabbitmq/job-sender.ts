import { setTimeout as pause } from 'node:timers/promises'
import type { ChannelModel } from 'amqplib'
import { type Keys, type Log, type Metrics, NotFound } from 'pounce/sdk'
import type { BrokerConnection, ConnectionUser } from './broker-connection.ts'
import type { StoredJob } from './bus-jobs.ts'
import { maskQueue } from './mask-keys.ts'
import { PublisherConfirms, type SendOutcome } from './publisher-confirms.ts'
import type { RabbitJobRepository } from './rabbit-job-repository.ts'

const batchSize = 1000

/** Collects IDs into batches: those that arrive while one batch is processed form the next one. */
class IdBatcher {
  #waiting: string[] = []
  #isBusy = false
  #work: (ids: readonly string[]) => Promise<void>

  /** `work` handles its own failures. */
  constructor(work: (ids: readonly string[]) => Promise<void>) {
    this.#work = work
  }

  add(id: string): void {
    this.#waiting.push(id)
    if (this.#isBusy) return
    this.#isBusy = true
    setImmediate(() => this.#run())
  }

  #run(): void {
    const ids = this.#waiting.splice(0, batchSize)
    if (ids.length === 0) {
      this.#isBusy = false
      return
    }
    this.#work(ids).then(
      () => this.#run(),
      () => this.#run(),
    )
  }
}

/** Dependencies of the sender. */
export interface SenderParts {
  readonly link: BrokerConnection
  readonly repository: RabbitJobRepository
  readonly keys: Pick<Keys, 'jobKey'>
  readonly log: Log
  readonly metrics: Metrics
  /** Where extractors reply to. */
  replyTo(): string
  readonly maxUnconfirmed: number
  readonly leaseMs: number
  /** Reports a job that cannot be sent, and deletes it. Rejects when the listener failed: the job is then tried again. */
  refuse(job: StoredJob, reason: string): Promise<void>
}

interface LeasedJob {
  readonly job: StoredJob
  /** By `performance.now`; until then no other kernel sends it. */
  until: number
}

const againMs = 1000
const refusedAgainMs = 5000

/** Publishes jobs to the broker, many at a time, and records which ones were confirmed. A job stays held from its claim until that is recorded. */
export class JobSender implements ConnectionUser {
  #parts: SenderParts
  #confirms: PublisherConfirms | undefined
  #isBlocked = false
  #isStopping = false
  #leased = new Map<string, LeasedJob>()
  #ready: LeasedJob[] = []
  #isPumping = false
  #confirmed: IdBatcher
  #given: IdBatcher
  #doubted: IdBatcher

  constructor(parts: SenderParts) {
    this.#parts = parts
    this.#confirmed = new IdBatcher(ids => this.#noteSent(ids))
    this.#given = new IdBatcher(ids => this.#letGo(ids, repository => repository.postpone(ids, this.#confirms ? againMs : 0)))
    this.#doubted = new IdBatcher(ids => this.#letGo(ids, repository => repository.hold(ids, againMs)))
  }

  /** The broker accepts messages. */
  get isConnected(): boolean {
    return this.#confirms !== undefined && !this.#isBlocked && !this.#isStopping
  }

  /** Newly stored jobs will be sent by this kernel at once. */
  get isTaking(): boolean {
    return this.isConnected && this.room > 0
  }

  /** How many more jobs it can hold. */
  get room(): number {
    return 2 * this.#parts.maxUnconfirmed - this.#leased.size
  }

  async up(model: ChannelModel): Promise<void> {
    const { link, maxUnconfirmed } = this.#parts
    this.#isBlocked = false
    this.#confirms = await PublisherConfirms.open(model, { maxUnconfirmed, closed: reason => link.reset(model, reason) })
  }

  down(): void {
    this.#confirms = undefined
    this.#freeReady()
  }

  blocked(isBlocked: boolean): void {
    this.#isBlocked = isBlocked
    if (isBlocked) this.#freeReady()
    else this.#pump()
  }

  /** Sends jobs that this kernel has claimed; their lease starts at `since`. */
  take(jobs: readonly StoredJob[], since: number): void {
    for (const job of jobs) {
      if (this.#leased.has(job.id)) continue
      const leased = { job, until: since + this.#parts.leaseMs }
      this.#leased.set(job.id, leased)
      this.#ready.push(leased)
    }
    if (this.isConnected) this.#pump()
    else this.#freeReady()
  }

  isHeld(id: string): boolean {
    return this.#leased.has(id)
  }

  /** Renews claims that take long, such as messages that a broker short of memory does not confirm. */
  async renew(): Promise<void> {
    const { leaseMs, repository } = this.#parts
    const since = performance.now()
    const late = [...this.#leased.values()].filter(({ until }) => until - since < leaseMs / 2)
    if (late.length === 0) return
    await repository.hold(
      late.map(({ job }) => job.id),
      leaseMs,
    )
    for (const leased of late) leased.until = since + leaseMs
  }

  /** Stops sending; resolves when pending jobs are confirmed and recorded, or after `limitMs`. */
  async stop(limitMs: number): Promise<void> {
    this.#isStopping = true
    this.#freeReady()
    const until = performance.now() + limitMs
    while (this.#leased.size > 0 && performance.now() < until) await pause(5)
  }

  #freeReady(): void {
    const ready = this.#ready
    this.#ready = []
    for (const { job } of ready) this.#given.add(job.id)
  }

  #pump(): void {
    if (this.#isPumping || this.#isStopping) return
    this.#isPumping = true
    this.#sendAll()
      .catch((error: unknown) => this.#parts.log.error('Failed to send jobs', { error }))
      .finally(() => {
        this.#isPumping = false
        if (this.#ready.length > 0 && this.isConnected) setImmediate(() => this.#pump())
      })
  }

  async #sendAll(): Promise<void> {
    while (this.#confirms && this.isConnected) {
      if (this.#confirms.isFull) {
        await this.#confirms.room
        continue
      }
      const leased = this.#ready.shift()
      if (!leased) return
      // Another kernel may have it by now.
      if (leased.until < performance.now()) this.#leased.delete(leased.job.id)
      else {
        const key = await this.#keyOf(leased)
        if (key !== undefined) this.#send(leased, key)
      }
    }
  }

  async #keyOf(held: LeasedJob): Promise<string | undefined> {
    try {
      const key = await this.#parts.keys.jobKey(held.job)
      if (key === undefined) this.#refuse(held, 'It has no owner, and no communication key is set (resources.users.commKey)')
      return key
    } catch (error) {
      if (error instanceof NotFound) this.#refuse(held, 'Its account was deleted')
      else {
        this.#parts.log.warn('Job delayed: failed to create its key', { jobId: held.job.id, error })
        this.#given.add(held.job.id)
      }
      return undefined
    }
  }

  #send(held: LeasedJob, secretKey: string): void {
    const { message, queue } = held.job
    // It may have been deleted while the key was read.
    if (!this.#confirms) return void this.#given.add(held.job.id)
    const content = Buffer.from(JSON.stringify({ ...message, secretKey }))
    this.#confirms.send(queue, held.job.id, content, this.#parts.replyTo(), outcome => this.#settle(held, outcome))
  }

  #settle(held: LeasedJob, outcome: SendOutcome): void {
    const { id } = held.job
    if (outcome === 'confirmed') this.#confirmed.add(id)
    // The broker may have it without having confirmed it.
    else if (outcome === 'lost') this.#doubted.add(id)
    // Without the name of the queue, which contains the key of a private extractor.
    else this.#refuse(held, 'The queue of this extractor does not exist on the broker: no extractor of this name has connected')
  }

  #refuse(held: LeasedJob, reason: string): void {
    const { job } = held
    this.#parts.metrics.count('rabbitmq_jobs_refused_total')
    this.#parts
      .refuse(job, reason)
      .catch(async (error: unknown) => {
        this.#parts.log.warn('Failed to report that a job cannot be sent; will be retried', {
          jobId: job.id,
          queue: maskQueue(job.queue),
          error,
        })
        await this.#parts.repository.postpone([job.id], refusedAgainMs)
      })
      .catch((error: unknown) => this.#parts.log.warn('Job delayed until its lease expires', { jobId: job.id, error }))
      .finally(() => this.#leased.delete(job.id))
  }

  async #noteSent(ids: readonly string[]): Promise<void> {
    try {
      await this.#parts.repository.sent(ids)
    } catch (error) {
      if (this.#isStopping) throw error
      this.#parts.log.warn('Failed to record sent jobs; will be retried', { jobs: ids.length, error })
      await pause(againMs)
      for (const id of ids) this.#confirmed.add(id)
      return
    }
    this.#parts.metrics.count('rabbitmq_jobs_sent_total', {}, ids.length)
    for (const id of ids) this.#leased.delete(id)
  }

  async #letGo(ids: readonly string[], note: (repository: RabbitJobRepository) => Promise<void>): Promise<void> {
    try {
      await note(this.#parts.repository)
    } catch (error) {
      this.#parts.log.warn('Jobs delayed until their lease expires', { jobs: ids.length, error })
    } finally {
      for (const id of ids) this.#leased.delete(id)
    }
  }
}
