import type { ChannelModel, ConfirmChannel, ConsumeMessage, Options } from 'amqplib'
import { type Keys, type Log, NotFound } from 'pounce/sdk'
import { parseJson } from 'pounce/sdk/kit'
import type { BrokerConnection } from './broker-connection.ts'
import { withBrokerTimeLimit } from './broker-time-limit.ts'
import type { StoredJob } from './bus-jobs.ts'
import { maskQueue } from './mask-keys.ts'
import { idsIn, messageLimits } from './message-ids.ts'
import { type Search, searchQueue } from './queue-search.ts'
import type { RabbitJobRepository } from './rabbit-job-repository.ts'

/** Dependencies of the error queues. */
export interface ErrorQueuesParts {
  readonly repository: RabbitJobRepository
  readonly link: BrokerConnection
  readonly keys: Keys
  readonly log: Log
  readonly leaseMs: number
  readonly timeoutMs: number
}

const batchSize = 200
const againMs = 10_000

/**
 * Requeues parked jobs from `error.<queue>` unchanged; only the key is replaced where it has expired, or an admin
 * requested that the job run again. Other messages are left in place. A job whose message no longer exists is sent again.
 */
export class ErrorQueues {
  #parts: ErrorQueuesParts

  constructor(parts: ErrorQueuesParts) {
    this.#parts = parts
  }

  /** Processes the parked jobs that are due. */
  async putBack(): Promise<void> {
    const { repository, link, leaseMs, log } = this.#parts
    const { model } = link
    if (!model) return
    const jobs = await repository.claim('parked', batchSize, leaseMs)
    for (const [queue, some] of Map.groupBy(jobs, job => job.queue)) {
      try {
        await this.#putBackFrom(model, queue, some)
      } catch (error) {
        log.warn('Jobs are kept in their error queue', { queue: maskQueue(queue), jobs: some.length, error })
        for (const job of some) await repository.become(job, 'parked', {}, againMs)
      }
    }
  }

  async #putBackFrom(model: ChannelModel, queue: string, jobs: readonly StoredJob[]): Promise<void> {
    const { timeoutMs, leaseMs } = this.#parts
    const left = new Map(jobs.map(job => [job.id, job]))
    const isWanted = (content: Buffer): boolean => idsIn(content).some(id => left.has(id))
    const limits = { timeMs: timeoutMs, answerMs: timeoutMs, wanted: jobs.length }
    const search = await searchQueue(model, `error.${queue}`, isWanted, limits)
    try {
      if (search) await withBrokerTimeLimit(this.#move(model, queue, search, left), leaseMs / 2)
    } finally {
      await search?.close()
    }
    for (const job of left.values()) {
      const isGone = !search || search.isComplete
      await this.#parts.repository.become(job, isGone ? 'unsent' : 'parked', {}, isGone ? 0 : againMs)
    }
  }

  async #move(model: ChannelModel, queue: string, search: Search, left: Map<string, StoredJob>): Promise<void> {
    const channel = await model.createConfirmChannel()
    const returned = new Set<string>()
    channel.on('error', () => undefined)
    channel.on('return', ({ content }) => {
      for (const id of idsIn(content)) returned.add(id)
    })
    try {
      for (const message of search.found) {
        const job = idsIn(message.content)
          .map(id => left.get(id))
          .find(found => found !== undefined)
        if (!job) continue
        const content = await withValidKey(this.#parts.keys, job, message.content)
        left.delete(job.id)
        if (content === undefined) {
          await this.#parts.repository.become(job, 'dead')
          continue
        }
        await publishAgain(channel, queue, message, content)
        // Without its queue it stays where it is.
        if (returned.has(job.id)) await this.#parts.repository.become(job, 'dead')
        else {
          await this.#parts.repository.become(job, 'sent')
          search.take(message)
          this.#parts.log.info('Job requeued from its error queue', { jobId: job.id, queue: maskQueue(queue), times: job.putBack })
        }
      }
    } finally {
      await channel.close().catch(() => undefined)
    }
  }
}

/** The properties that a message keeps when it is republished. */
const kept = [
  'contentType',
  'contentEncoding',
  'headers',
  'deliveryMode',
  'priority',
  'correlationId',
  'replyTo',
  'expiration',
  'messageId',
  'timestamp',
  'type',
  'appId',
] as const

/**
 * The message with a valid key. One that was rejected for a reason other than its age is left unchanged: after a change of credentials,
 * earlier jobs stay stopped until a user requests them again. Undefined when there is no user to create a key for.
 */
async function withValidKey(keys: Keys, job: StoredJob, content: Buffer): Promise<Buffer | undefined> {
  const text = content.toString('utf8')
  const { secretKey: old } = parseJson(text, messageLimits, 'The message') as { readonly secretKey?: unknown }
  const isManual = job.putBack === 0
  if (typeof old !== 'string' || (!isManual && !keys.isOutdated(old))) return content
  try {
    const key = await keys.jobKey(job)
    // Everything else stays as the extractor wrote it, including numbers that JavaScript cannot represent.
    return key === undefined ? undefined : Buffer.from(text.replaceAll(JSON.stringify(old), JSON.stringify(key)))
  } catch (error) {
    if (error instanceof NotFound) return undefined
    throw error
  }
}

/** Republishes a message, and resolves when the broker has confirmed it. */
function publishAgain(channel: ConfirmChannel, queue: string, { properties }: ConsumeMessage, content: Buffer): Promise<void> {
  const given = Object.fromEntries(
    kept.flatMap(name => (properties[name] === undefined ? [] : [[name, properties[name]]])),
  ) as Options.Publish
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  channel.publish('', queue, content, { ...given, mandatory: true }, error => (error ? reject(error) : resolve()))
  return promise
}
