import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { ChannelModel, ConfirmChannel } from 'amqplib'
import { type Log, type Metrics, NotFound } from 'pounce/sdk'
import type { BusBook } from './bus-book.ts'
import type { StoredJob } from './bus-jobs.ts'
import { Gathering } from './gathering.ts'
import type { JobKeys } from './job-keys.ts'
import type { Link, Tenant } from './link.ts'

/** What the sender needs around it. */
export interface SenderParts {
  readonly link: Link
  readonly book: BusBook
  readonly keys: JobKeys
  readonly log: Log
  readonly metrics: Metrics
  /** Where extractors reply to. */
  replyTo(): string
  readonly mostUnconfirmed: number
  readonly leaseMs: number
  /** Tells of a job that cannot be sent, and forgets it. Rejects when nobody heard: the job is then tried again. */
  refuse(job: StoredJob, reason: string): Promise<void>
}

interface Held {
  readonly job: StoredJob
  /** In the time of `performance.now`; until then no other kernel sends it. */
  until: number
}

const mostBytesUnconfirmed = 32 * 2 ** 20
const againMs = 1000
const refusedAgainMs = 5000

/** Hands jobs to the broker, many at a time, and notes which ones it has. A job stays held from its claim until that is noted. */
export class Sender implements Tenant {
  #parts: SenderParts
  #channel: ConfirmChannel | undefined
  #isBlocked = false
  #isStopping = false
  #held = new Map<string, Held>()
  #ready: Held[] = []
  #unconfirmed = new Map<string, { readonly held: Held; readonly bytes: number }>()
  #bytes = 0
  #returned = new Set<string>()
  #isPumping = false
  /** Resolved when a confirm makes room. */
  #room = Promise.withResolvers<void>()
  #confirmed: Gathering
  #given: Gathering

  constructor(parts: SenderParts) {
    this.#parts = parts
    this.#confirmed = new Gathering(ids => this.#noteSent(ids))
    this.#given = new Gathering(ids => this.#giveBack(ids))
  }

  /** The broker takes messages. */
  get isConnected(): boolean {
    return this.#channel !== undefined && !this.#isBlocked && !this.#isStopping
  }

  /** Jobs that are stored now will be sent by this kernel at once. */
  get isTaking(): boolean {
    return this.isConnected && this.room > 0
  }

  /** How many more jobs it can hold. */
  get room(): number {
    return 2 * this.#parts.mostUnconfirmed - this.#held.size
  }

  async up(model: ChannelModel): Promise<void> {
    const channel = await model.createConfirmChannel()
    channel.on('error', error => this.#parts.log.warn('the broker closed the channel that sends jobs', { error }))
    channel.on('return', ({ properties }) => this.#returned.add(String(properties.correlationId)))
    channel.on('close', () => this.#parts.link.reset(model, 'the channel that sends jobs was closed'))
    this.#channel = channel
    this.#isBlocked = false
  }

  down(): void {
    this.#channel = undefined
    this.#returned.clear()
    this.#freeReady()
    this.#makeRoom()
  }

  blocked(isBlocked: boolean): void {
    this.#isBlocked = isBlocked
    if (isBlocked) this.#freeReady()
    else this.#pump()
  }

  /** Sends jobs that this kernel has claimed for the lease, counted from `since`. */
  take(jobs: readonly StoredJob[], since: number): void {
    for (const job of jobs) {
      if (this.#held.has(job.id)) continue
      const held = { job, until: since + this.#parts.leaseMs }
      this.#held.set(job.id, held)
      this.#ready.push(held)
    }
    if (this.#channel && !this.#isBlocked) this.#pump()
    else this.#freeReady()
  }

  isHeld(id: string): boolean {
    return this.#held.has(id)
  }

  /** Keeps other kernels off what takes long, such as messages that a broker short of memory does not confirm. */
  async renew(): Promise<void> {
    const { leaseMs, book } = this.#parts
    const since = performance.now()
    const late = [...this.#held.values()].filter(({ until }) => until - since < leaseMs / 2)
    if (late.length === 0) return
    await book.hold(
      late.map(({ job }) => job.id),
      leaseMs,
    )
    for (const held of late) held.until = since + leaseMs
  }

  /** Sends nothing more; resolves when what is under way is confirmed and noted, or after `limitMs`. */
  async stop(limitMs: number): Promise<void> {
    this.#isStopping = true
    this.#freeReady()
    const until = performance.now() + limitMs
    while (this.#held.size > 0 && performance.now() < until) await pause(5)
  }

  #freeReady(): void {
    const ready = this.#ready
    this.#ready = []
    for (const { job } of ready) this.#given.add(job.id)
  }

  #makeRoom(): void {
    this.#room.resolve()
    this.#room = Promise.withResolvers()
  }

  #pump(): void {
    if (this.#isPumping || this.#isStopping) return
    this.#isPumping = true
    this.#sendAll()
      .catch((error: unknown) => this.#parts.log.error('sending jobs failed', { error }))
      .finally(() => {
        this.#isPumping = false
        if (this.#ready.length > 0 && this.#channel && !this.#isBlocked) setImmediate(() => this.#pump())
      })
  }

  async #sendAll(): Promise<void> {
    while (this.#channel && !this.#isBlocked && !this.#isStopping) {
      if (this.#unconfirmed.size >= this.#parts.mostUnconfirmed || this.#bytes > mostBytesUnconfirmed) {
        await this.#room.promise
        continue
      }
      const held = this.#ready.shift()
      if (!held) return
      // Someone else may have it by now.
      if (held.until < performance.now()) this.#held.delete(held.job.id)
      else {
        const key = this.#parts.keys.known(held.job.user) ?? (await this.#keyOf(held))
        if (key !== undefined) this.#send(held, key)
      }
    }
  }

  async #keyOf(held: Held): Promise<string | undefined> {
    const { user } = held.job
    try {
      const key = await this.#parts.keys.of(user)
      if (key === undefined) this.#refuse(held, 'It belongs to nobody, and no service key is set (resources.users.commKey)')
      return key
    } catch (error) {
      if (error instanceof NotFound) this.#refuse(held, 'The account it was to run for is gone')
      else {
        this.#parts.log.warn('a job waits: the key of its user could not be read', { jobId: held.job.id, error })
        this.#given.add(held.job.id)
      }
      return undefined
    }
  }

  #send(held: Held, secretKey: string): void {
    const { job } = held
    const channel = this.#channel
    if (!channel) return void this.#given.add(job.id)
    const correlationId = randomUUID()
    const content = Buffer.from(JSON.stringify({ ...job.message, secretKey }))
    this.#unconfirmed.set(correlationId, { held, bytes: content.length })
    this.#bytes += content.length
    const properties = {
      mandatory: true,
      persistent: true,
      contentType: 'application/json',
      correlationId,
      replyTo: this.#parts.replyTo(),
    }
    try {
      channel.publish('', job.queue, content, properties, error => this.#settle(correlationId, error))
    } catch (error) {
      // The channel has just been closed.
      this.#settle(correlationId, error)
    }
  }

  #settle(correlationId: string, error: unknown): void {
    const sent = this.#unconfirmed.get(correlationId)
    if (!sent) return
    const { held, bytes } = sent
    this.#unconfirmed.delete(correlationId)
    this.#bytes -= bytes
    this.#makeRoom()
    if (error) this.#given.add(held.job.id)
    else if (this.#returned.delete(correlationId))
      this.#refuse(held, `There is no queue ${held.job.queue} on the message bus: no extractor of this name has connected to it`)
    else this.#confirmed.add(held.job.id)
  }

  #refuse(held: Held, reason: string): void {
    const { job } = held
    this.#parts.metrics.count('rabbitmq_jobs_refused_total')
    this.#parts
      .refuse(job, reason)
      .catch(async (error: unknown) => {
        this.#parts.log.warn('nobody heard that a job cannot be sent; it is tried again', { jobId: job.id, queue: job.queue, error })
        await this.#parts.book.postpone([job.id], refusedAgainMs)
      })
      .catch((error: unknown) => this.#parts.log.warn('a job waits until its lease ends', { jobId: job.id, error }))
      .finally(() => this.#held.delete(job.id))
  }

  async #noteSent(ids: readonly string[]): Promise<void> {
    try {
      await this.#parts.book.sent(ids)
    } catch (error) {
      if (this.#isStopping) throw error
      this.#parts.log.warn('it could not be noted that jobs were sent; it is tried again', { jobs: ids.length, error })
      await pause(againMs)
      for (const id of ids) this.#confirmed.add(id)
      return
    }
    this.#parts.metrics.count('rabbitmq_jobs_sent_total', {}, ids.length)
    for (const id of ids) this.#held.delete(id)
  }

  async #giveBack(ids: readonly string[]): Promise<void> {
    try {
      await this.#parts.book.postpone(ids, this.#channel ? againMs : 0)
    } catch (error) {
      this.#parts.log.warn('jobs wait until their lease ends', { jobs: ids.length, error })
    } finally {
      for (const id of ids) this.#held.delete(id)
    }
  }
}
