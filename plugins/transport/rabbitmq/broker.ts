import { Installation, Log, type StatusPart, Unavailable, wire } from 'pounce/sdk'
import { maskedUri } from 'pounce/sdk/kit'
import { BrokerConnection, isRefusal } from './broker-connection.ts'
import { Config, type RabbitConfig } from './config.ts'
import { textOf } from './text-of.ts'

/**
 * Two connections to the broker, one to publish and one to consume: a broker that is short of memory stops reading from publishers, and
 * acknowledgements must still get through.
 */
export class Broker {
  readonly publishing: BrokerConnection
  readonly listening: BrokerConnection
  #addresses: Pick<RabbitConfig, 'uri' | 'managementUrl'>

  constructor({ uri, managementUrl, timeoutMs, heartbeatSeconds }: RabbitConfig, installation: Installation, log: Log) {
    // The name of the installation is known only after the kernel has read its records.
    const named = (name: string) => () => `pounce ${installation.instance} ${name}`
    const link = (name: string): BrokerConnection => new BrokerConnection({ uri, name: named(name), timeoutMs, heartbeatSeconds }, log)
    this.#addresses = { uri, ...(managementUrl !== undefined && { managementUrl }) }
    this.publishing = link('publishing')
    this.listening = link('listening')
  }

  /** Called once all tenants are added. */
  async connect(): Promise<void> {
    checkAddresses(this.#addresses)
    try {
      await Promise.all([this.publishing.start(), this.listening.start()])
    } catch (error) {
      await this.dispose()
      if (!isRefusal(error)) throw error
      throw new Error(`transport.rabbitmq.uri: the broker rejects ${this.#refused(error)}`, { cause: error })
    }
  }

  #refused(error: unknown): string {
    const { username, pathname } = new URL(this.#addresses.uri)
    const words = /ACCESS_REFUSED[^"]*/.exec(textOf(error))?.[0]
    if (words !== undefined) return `the account ${decodeURIComponent(username) || 'guest'}: ${words}`
    return `the vhost ${decodeURIComponent(pathname.slice(1)) || '/'}: it is not there, or not for this account`
  }

  health(): void {
    const trouble = this.publishing.trouble ?? this.listening.trouble
    if (trouble !== undefined) throw new Unavailable(`Jobs are waiting: ${trouble}`)
  }

  async dispose(): Promise<void> {
    await Promise.all([this.publishing.dispose(), this.listening.dispose()])
  }
}
wire(Broker, Config, Installation, Log)

function checkAddresses({ uri, managementUrl }: Pick<RabbitConfig, 'uri' | 'managementUrl'>): void {
  const wrong = (what: string) => new Error(`transport.rabbitmq.uri: ${what}; expected a URI like amqp://user:password@host:5672/%2f`)
  if (!URL.canParse(uri)) throw wrong('this is not a URL')
  const { protocol, hostname, pathname, username, password } = new URL(uri)
  if (protocol !== 'amqp:' && protocol !== 'amqps:') throw wrong(`it begins with ${protocol}//`)
  if (hostname === '') throw wrong('it names no host')
  if (pathname.slice(1).includes('/')) throw wrong('a slash in the name of a vhost is written %2f')
  if ([username, password, pathname].some(part => /%(?![0-9a-f]{2})/i.test(part))) throw wrong('a percent sign in it is written %25')
  if (managementUrl !== undefined && !(URL.canParse(managementUrl) && /^https?:/.test(managementUrl)))
    throw new Error('transport.rabbitmq.managementUrl must be a URL like http://host:15672')
}

/** The broker of jobs, for the status page. */
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
