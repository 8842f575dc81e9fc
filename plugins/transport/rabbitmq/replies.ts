import { setTimeout as pause } from 'node:timers/promises'
import type { Channel, ChannelModel, ConsumeMessage } from 'amqplib'
import type { Log, Metrics } from 'pounce/sdk'
import { isOutage, type JobStatus } from 'pounce/sdk/kit'
import type { BrokerConnection, ConnectionUser } from './broker-connection.ts'
import { jobIdIn } from './correlation-id.ts'
import { maskKeys } from './mask-keys.ts'
import { queueExists } from './queue-search.ts'
import { readReply } from './status-reply.ts'
import { textOf } from './text-of.ts'

const maxPauseMs = 5000

/** Dependencies of the replies. */
export interface RepliesParts {
  readonly link: BrokerConnection
  /** `clowder.<instance>`, shared by all kernels. */
  queue(): string
  readonly prefetch: number
  readonly log: Log
  readonly metrics: Metrics
  now(): Date
  /** Resolves when the reply is stored. Called again with the same reply when it rejects. `sentJob`: the job that its correlation id names, if any. */
  take(status: JobStatus, sentJob: string | undefined): Promise<void>
  /** Called before the queue is declared if the broker does not have it: it is new, or has lost its queues. */
  recover(): Promise<void>
}

/** Replies about jobs, from a queue that stores them while no kernel runs. Those of one job are processed one after the other. */
export class Replies implements ConnectionUser {
  #parts: RepliesParts
  #stopping = new AbortController()
  #channel: Channel | undefined
  #consumer: string | undefined
  #isWanted = false
  /** The last reply of each job that is being processed. */
  #lines = new Map<string, Promise<void>>()

  constructor(parts: RepliesParts) {
    this.#parts = parts
  }

  async up(model: ChannelModel): Promise<void> {
    const { queue, prefetch, log, link, recover } = this.#parts
    if (!(await queueExists(model, queue()))) await recover()
    const channel = await model.createChannel()
    channel.on('error', error => log.warn('Reply channel closed by the broker', { error }))
    channel.on('close', () => link.reset(model, 'the channel of replies was closed'))
    await channel.assertQueue(queue(), { durable: true })
    await channel.prefetch(prefetch)
    this.#channel = channel
    if (this.#isWanted) await this.#consume(model, channel)
  }

  down(): void {
    this.#channel = undefined
    this.#consumer = undefined
  }

  /** Sets the listener. */
  begin(): void {
    this.#isWanted = true
    const { model } = this.#parts.link
    const channel = this.#channel
    if (!model || !channel || this.#consumer !== undefined) return
    this.#consume(model, channel).catch((error: unknown) => this.#parts.link.reset(model, `replies: ${textOf(error)}`))
  }

  /** Stops consuming; resolves when replies in progress are acknowledged, or after `limitMs`. The others are redelivered. */
  async stop(limitMs: number): Promise<void> {
    const late = pause(limitMs)
    const cancelled = this.#consumer === undefined ? undefined : this.#channel?.cancel(this.#consumer)
    await Promise.race([Promise.resolve(cancelled).catch(() => undefined), late])
    await Promise.race([Promise.all(this.#lines.values()), late])
    this.#stopping.abort()
  }

  async #consume(model: ChannelModel, channel: Channel): Promise<void> {
    const take = (message: ConsumeMessage | null): void => {
      if (message) this.#received(channel, message)
      else this.#parts.link.reset(model, 'the reply queue was deleted')
    }
    this.#consumer = 'being made'
    const { consumerTag } = await channel.consume(this.#parts.queue(), take)
    this.#consumer = consumerTag
  }

  #received(channel: Channel, message: ConsumeMessage): void {
    const { now, log, metrics } = this.#parts
    metrics.count('rabbitmq_replies_total')
    let status: JobStatus
    try {
      status = readReply(message.content, now())
    } catch (error) {
      log.warn('Invalid extractor reply ignored', {
        // The error quotes what cannot be parsed.
        reason: maskKeys(textOf(error)),
        bytes: message.content.length,
        correlationId: message.properties.correlationId,
      })
      this.#acknowledge(channel, message)
      return
    }
    const line = status.jobId ?? `${status.targetId} ${status.extractor}`
    const before = this.#lines.get(line) ?? Promise.resolve()
    const done = before.then(() => this.#take(channel, message, status))
    this.#lines.set(line, done)
    done.finally(() => {
      if (this.#lines.get(line) === done) this.#lines.delete(line)
    })
  }

  /** Never rejects. A message that is not acknowledged is redelivered. */
  async #take(channel: Channel, message: ConsumeMessage, status: JobStatus): Promise<void> {
    const { signal } = this.#stopping
    try {
      await withRetry(() => this.#parts.take(status, jobIdIn(message.properties.correlationId)), signal)
    } catch (error) {
      if (signal.aborted) return
      // Left in the queue, it would block the others forever.
      this.#parts.log.error('Failed to process an extractor reply; it is dropped', { ...status, error })
    }
    this.#acknowledge(channel, message)
  }

  #acknowledge(channel: Channel, message: ConsumeMessage): void {
    if (channel !== this.#channel) return
    try {
      channel.ack(message)
    } catch (error) {
      this.#parts.log.debug('Reply will be redelivered: its channel was closed', { error })
    }
  }
}

/** Retries until the call succeeds: indefinitely while a service is unavailable, five times otherwise. Rejects with the last error, or when aborted. */
async function withRetry<T>(call: () => Promise<T>, signal: AbortSignal, firstMs = 200): Promise<T> {
  let delay = firstMs
  for (let failures = 0; ; ) {
    signal.throwIfAborted()
    try {
      return await call()
    } catch (error) {
      signal.throwIfAborted()
      if (!isOutage(error)) failures += 1
      if (failures >= 5) throw error
    }
    await pause(delay, undefined, { signal }).catch(() => signal.throwIfAborted())
    delay = Math.min(delay * 2, maxPauseMs)
  }
}
