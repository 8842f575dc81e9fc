import { type Channel, type ChannelModel, connect } from 'amqplib'

/** A consumer of the event sink like those of Clowder: a separate queue bound to the fanout exchange. */
export class SinkQueue {
  #model: ChannelModel
  #channel: Channel
  #queue: string
  #seen: Record<string, unknown>[] = []

  private constructor(model: ChannelModel, channel: Channel, queue: string) {
    this.#model = model
    this.#channel = channel
    this.#queue = queue
  }

  static async open(broker: string): Promise<SinkQueue> {
    const model = await connect(broker)
    const channel = await model.createChannel()
    await channel.assertExchange('clowder.metrics', 'fanout', { durable: true })
    const { queue } = await channel.assertQueue('', { exclusive: true })
    await channel.bindQueue(queue, 'clowder.metrics', '')
    return new SinkQueue(model, channel, queue)
  }

  /** All records so far, in order. */
  async records(): Promise<readonly Readonly<Record<string, unknown>>[]> {
    for (
      let message = await this.#channel.get(this.#queue, { noAck: true });
      message;
      message = await this.#channel.get(this.#queue, { noAck: true })
    )
      this.#seen.push(JSON.parse(message.content.toString()) as Record<string, unknown>)
    return this.#seen
  }

  close(): Promise<void> {
    return this.#model.close()
  }
}
