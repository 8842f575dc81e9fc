import { setTimeout as pause } from 'node:timers/promises'
import type { ChannelModel } from 'amqplib'
import type { Log, Metrics } from 'pounce/sdk'
import { defaultJsonLimits, type Heartbeat, parseJson } from 'pounce/sdk/kit'
import type { BrokerConnection, Tenant } from './broker-connection.ts'
import { maskKeys } from './mask-keys.ts'
import { isUnavailable } from './retry.ts'
import { textOf } from './text-of.ts'

/** What the heartbeats need around them. */
export interface HeartbeatsParts {
  readonly link: BrokerConnection
  readonly log: Log
  readonly metrics: Metrics
  /** Stores the heartbeats. */
  take(heartbeat: Heartbeat): Promise<void>
}

export const heartbeatExchange = 'extractors'

const mostBytes = 2 ** 20
/** Maximum number of cached heartbeats, and of their characters altogether. */
const mostKnown = 5000
const mostCharacters = 32 * 2 ** 20
/** An unchanged one is passed on again after this, so that an extractor that was removed manually comes back. */
const freshMs = 600_000
const mostWaiting = 1000
const tries = 10
const longestPauseMs = 5000

/** Descriptions that extractors send every few minutes, mostly unchanged: only changes are passed on. */
export class Heartbeats implements Tenant {
  #parts: HeartbeatsParts
  #stopping = new AbortController()
  #isWanted = false
  /** The connection on which they are, or will be, received. */
  #heardOn: ChannelModel | undefined
  /** Text of heartbeats and when it was first received; the oldest first. */
  #known = new Map<string, number>()
  #characters = 0
  #queues = new Set<string>()
  /** Heartbeats that are not yet passed to the listener, by queue; the latest counts. */
  #changes = new Map<string, { readonly heartbeat: Heartbeat; readonly text: string }>()
  #telling: Promise<void> | undefined

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
    // Received heartbeats stay valid during a reconnect.
  }

  /** From now on someone listens. */
  begin(): void {
    this.#isWanted = true
    const { link } = this.#parts
    const { model } = link
    if (model) this.#consume(model).catch((error: unknown) => link.reset(model, `heartbeats: ${textOf(error)}`))
  }

  async stop(limitMs: number): Promise<void> {
    this.#stopping.abort()
    await Promise.race([this.#telling, pause(limitMs)])
  }

  /** Public for those who measure it. */
  heard(content: Buffer): void {
    this.#parts.metrics.count('rabbitmq_heartbeats_total')
    const text = content.toString('latin1')
    const since = this.#known.get(text)
    if (since !== undefined && performance.now() - since < freshMs) return
    try {
      const heartbeat = readHeartbeat(content)
      if (this.#changes.size >= mostWaiting && !this.#changes.has(heartbeat.queue))
        throw new Error(`${mostWaiting} other registrations are pending`)
      this.#remember(text)
      if (this.#queues.size < mostKnown) this.#queues.add(heartbeat.queue)
      this.#changes.set(heartbeat.queue, { heartbeat, text })
      this.#telling ??= this.#tellAll().finally(() => {
        this.#telling = undefined
      })
    } catch (error) {
      this.#parts.log.warn('extractor heartbeat ignored', { reason: maskKeys(textOf(error)), bytes: content.length })
    }
  }

  async #consume(model: ChannelModel): Promise<void> {
    if (this.#heardOn === model) return
    this.#heardOn = model
    const { log, link } = this.#parts
    const channel = await model.createChannel()
    channel.on('error', error => log.warn('heartbeat channel closed by the broker', { error }))
    channel.on('close', () => link.reset(model, 'the channel of heartbeats was closed'))
    await channel.assertExchange(heartbeatExchange, 'fanout', { durable: true })
    const { queue } = await channel.assertQueue('', { exclusive: true, autoDelete: true, durable: false })
    await channel.bindQueue(queue, heartbeatExchange, '*')
    // No acknowledgements: one that is lost comes again by itself.
    await channel.consume(
      queue,
      message => (message ? this.heard(message.content) : link.reset(model, 'the queue of heartbeats was deleted')),
      {
        noAck: true,
      },
    )
  }

  #remember(text: string): void {
    this.#drop(text)
    this.#known.set(text, performance.now())
    this.#characters += text.length
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= mostKnown && this.#characters <= mostCharacters) return
      this.#drop(oldest)
    }
  }

  #drop(text: string): void {
    if (this.#known.delete(text)) this.#characters -= text.length
  }

  async #tellAll(): Promise<void> {
    const { signal } = this.#stopping
    for (let failures = 0; this.#changes.size > 0 && !signal.aborted; ) {
      const [queue, change] = this.#changes.entries().next().value ?? []
      if (queue === undefined || !change) return
      try {
        await this.#parts.take(change.heartbeat)
        failures = 0
        if (this.#changes.get(queue) === change) this.#changes.delete(queue)
      } catch (error) {
        failures += 1
        // Not its queue: that of a private extractor holds its key.
        this.#parts.log.warn('failed to register an extractor', { error })
        // The next heartbeat, within minutes, is then as good as the first.
        const isGivenUp = !isUnavailable(error) && failures >= tries
        if (isGivenUp) {
          this.#drop(change.text)
          if (this.#changes.get(queue) === change) this.#changes.delete(queue)
          failures = 0
        } else await pause(Math.min(longestPauseMs, 100 * 2 ** failures), undefined, { signal }).catch(() => undefined)
      }
    }
  }
}

/** Reads what an extractor sends to the exchange `extractors` (reference, extraction §4.1). Throws what is wrong with it. */
function readHeartbeat(content: Buffer): Heartbeat {
  if (content.length > mostBytes) throw new Error(`it has ${content.length} bytes, more than ${mostBytes}`)
  const body = parseJson(content, { ...defaultJsonLimits, maxBytes: mostBytes }, 'it')
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw new Error('it is not a JSON object')
  const { id, queue, owner, extractor_info: info } = body as Readonly<Record<string, unknown>>
  if (typeof id !== 'string') throw new Error('its id is not text')
  if (typeof queue !== 'string' || queue === '' || Buffer.byteLength(queue) > 255)
    throw new Error('its queue is not a name of 1 to 255 bytes')
  if (typeof info !== 'object' || info === null || Array.isArray(info)) throw new Error('its extractor_info is not an object')
  if (owner !== undefined && owner !== null && typeof owner !== 'string') throw new Error('its owner is not text')
  return { queue, info, isBuiltIn: false, ...(owner ? { owner } : {}) }
}
