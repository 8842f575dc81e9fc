import { maskedUri, type StatusPart, wire } from 'pounce/sdk'
import { Broker } from './broker.ts'
import { Config, type RabbitConfig } from './config.ts'

/** Which broker carries jobs, for the status page. */
export class RabbitStatus implements StatusPart {
  readonly name = 'rabbitmq'
  readonly details: Readonly<Record<string, string>>
  readonly #broker: Broker

  constructor({ uri, exchange }: RabbitConfig, broker: Broker) {
    this.#broker = broker
    this.details = { uri: maskedUri(uri), exchange }
  }

  async check(): Promise<undefined> {
    this.#broker.health()
  }
}
wire(RabbitStatus, Config, Broker)
