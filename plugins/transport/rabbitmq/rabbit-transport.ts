import type { ChannelModel } from 'amqplib'
import { Clock, DocumentStore, Installation, Invalid, Keys, Log, Metrics, type Transport, wire } from 'pounce/sdk'
import type { Job, JobStatus, QueueStatistics, TransportListener } from 'pounce/sdk/kit'
import { Broker } from './broker.ts'
import type { StoredJob } from './bus-jobs.ts'
import { Config, type RabbitConfig } from './config.ts'
import { DowntimeLog } from './downtime-log.ts'
import { ErrorQueues } from './error-queues.ts'
import { Heartbeats, heartbeatExchange } from './heartbeats.ts'
import { JobCancellation } from './job-cancellation.ts'
import { JobSender } from './job-sender.ts'
import { JobStatusUpdates } from './job-status-updates.ts'
import { Management } from './management.ts'
import { maskQueue } from './mask-keys.ts'
import { queueStatistics } from './queue-statistics.ts'
import { RabbitBus } from './rabbit-bus.ts'
import { RabbitJobRepository } from './rabbit-job-repository.ts'
import { Replies } from './replies.ts'
import { UnconfirmedJobs } from './unconfirmed-jobs.ts'
import { UnsentJobs } from './unsent-jobs.ts'

/** Keeps the most recently added strings. */
class RecentTexts {
  #maxSize: number
  /** Oldest first. */
  #texts = new Set<string>()

  constructor(maxSize: number) {
    this.#maxSize = maxSize
  }

  has(text: string): boolean {
    return this.#texts.has(text)
  }

  add(text: string): void {
    this.#texts.add(text)
    for (const oldest of this.#texts) {
      if (this.#texts.size <= this.#maxSize) return
      this.#texts.delete(oldest)
    }
  }
}

const maxJobs = 1000
const doubtfulSearchMs = 2000
/** Extractors that lost the broker, too, declare their queues within this time. */
const recreationMs = 60_000
const nothingRuns: ReadonlySet<string> = new Set()

/** Jobs over RabbitMQ in Clowder 1.x's wire format. They stay in the document store until an extractor has finished them. */
export class RabbitTransport implements Transport {
  readonly kind = 'rabbitmq'
  readonly bus: RabbitBus
  #config: RabbitConfig
  #broker: Broker
  #isWorker: boolean
  #clock: Clock
  #log: Log
  #repository: RabbitJobRepository
  #sender: JobSender
  #statusUpdates: JobStatusUpdates
  #replies: Replies
  #heartbeats: Heartbeats
  #cancelling: JobCancellation
  #outages: DowntimeLog
  #sweeping: UnsentJobs
  #listener: TransportListener | undefined
  /** Recently finished jobs: a publisher that repeats itself must not run them again. */
  #over = new RecentTexts(10_000)

  constructor(
    config: RabbitConfig,
    broker: Broker,
    installation: Installation,
    documents: DocumentStore,
    keys: Keys,
    clock: Clock,
    log: Log,
    metrics: Metrics,
  ) {
    const { prefetch, maxUnconfirmed, leaseMs, sweepMs, timeoutMs, cancelSearchMs, uri, managementUrl } = config
    const { listening, publishing } = broker
    const { roles } = installation
    // The name of the installation is known only after the kernel has read its records.
    const replyTo = (): string => `clowder.${installation.instance}`
    const now = (): Date => clock.now()
    this.#config = config
    this.#broker = broker
    this.#isWorker = roles.has('worker')
    this.#clock = clock
    this.#log = log
    this.#repository = new RabbitJobRepository(documents, now)
    const refuse = (job: StoredJob, reason: string) => this.#refuse(job, reason)
    this.#sender = new JobSender({
      link: publishing,
      repository: this.#repository,
      keys,
      log,
      metrics,
      replyTo,
      maxUnconfirmed,
      leaseMs,
      refuse,
    })
    this.#outages = new DowntimeLog(documents, roles.has('http'), now, log)
    this.#statusUpdates = new JobStatusUpdates(
      this.#repository,
      at => this.#outages.include(at),
      id => this.#over.add(id),
    )
    const take = (status: JobStatus, sentJob?: string) => this.#statusUpdates.take(this.#received(), status, sentJob)
    const recover = async (): Promise<void> => {
      const jobs = await this.#repository.recheckSent(recreationMs)
      if (jobs > 0) log.warn('The broker has lost its queues; jobs that are not in them a minute from now are sent again', { jobs })
    }
    this.#replies = new Replies({ link: listening, queue: replyTo, prefetch, log, metrics, now, take, recover })
    this.#heartbeats = new Heartbeats({ link: listening, log, metrics, take: heartbeat => this.#received().heartbeat(heartbeat) })
    const management = new Management({ uri, managementUrl, timeoutMs })
    this.bus = new RabbitBus(management, config.exchange, replyTo, log)
    this.#cancelling = new JobCancellation(this.#repository, listening, management, log, { searchMs: cancelSearchMs, timeoutMs })
    const errorQueues = this.#isWorker
      ? new ErrorQueues({ repository: this.#repository, link: publishing, keys, log, leaseMs, timeoutMs })
      : undefined
    const doubtful = new UnconfirmedJobs({ repository: this.#repository, link: publishing, log, searchMs: doubtfulSearchMs, timeoutMs })
    this.#sweeping = new UnsentJobs({ repository: this.#repository, sender: this.#sender, doubtful, errorQueues, log, leaseMs, sweepMs })
    publishing.serve(this.#sender)
    publishing.serve(this.#sweeping)
  }

  /** Also resolves without a broker: jobs then wait. Rejects when the broker rejects the credentials or vhost. */
  async start(): Promise<void> {
    const { listening } = this.#broker
    const { exchange, primary } = this.#config
    listening.serve({ up: model => declareExchanges(model, exchange), down: () => undefined })
    if (this.#isWorker) {
      listening.serve(this.#replies)
      if (primary) listening.serve(this.#heartbeats)
    }
    listening.serve(this.bus)
    await this.#outages.start()
    this.#sweeping.start()
    try {
      await this.#broker.connect()
    } catch (error) {
      this.#sweeping.stop()
      this.#outages.stop()
      throw error
    }
  }

  health(): void {
    this.#broker.health()
  }

  runs(): ReadonlySet<string> {
    return nothingRuns
  }

  async publish(jobs: readonly Job[]): Promise<void> {
    if (jobs.length > maxJobs) throw new Invalid(`At most ${maxJobs} jobs can be published at once, not ${jobs.length}`)
    const { isTaking } = this.#sender
    const since = performance.now()
    const added = await this.#repository.add(
      jobs.filter(({ id }) => !this.#over.has(id)),
      isTaking ? this.#config.leaseMs : 0,
    )
    if (added.length === 0) return
    if (isTaking) this.#sender.take(added, since)
    else this.#sweeping.kick()
  }

  async listen(listener: TransportListener): Promise<void> {
    if (this.#listener) throw new Error('transport.rabbitmq has a listener already')
    this.#listener = listener
    if (!this.#isWorker) return
    this.#replies.begin()
    if (this.#config.primary) this.#heartbeats.begin()
  }

  async cancel(jobId: string): ReturnType<Transport['cancel']> {
    const outcome = await this.#cancelling.cancel(jobId)
    if (outcome === 'cancelled') this.#over.add(jobId)
    return outcome
  }

  queues(): Promise<readonly QueueStatistics[]> {
    const { model } = this.#broker.listening
    const alsoNamed = [...this.bus.queues, ...this.#heartbeats.queues]
    return queueStatistics({ repository: this.#repository, model, alsoNamed, timeoutMs: this.#config.timeoutMs, log: this.#log })
  }

  pending(target: Job['target']): ReturnType<Transport['pending']> {
    return this.#repository.pending(target)
  }

  async revive(jobId: string): Promise<boolean> {
    const job = await this.#repository.get(jobId)
    if (job?.state !== 'dead' || !(await this.#repository.become(job, 'parked', { putBack: 0 }))) return false
    this.#sweeping.kick()
    return true
  }

  async dispose(): Promise<void> {
    this.#sweeping.stop()
    this.#outages.stop()
    await Promise.all([this.#replies.stop(3000), this.#heartbeats.stop(1000), this.#sender.stop(4000)])
  }

  #received(): TransportListener {
    if (!this.#listener) throw new Error('transport.rabbitmq has no listener yet')
    return this.#listener
  }

  /** Reports that a job will never run. */
  async #refuse(job: StoredJob, reason: string): Promise<void> {
    await this.#received().status({
      jobId: job.id,
      targetId: job.target.id,
      // The listener knows the extractor by the job.
      extractor: maskQueue(job.queue),
      status: `StatusMessage.error: ${reason}`,
      at: this.#clock.now(),
    })
    if (await this.#repository.remove(job.id)) this.#over.add(job.id)
  }
}
wire(RabbitTransport, Config, Broker, Installation, DocumentStore, Keys, Clock, Log, Metrics)

/** Declared by both sides: on a new broker, whichever connects first creates it. */
async function declareExchanges(model: ChannelModel, exchange: string): Promise<void> {
  const channel = await model.createChannel()
  channel.on('error', () => undefined)
  await channel.assertExchange(heartbeatExchange, 'fanout', { durable: true })
  if (exchange !== '') await channel.assertExchange(exchange, 'topic', { durable: true })
  await channel.close()
}
