import type { ChannelModel, ConfirmChannel, ConsumeMessage, Options } from 'amqplib'
import type { Log } from 'pounce/sdk'
import type { BusBook } from './bus-book.ts'
import type { StoredJob } from './bus-jobs.ts'
import type { Link } from './link.ts'
import { idsIn } from './message-ids.ts'
import { type Search, searchQueue } from './queue-search.ts'
import { within } from './within.ts'

/** What the error queues need around them. */
export interface ErrorQueuesParts {
  readonly book: BusBook
  readonly link: Link
  readonly log: Log
  readonly leaseMs: number
  readonly timeoutMs: number
}

const batch = 200
const againMs = 10_000

/**
 * Puts parked jobs back from `error.<queue>` into their queue, as they lie there. Messages of others stay where they are. A job that is not
 * there any more is sent anew.
 */
export class ErrorQueues {
  #parts: ErrorQueuesParts

  constructor(parts: ErrorQueuesParts) {
    this.#parts = parts
  }

  /** Deals with the parked jobs whose time has come. */
  async putBack(): Promise<void> {
    const { book, link, leaseMs, log } = this.#parts
    const { model } = link
    if (!model) return
    const jobs = await book.claim('parked', batch, leaseMs)
    for (const [queue, some] of Map.groupBy(jobs, job => job.queue)) {
      try {
        await this.#putBackFrom(model, queue, some)
      } catch (error) {
        log.warn('jobs stay in their error queue for now', { queue, jobs: some.length, error })
        for (const job of some) await book.become(job, 'parked', {}, againMs)
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
      if (search) await within(this.#move(model, queue, search, left), leaseMs / 2)
    } finally {
      await search?.close()
    }
    for (const job of left.values()) {
      const isGone = !search || search.isComplete
      await this.#parts.book.become(job, isGone ? 'unsent' : 'parked', {}, isGone ? 0 : againMs)
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
        await publishAgain(channel, queue, message)
        left.delete(job.id)
        // Without its queue it stays aside.
        if (returned.has(job.id)) await this.#parts.book.become(job, 'dead')
        else {
          await this.#parts.book.become(job, 'sent')
          search.take(message)
          this.#parts.log.info('a job was put back out of its error queue', { jobId: job.id, queue, times: job.putBack })
        }
      }
    } finally {
      await channel.close().catch(() => undefined)
    }
  }
}

/** The properties that a message keeps when it is published again. */
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

/** Publishes a message as it is, and resolves when the broker has it. */
function publishAgain(channel: ConfirmChannel, queue: string, { content, properties }: ConsumeMessage): Promise<void> {
  const given = Object.fromEntries(
    kept.flatMap(name => (properties[name] === undefined ? [] : [[name, properties[name]]])),
  ) as Options.Publish
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  channel.publish('', queue, content, { ...given, mandatory: true }, error => (error ? reject(error) : resolve()))
  return promise
}
