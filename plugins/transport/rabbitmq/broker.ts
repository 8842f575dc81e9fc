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

  constructor({ uri, timeoutMs, heartbeatSeconds }: RabbitConfig, installation: Installation, log: Log) {
    // The installation has its name once the kernel has read its records.
    const named = (name: string) => () => `pounce ${installation.instance} ${name}`
    const link = (name: string): Link => new Link({ uri, name: named(name), timeoutMs, heartbeatSeconds }, log)
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
      throw new Error(`transport.rabbitmq.uri: the broker refuses ${this.#refused(error)}`, { cause: error })
    }
  }

  #refused(error: unknown): string {
    const { username, pathname } = new URL(this.#uri)
    const words = /ACCESS_REFUSED[^"]*/.exec(textOf(error))?.[0]
    if (words !== undefined) return `the account ${decodeURIComponent(username) || 'guest'}: ${words}`
    return `the vhost ${decodeURIComponent(pathname.slice(1)) || '/'}: it is not there, or not for this account`
  }

  health(): void {
    const trouble = this.publishing.trouble ?? this.listening.trouble
    if (trouble !== undefined) throw new Unavailable(`Jobs wait: ${trouble}`)
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
