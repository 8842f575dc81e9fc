import type { ChannelModel, ConfirmChannel } from 'amqplib'
import { correlationIdOf } from './correlation-id.ts'

/** Result of a message: confirmed, returned (no such queue), or unknown. */
export type SendOutcome = 'confirmed' | 'no queue' | 'lost'

const maxBytes = 32 * 2 ** 20

/** Publishes persistent messages to queues on one channel, and tracks the broker's confirms. */
export class PublisherConfirms {
  #channel: ConfirmChannel
  #maxUnconfirmed: number
  #waiting = new Map<string, { readonly bytes: number; readonly done: (outcome: SendOutcome) => void }>()
  #bytes = 0
  /** IDs of returned messages; the broker confirms them right after. */
  #returned = new Set<string>()
  #room = Promise.withResolvers<void>()

  private constructor(channel: ConfirmChannel, maxUnconfirmed: number) {
    this.#channel = channel
    this.#maxUnconfirmed = maxUnconfirmed
    channel.on('return', ({ properties }) => this.#returned.add(String(properties.correlationId)))
  }

  /** `closed` is called once the channel has ended and every message has a result. */
  static async open(
    model: ChannelModel,
    options: { readonly maxUnconfirmed: number; readonly closed: (reason: string) => void },
  ): Promise<PublisherConfirms> {
    const channel = await model.createConfirmChannel()
    let reason = 'the channel that sends jobs was closed'
    channel.on('error', error => {
      reason = String(error)
    })
    channel.on('close', () => options.closed(reason))
    return new PublisherConfirms(channel, options.maxUnconfirmed)
  }

  get isFull(): boolean {
    return this.#waiting.size >= this.#maxUnconfirmed || this.#bytes > maxBytes
  }

  /** Resolves when a message has a result. */
  get room(): Promise<void> {
    return this.#room.promise
  }

  /** Sends a message as Clowder 1.x does (reference, extraction §1.2). `done` is called once. */
  send(queue: string, jobId: string, content: Buffer, replyTo: string, done: (outcome: SendOutcome) => void): void {
    const correlationId = correlationIdOf(jobId)
    this.#waiting.set(correlationId, { bytes: content.length, done })
    this.#bytes += content.length
    const properties = { mandatory: true, persistent: true, contentType: 'application/json', correlationId, replyTo }
    try {
      this.#channel.publish('', queue, content, properties, error => this.#settle(correlationId, error))
    } catch (error) {
      // The channel has just been closed.
      this.#settle(correlationId, error)
    }
  }

  #settle(correlationId: string, error: unknown): void {
    const message = this.#waiting.get(correlationId)
    if (!message) return
    this.#waiting.delete(correlationId)
    this.#bytes -= message.bytes
    this.#room.resolve()
    this.#room = Promise.withResolvers()
    message.done(error ? 'lost' : this.#returned.delete(correlationId) ? 'no queue' : 'confirmed')
  }
}
