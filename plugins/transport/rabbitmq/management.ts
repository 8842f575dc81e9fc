import { Buffer } from 'node:buffer'
import { type JsonLimits, parseJson } from 'pounce/sdk/kit'

const maxResponseBytes = 32 * 2 ** 20
/** A broker may have very many queues with some hundred values each. */
const limits: JsonLimits = { maxBytes: maxResponseBytes, maxDepth: 64, maxMembers: 2_000_000, maxLeaves: 2_000_000 }

/** The address of the plugin. */
export interface ManagementOptions {
  /** The broker's own address, for what `managementUrl` does not specify. */
  readonly uri: string
  readonly managementUrl: string | undefined
  readonly timeoutMs: number
}

/** Reads from the broker's management plugin: JSON, limited in time and size. */
export class Management {
  #options: ManagementOptions

  constructor(options: ManagementOptions) {
    this.#options = options
  }

  /** Bindings with this exchange as their source. */
  bindings(exchange: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
    return this.#list(vhost => `/api/exchanges/${vhost}/${encodeURIComponent(exchange)}/bindings/source`)
  }

  /** All consumers of a queue of this vhost. */
  consumers(): Promise<readonly Readonly<Record<string, unknown>>[]> {
    return this.#list(vhost => `/api/consumers/${vhost}`)
  }

  /** How many messages of a queue extractors are processing, up to five seconds ago; undefined when the plugin does not report it. */
  async unacknowledged(queue: string): Promise<number | undefined> {
    const { body } = await this.#read(vhost => `/api/queues/${vhost}/${encodeURIComponent(queue)}`)
    const count =
      typeof body === 'object' && body !== null ? (body as Readonly<Record<string, unknown>>)['messages_unacknowledged'] : undefined
    return typeof count === 'number' ? count : undefined
  }

  async #list(pathIn: (vhost: string) => string): Promise<readonly Readonly<Record<string, unknown>>[]> {
    const { body, path } = await this.#read(pathIn)
    if (!Array.isArray(body)) throw new Error(`its response to ${path} is not a list`)
    return body.filter(item => typeof item === 'object' && item !== null)
  }

  async #read(pathIn: (vhost: string) => string): Promise<{ readonly body: unknown; readonly path: string }> {
    const { base, vhost, authorization } = placeOf(this.#options)
    const path = pathIn(vhost)
    const response = await fetch(`${base}${path}`, {
      headers: { accept: 'application/json', authorization },
      redirect: 'error',
      signal: AbortSignal.timeout(this.#options.timeoutMs),
    })
    if (!response.ok) {
      await response.body?.cancel()
      throw new Error(`it answered ${response.status} to ${path}`)
    }
    const pieces: Uint8Array[] = []
    let bytes = 0
    for await (const piece of response.body ?? []) {
      bytes += piece.byteLength
      if (bytes > maxResponseBytes) throw new Error(`its response to ${path} has more than ${maxResponseBytes} bytes`)
      pieces.push(piece)
    }
    return { body: parseJson(Buffer.concat(pieces), limits, `its answer to ${path}`), path }
  }
}

function placeOf({ uri, managementUrl }: ManagementOptions) {
  const broker = new URL(uri)
  const own = managementUrl === undefined ? undefined : new URL(managementUrl)
  const account = own?.username ? own : broker
  const user = decodeURIComponent(account.username || 'guest')
  const password = decodeURIComponent(account.password || 'guest')
  const scheme = broker.protocol === 'amqps:' ? 'https' : 'http'
  return {
    base: own ? `${own.protocol}//${own.host}${own.pathname.replace(/\/$/, '')}` : `${scheme}://${broker.hostname}:15672`,
    vhost: encodeURIComponent(decodeURIComponent(broker.pathname.slice(1)) || '/'),
    authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
  }
}
