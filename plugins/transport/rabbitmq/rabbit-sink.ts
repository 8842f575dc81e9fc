import type { ChannelModel, ConfirmChannel } from 'amqplib'
import { type EventSink, Invalid, Log, Unavailable, wire } from 'pounce/sdk'
import type { SinkRecord } from 'pounce/sdk/kit'
import { Broker } from './broker.ts'
import { withBrokerTimeLimit } from './broker-time-limit.ts'
import { Config, type RabbitConfig } from './config.ts'
import { textOf } from './text-of.ts'

const maxRecords = 1000

/** Publishes records to the exchange `clowder.metrics` as Clowder 1.x does (reference, extraction §6.4). */
export class RabbitSink implements EventSink {
  #config: RabbitConfig
  #broker: Broker
  #log: Log
  #open: { readonly model: ChannelModel; readonly channel: Promise<ConfirmChannel> } | undefined

  constructor(config: RabbitConfig, broker: Broker, log: Log) {
    this.#config = config
    this.#broker = broker
    this.#log = log
  }

  async publish(records: readonly SinkRecord[]): Promise<void> {
    if (records.length > maxRecords) throw new Invalid(`At most ${maxRecords} records can be published at once, not ${records.length}`)
    if (records.length === 0) return
    const { model, isBlocked } = this.#broker.publishing
    if (!model) throw new Unavailable('The broker is unavailable')
    if (isBlocked) throw new Unavailable('The broker is blocking publishers')
    try {
      await withBrokerTimeLimit(this.#send(model, records), this.#config.timeoutMs)
    } catch (error) {
      throw new Unavailable(`The broker rejected the records: ${textOf(error)}`, { cause: error })
    }
  }

  async #send(model: ChannelModel, records: readonly SinkRecord[]): Promise<void> {
    const channel = await this.#channelOn(model)
    const { exchange, queue } = this.#config.eventSink
    const confirms = records.map(record => {
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      channel.publish(exchange, queue, Buffer.from(JSON.stringify(record)), {}, error => (error ? reject(error) : resolve()))
      return promise
    })
    await Promise.all(confirms)
  }

  #channelOn(model: ChannelModel): Promise<ConfirmChannel> {
    if (this.#open?.model !== model) {
      const channel = this.#declare(model)
      this.#open = { model, channel }
      channel.catch(() => {
        this.#open = undefined
      })
    }
    return this.#open.channel
  }

  async #declare(model: ChannelModel): Promise<ConfirmChannel> {
    const { exchange, queue } = this.#config.eventSink
    const channel = await model.createConfirmChannel()
    channel.on('error', error => this.#log.warn('Event sink channel closed by the broker', { error }))
    channel.on('close', () => {
      this.#open = undefined
    })
    await channel.assertExchange(exchange, 'fanout', { durable: true })
    if (queue !== '') {
      await channel.assertQueue(queue, { durable: true })
      await channel.bindQueue(queue, exchange, queue)
    }
    return channel
  }
}
wire(RabbitSink, Config, Broker, Log)
