import { configPort, Installation, Log, port, Unavailable, wire } from 'pounce/sdk'
import { config, type RabbitConfig } from './config.ts'
import { isRefusal, Link } from './link.ts'
import { textOf } from './text-of.ts'

/**
 * Two connections to the broker. One publishes, one listens: a broker that is short of memory stops reading from those who publish, and
 * acknowledgements must go through all the same.
 */
export class Broker {
  readonly publishing: Link
  readonly listening: Link
  #uri: string

  constructor({ uri, timeoutMs, heartbeatSeconds }: RabbitConfig, { instance }: Installation, log: Log) {
    const link = (name: string): Link => new Link({ uri, name: `pounce ${instance} ${name}`, timeoutMs, heartbeatSeconds }, log)
    this.#uri = uri
    this.publishing = link('publishing')
    this.listening = link('listening')
  }

  /** Called once all tenants are in. */
  async connect(): Promise<void> {
    checkUri(this.#uri)
    try {
      await Promise.all([this.publishing.start(), this.listening.start()])
    } catch (error) {
      await this.dispose()
      if (!isRefusal(error)) throw error
      throw new Error(`transport.rabbitmq.uri: the broker refuses this account or its vhost: ${reasonOf(error)}`, { cause: error })
    }
  }

  health(): void {
    const trouble = this.publishing.trouble ?? this.listening.trouble
    if (trouble !== undefined) throw new Unavailable(`The broker is not there, jobs wait: ${trouble}`)
  }

  async dispose(): Promise<void> {
    await Promise.all([this.publishing.dispose(), this.listening.dispose()])
  }
}
wire(Broker, configPort(config), Installation, Log)

/** Inside this plugin: the connections. */
export const BrokerPort = port<Broker>('rabbitmq.broker')

function checkUri(uri: string): void {
  const wrong = (what: string) => new Error(`transport.rabbitmq.uri: ${what}; it is like amqp://user:password@host:5672/%2f`)
  if (!URL.canParse(uri)) throw wrong('this is no address')
  const { protocol, hostname, pathname } = new URL(uri)
  if (protocol !== 'amqp:' && protocol !== 'amqps:') throw wrong(`it begins with ${protocol}//`)
  if (hostname === '') throw wrong('it names no host')
  if (pathname.slice(1).includes('/')) throw wrong('a slash in the name of a vhost is written %2f')
}

/** The broker's own words, out of what amqplib prints around them. */
const reasonOf = (error: unknown): string => /"((?:ACCESS_REFUSED|NOT_ALLOWED)[^"]*)"/.exec(textOf(error))?.[1] ?? textOf(error)
