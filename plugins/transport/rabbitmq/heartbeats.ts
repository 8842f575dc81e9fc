import { setTimeout as pause } from 'node:timers/promises'
import type { ChannelModel } from 'amqplib'
import type { Log, Metrics } from 'pounce/sdk'
import { defaultJsonLimits, type Heartbeat, isOutage, parseJson } from 'pounce/sdk/kit'
import type { BrokerConnection, ConnectionUser } from './broker-connection.ts'
import { maskKeys } from './mask-keys.ts'
import { textOf } from './text-of.ts'

/** Dependencies of the heartbeats. */
export interface HeartbeatsParts {
  readonly link: BrokerConnection
  readonly log: Log
  readonly metrics: Metrics
  /** Stores the heartbeats. */
  take(heartbeat: Heartbeat): Promise<void>
}

export const heartbeatExchange = 'extractors'

const maxHeartbeatBytes = 2 ** 20
const maxQueues = 5000
/** Maximum number of cached heartbeats, and of their characters in total. */
const maxKnown = 5000
const maxCharacters = 32 * 2 ** 20
const maxWaiting = 1000
const tries = 10
const maxPauseMs = 5000

/**
 * Descriptions that extractors send every few minutes. All are passed on, unless they arrive faster than the listener can process them: only
 * the listener knows what is unchanged, and whether an admin has deleted it meanwhile.
 */
export class Heartbeats implements ConnectionUser {
  #parts: HeartbeatsParts
  #stopping = new AbortController()
  #isWanted = false
  /** The connection on which they are or will be received. */
  #receivedOn: ChannelModel | undefined
  #queues = new Set<string>()
  /** Parsed heartbeats by their text, oldest first: most arrive unchanged, and parsing them is most of the work. */
  #known = new Map<string, Heartbeat>()
  #characters = 0
  /** Heartbeats not yet passed to the listener, by queue; only the latest is kept. */
  #waiting = new Map<string, Heartbeat>()
  #reporting: Promise<void> | undefined

  constructor(parts: HeartbeatsParts) {
    this.#parts = parts
  }

  /** Queues with a heartbeat since the start, at most 5,000. */
  get queues(): ReadonlySet<string> {
    return this.#queues
  }

  async up(model: ChannelModel): Promise<void> {
    if (this.#isWanted) await this.#consume(model)
  }

  down(): void {
    // Heartbeats already received stay valid during a reconnect.
  }

  /** Sets the listener. */
  begin(): void {
    this.#isWanted = true
    const { link } = this.#parts
    const { model } = link
    if (model) this.#consume(model).catch((error: unknown) => link.reset(model, `heartbeats: ${textOf(error)}`))
  }

  async stop(limitMs: number): Promise<void> {
    this.#stopping.abort()
    await Promise.race([this.#reporting, pause(limitMs)])
  }

  /** Public for benchmarks. */
  received(content: Buffer): void {
    this.#parts.metrics.count('rabbitmq_heartbeats_total')
    try {
      const heartbeat = this.#read(content)
      if (this.#waiting.size >= maxWaiting && !this.#waiting.has(heartbeat.queue))
        throw new Error(`${maxWaiting} other registrations are pending`)
      if (this.#queues.size < maxQueues) this.#queues.add(heartbeat.queue)
      this.#waiting.set(heartbeat.queue, heartbeat)
      this.#reporting ??= this.#reportAll().finally(() => {
        this.#reporting = undefined
      })
    } catch (error) {
      this.#parts.log.warn('Extractor heartbeat ignored', { reason: maskKeys(textOf(error)), bytes: content.length })
    }
  }

  async #consume(model: ChannelModel): Promise<void> {
    if (this.#receivedOn === model) return
    this.#receivedOn = model
    const { log, link } = this.#parts
    const channel = await model.createChannel()
    channel.on('error', error => log.warn('Heartbeat channel closed by the broker', { error }))
    channel.on('close', () => link.reset(model, 'the channel of heartbeats was closed'))
    await channel.assertExchange(heartbeatExchange, 'fanout', { durable: true })
    const { queue } = await channel.assertQueue('', { exclusive: true, autoDelete: true, durable: false })
    await channel.bindQueue(queue, heartbeatExchange, '*')
    // No acknowledgements: a lost heartbeat is sent again anyway.
    await channel.consume(
      queue,
      message => (message ? this.received(message.content) : link.reset(model, 'the queue of heartbeats was deleted')),
      {
        noAck: true,
      },
    )
  }

  #read(content: Buffer): Heartbeat {
    const text = content.toString('latin1')
    const known = this.#known.get(text)
    if (known) return known
    const heartbeat = readHeartbeat(content)
    this.#known.set(text, heartbeat)
    this.#characters += text.length
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= maxKnown && this.#characters <= maxCharacters) break
      this.#known.delete(oldest)
      this.#characters -= oldest.length
    }
    return heartbeat
  }

  async #reportAll(): Promise<void> {
    const { signal } = this.#stopping
    for (let failures = 0; this.#waiting.size > 0 && !signal.aborted; ) {
      const [queue, heartbeat] = this.#waiting.entries().next().value ?? []
      if (queue === undefined || !heartbeat) return
      try {
        await this.#parts.take(heartbeat)
        failures = 0
        if (this.#waiting.get(queue) === heartbeat) this.#waiting.delete(queue)
      } catch (error) {
        failures += 1
        // The queue is not logged: that of a private extractor contains its key.
        this.#parts.log.warn('Failed to register an extractor', { error })
        // The next heartbeat, within minutes, then serves as the first.
        const isGivenUp = !isOutage(error) && failures >= tries
        if (isGivenUp) {
          if (this.#waiting.get(queue) === heartbeat) this.#waiting.delete(queue)
          failures = 0
        } else await pause(Math.min(maxPauseMs, 100 * 2 ** failures), undefined, { signal }).catch(() => undefined)
      }
    }
  }
}

/** Parses a message of the exchange `extractors` (reference, extraction §4.1). Throws a description of what is wrong with it. */
function readHeartbeat(content: Buffer): Heartbeat {
  if (content.length > maxHeartbeatBytes) throw new Error(`it has ${content.length} bytes, more than ${maxHeartbeatBytes}`)
  const body = parseJson(content, { ...defaultJsonLimits, maxBytes: maxHeartbeatBytes }, 'it')
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw new Error('it is not a JSON object')
  const { id, queue, owner, extractor_info: info } = body as Readonly<Record<string, unknown>>
  if (typeof id !== 'string') throw new Error('its id is not text')
  if (typeof queue !== 'string' || queue === '' || Buffer.byteLength(queue) > 255)
    throw new Error('its queue is not a name of 1 to 255 bytes')
  if (typeof info !== 'object' || info === null || Array.isArray(info)) throw new Error('its extractor_info is not an object')
  if (owner !== undefined && owner !== null && typeof owner !== 'string') throw new Error('its owner is not text')
  return { queue, info, isBuiltIn: false, ...(owner ? { owner } : {}) }
}
