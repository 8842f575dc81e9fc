import type { Channel, ChannelModel } from 'amqplib'
import { Invalid, Log, Unavailable, wire } from 'pounce/sdk'
import type { Broadcaster } from 'pounce/sdk/kit'
import { Broker } from './broker.ts'
import type { ConnectionUser } from './broker-connection.ts'

const exchange = 'pounce.broadcast'
const maxMessageBytes = 4096
/** Older hints are useless. */
const expirationMs = 10_000

/** Messages between the servers of an installation, through an exchange with a queue of its own for each server. */
export class RabbitBroadcaster implements Broadcaster, ConnectionUser {
  readonly #broker: Broker
  readonly #log: Log
  readonly #listeners = new Map<string, Set<(message: string) => void>>()
  #channel: Channel | undefined
  #queue = ''

  constructor(broker: Broker, log: Log) {
    this.#broker = broker
    this.#log = log
    broker.listening.serve(this)
  }

  /** The queue ends with the connection: messages sent meanwhile are lost. */
  async up(model: ChannelModel): Promise<void> {
    const channel = await model.createChannel()
    channel.on('error', error => this.#log.warn('Broadcast channel closed by the broker', { error }))
    channel.on('close', () => this.#broker.listening.reset(model, 'the broadcast channel was closed'))
    await channel.assertExchange(exchange, 'direct', { durable: false })
    const { queue } = await channel.assertQueue('', { exclusive: true, autoDelete: true })
    this.#queue = queue
    for (const topic of this.#listeners.keys()) await channel.bindQueue(queue, exchange, topic)
    await channel.consume(
      queue,
      received => {
        if (!received) return
        const message = received.content.toString()
        for (const listener of this.#listeners.get(received.fields.routingKey) ?? []) listener(message)
      },
      { noAck: true },
    )
    this.#channel = channel
  }

  down(): void {
    this.#channel = undefined
  }

  async send(topic: string, message: string): Promise<void> {
    const content = Buffer.from(message)
    if (content.length > maxMessageBytes) throw new Invalid(`A broadcast must have at most ${maxMessageBytes} bytes, not ${content.length}`)
    if (!this.#channel) throw new Unavailable('The broker is unavailable')
    this.#channel.publish(exchange, topic, content, { expiration: expirationMs })
  }

  listen(topic: string, listener: (message: string) => void): () => void {
    const listeners = this.#listeners.get(topic) ?? new Set()
    this.#listeners.set(topic, listeners)
    listeners.add(listener)
    this.#channel
      ?.bindQueue(this.#queue, exchange, topic)
      .catch((error: unknown) => this.#log.debug('Failed to bind a topic', { topic, error }))
    return () => listeners.delete(listener)
  }
}
wire(RabbitBroadcaster, Broker, Log)
