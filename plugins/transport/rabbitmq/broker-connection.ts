import { Duplex } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import type { ChannelModel } from 'amqplib'
import type { Log } from 'pounce/sdk'
import { withBrokerTimeLimit } from './broker-time-limit.ts'
import { textOf } from './text-of.ts'

/** A user of a connection. */
export interface ConnectionUser {
  /** Sets up channels. If it throws, the connection is closed and reopened. */
  up(model: ChannelModel): Promise<void>
  /** The connection and all its channels have ended. Also called when `up` did not complete. */
  down(): void
  /** Whether the broker accepts messages; false at the start of each connection. */
  blocked?(isBlocked: boolean): void
}

/** How a link connects. */
export interface LinkOptions {
  readonly uri: string
  /** Shown in the broker's list of connections. */
  name(): string
  readonly timeoutMs: number
  readonly heartbeatSeconds: number
}

const maxPauseMs = 5000
const stableMs = 5000
const goodByeMs = 1000
/** How long startup waits for a rejection. */
const firstMs = 3000
/** amqplib drops the broker's message when a vhost does not exist or is not accessible to this account. */
const vhostRefusal = /Expected ConnectionOpenOk; got <ConnectionClose/
const refusal = /\b403\b|ACCESS[-_]REFUSED/

/** True when the broker rejects the client because of its account or vhost. */
export const isRefusal = (error: unknown): boolean => refusal.test(textOf(error)) || vhostRefusal.test(textOf(error))

/** One connection to the broker, reopened whenever it ends: at once, then with increasing delays of up to 5 s. */
export class BrokerConnection {
  #options: LinkOptions
  #log: Log
  #tenants: ConnectionUser[] = []
  #model: ChannelModel | undefined
  #stopping = new AbortController()
  #running: Promise<void> = Promise.resolve()
  #trouble: string | undefined = 'not connected yet'
  #isBlocked = false

  constructor(options: LinkOptions, log: Log) {
    this.#options = options
    this.#log = log
  }

  /** The open connection; undefined while there is none. */
  get model(): ChannelModel | undefined {
    return this.#model
  }

  /** The current problem; undefined when there is none. Never contains a password. */
  get trouble(): string | undefined {
    return this.#trouble
  }

  /** The broker has blocked publishers. */
  get isBlocked(): boolean {
    return this.#isBlocked
  }

  /** Adds a user before `start`. */
  serve(tenant: ConnectionUser): void {
    this.#tenants.push(tenant)
  }

  /**
   * Resolves with the first connection, or when there is none within 3 s: it then keeps retrying.
   * Rejects when the broker rejects the credentials or vhost: retrying would not help.
   */
  async start(): Promise<void> {
    const first = Promise.withResolvers<void>()
    this.#running = this.#run(first)
    const waiting = new AbortController()
    const late = pause(Math.min(firstMs, this.#options.timeoutMs), undefined, { signal: waiting.signal }).catch(() => undefined)
    await Promise.race([first.promise, late]).finally(() => waiting.abort())
  }

  /** Closes the connection, so that everything is set up again. */
  reset(model: ChannelModel, reason: string): void {
    if (model !== this.#model || this.#stopping.signal.aborted) return
    this.#log.warn('Reconnecting to the broker', { reason, link: this.#options.name() })
    destroy(model, reason)
  }

  async dispose(): Promise<void> {
    this.#stopping.abort()
    const model = this.#model
    if (model) {
      // An unresponsive broker does not answer the close.
      await withBrokerTimeLimit(model.close(), goodByeMs).catch(() => undefined)
      destroy(model)
    }
    // Nor does one that is still being connected to.
    await withBrokerTimeLimit(this.#running, goodByeMs).catch(() => undefined)
  }

  async #run(first: PromiseWithResolvers<void>): Promise<void> {
    const { signal } = this.#stopping
    for (let failures = 0, isFirst = true; !signal.aborted; isFirst = false) {
      const began = performance.now()
      try {
        const { model, closed } = await this.#open()
        if (signal.aborted) return destroy(model)
        const isSetUp = await this.#use(model, closed, first.resolve)
        if (isSetUp && performance.now() - began > stableMs) failures = 0
      } catch (error) {
        this.#notePassing(error, failures)
        if (isFirst && isRefusal(error)) return first.reject(error)
        first.resolve()
      }
      const waitMs = failures === 0 ? 50 : Math.min(maxPauseMs, 200 * 2 ** (failures - 1))
      failures += 1
      await pause(waitMs * (0.75 + Math.random() / 4), undefined, { signal }).catch(() => undefined)
    }
  }

  async #open(): Promise<{ readonly model: ChannelModel; readonly closed: Promise<void> }> {
    const { uri, name, timeoutMs, heartbeatSeconds } = this.#options
    const { connect } = await import('amqplib')
    const url = new URL(uri)
    if (!url.searchParams.has('heartbeat')) url.searchParams.set('heartbeat', String(heartbeatSeconds))
    const model = await connect(url.href, {
      timeout: timeoutMs,
      noDelay: true,
      keepAlive: true,
      clientProperties: { connection_name: name() },
    })
    const { promise: closed, resolve } = Promise.withResolvers<void>()
    model.on('error', error => {
      this.#trouble = textOf(error)
    })
    model.on('close', error => {
      if (error) this.#trouble = textOf(error)
      destroy(model)
      resolve()
    })
    model.on('blocked', reason => this.#block(`the broker blocks publishers: ${reason}`))
    model.on('unblocked', () => this.#block(undefined))
    return { model, closed }
  }

  /** Serves the tenants until the connection ends. False when one of them could not be set up. */
  async #use(model: ChannelModel, closed: Promise<void>, isUp: () => void): Promise<boolean> {
    this.#model = model
    this.#trouble = undefined
    let isSetUp = false
    try {
      for (const tenant of this.#tenants) await tenant.up(model)
      isSetUp = true
      isUp()
      this.#log.info('Connected to the broker', { link: this.#options.name() })
      await closed
    } catch (error) {
      destroy(model, textOf(error))
      await closed
      throw error
    } finally {
      this.#model = undefined
      this.#isBlocked = false
      this.#trouble ??= 'the connection ended'
      for (const tenant of this.#tenants) tenant.down()
    }
    if (!this.#stopping.signal.aborted) this.#log.warn('Broker unavailable', { link: this.#options.name(), reason: this.#trouble })
    return isSetUp
  }

  #block(trouble: string | undefined): void {
    this.#isBlocked = trouble !== undefined
    this.#trouble = trouble
    this.#log.warn(trouble ?? 'broker accepts messages again', { link: this.#options.name() })
    for (const tenant of this.#tenants) tenant.blocked?.(this.#isBlocked)
  }

  /** Logs once at the start, then about once a minute. */
  #notePassing(error: unknown, failures: number): void {
    this.#trouble = textOf(error)
    if (this.#stopping.signal.aborted || (failures > 1 && failures % 12 !== 0)) return
    this.#log.warn('Broker unreachable; will be retried', { link: this.#options.name(), reason: this.#trouble })
  }
}

/** amqplib half-closes a broken connection and waits for the other side, which never closes if the broker is unresponsive. */
function destroy({ connection }: ChannelModel, reason = 'given up'): void {
  // With an error, since amqplib does not notice the end of a socket otherwise.
  if ('stream' in connection && connection.stream instanceof Duplex) connection.stream.destroy(new Error(reason))
}
