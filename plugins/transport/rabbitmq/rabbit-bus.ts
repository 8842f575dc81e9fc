import type { ChannelModel } from 'amqplib'
import type { Log } from 'pounce/sdk'
import { type Bus, type BusListener, takesOperation } from 'pounce/sdk/kit'
import type { ConnectionUser } from './broker-connection.ts'
import type { Management } from './management.ts'
import { textOf } from './text-of.ts'

/** A queue bound to the exchange `clowder`. */
export interface Binding {
  readonly queue: string
  readonly key: string
}

/** The pattern in `process` from which pyclowder before 3 made the rest of a binding key: a `*` at its end became `#` (reference, extraction §1.5). */
const patternOf = (rest: string): string => {
  if (rest === '#') return '*'
  if (!rest.endsWith('.#')) return rest
  const before = rest.slice(0, -2)
  // `image.jpeg.#` matches this prefix: nothing follows the subtype.
  return before.includes('.') ? before : `${before}.*`
}

/** Whether a binding key matches a routing key. As in Clowder 1.x, only keys that leave the exchange open do: `*.file.image.#`. */
const takesRoutingKey = (key: string, routingKey: string): boolean => {
  const [exchange, kind, ...rest] = key.split('.')
  const [, ownKind, ...operation] = routingKey.split('.')
  return exchange === '*' && kind === ownKind && takesOperation(patternOf(rest.join('.')), operation.join('.'))
}

/** Queues that a routing key goes to, each once, by name. */
export const boundQueues = (bindings: readonly Binding[], routingKey: string): readonly string[] =>
  [...new Set(bindings.filter(({ key }) => takesRoutingKey(key, routingKey)).map(({ queue }) => queue))].sort()

/** Third fragments of the keys, each once, by name. */
export const inputTypesOf = (bindings: readonly Binding[]): readonly string[] =>
  [...new Set(bindings.flatMap(({ key }) => key.split('.')[2] ?? []))].filter(type => type !== '' && type !== '#' && type !== '*').sort()

const everyMs = 5 * 60_000
const maxListeners = 1000

interface Known {
  readonly bindings: readonly Binding[]
  readonly listeners: readonly BusListener[]
}

const nothing: Known = { bindings: [], listeners: [] }

/**
 * What the management plugin reports about old extractors, read at each connect and every five minutes; empty until the first answer. Bindings
 * are kept while the broker is unavailable, so that jobs for their queues wait like all others.
 */
export class RabbitBus implements Bus, ConnectionUser {
  #management: Management
  #exchange: string
  #ownQueue: () => string
  #log: Log
  #known: Known = nothing
  #reading: Promise<void> = Promise.resolve()
  #timer: NodeJS.Timeout | undefined
  #isWarned = false

  constructor(management: Management, exchange: string, ownQueue: () => string, log: Log) {
    this.#management = management
    this.#exchange = exchange
    this.#ownQueue = ownQueue
    this.#log = log
  }

  async up(_model: ChannelModel): Promise<void> {
    this.#reading = this.#read()
    this.#timer = setInterval(() => {
      this.#reading = this.#read()
    }, everyMs).unref()
  }

  down(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
    this.#known = { ...this.#known, listeners: [] }
  }

  /** Queues with bindings. */
  get queues(): readonly string[] {
    return this.#known.bindings.map(({ queue }) => queue)
  }

  async boundTo(routingKey: string): Promise<readonly string[]> {
    await this.#reading
    return boundQueues(this.#known.bindings, routingKey)
  }

  async listeners(): Promise<readonly BusListener[]> {
    await this.#reading
    return this.#known.listeners
  }

  async inputTypes(): Promise<readonly string[]> {
    await this.#reading
    return inputTypesOf(this.#known.bindings)
  }

  async #read(): Promise<void> {
    try {
      const [bindings, consumers] = await Promise.all([
        this.#exchange === '' ? [] : this.#management.bindings(this.#exchange),
        this.#management.consumers(),
      ])
      // The connection may have ended meanwhile.
      if (this.#timer) this.#known = { bindings: bindings.flatMap(bindingOf), listeners: this.#listenersOf(consumers) }
      this.#isWarned = false
    } catch (error) {
      if (this.#isWarned) return
      this.#isWarned = true
      this.#log.warn('Broker management plugin unavailable: bindings of old extractors and consumer addresses are unknown', {
        reason: textOf(error),
      })
    }
  }

  #listenersOf(consumers: readonly Readonly<Record<string, unknown>>[]): readonly BusListener[] {
    const counts = new Map<string, BusListener>()
    for (const { queue, channel_details } of consumers) {
      const name = memberOf(queue, 'name')
      if (name === '' || name === this.#ownQueue() || name.startsWith('amq.')) continue
      const address = memberOf(channel_details, 'peer_host')
      const key = `${name} ${address}`
      counts.set(key, { queue: name, address, count: (counts.get(key)?.count ?? 0) + 1 })
    }
    return [...counts.values()].sort((a, b) => (a.queue < b.queue ? -1 : a.queue > b.queue ? 1 : 0)).slice(0, maxListeners)
  }
}

function memberOf(value: unknown, name: string): string {
  const member = typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>)[name] : undefined
  return typeof member === 'string' ? member : ''
}

const bindingOf = ({ destination, destination_type, routing_key }: Readonly<Record<string, unknown>>): readonly Binding[] =>
  destination_type === 'queue' && typeof destination === 'string' && typeof routing_key === 'string'
    ? [{ queue: destination, key: routing_key }]
    : []
