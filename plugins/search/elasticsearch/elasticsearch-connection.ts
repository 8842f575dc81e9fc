import { readFile } from 'node:fs/promises'
import type { Client } from '@elastic/elasticsearch'
import { Log, type StatusPart, Unavailable, wire } from 'pounce/sdk'
import { maskedUri } from 'pounce/sdk/kit'
import { wrongSetting } from './problems.ts'
import { Config, type Settings } from './settings.ts'

/** A response of the server; the caller lists the status codes that it accepts. */
export interface ServerResponse<T> {
  readonly status: number
  readonly body: T
}

export interface ServerRequest {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE'
  readonly path: string
  readonly query?: Readonly<Record<string, string | number | boolean>>
  readonly body?: Readonly<Record<string, unknown>>
  /** Lines of JSON. */
  readonly bulk?: string
  readonly limitMs: number
  /** Failures that the caller handles. */
  readonly expect?: readonly number[]
  /** True for requests that may be repeated when a server does not respond. */
  readonly isRepeatable?: boolean
}

const startLimitMs = 5000

/** The connection to the cluster. Every call ends within its limit. Rejects with the client's errors: see `problems.ts`. */
export class ElasticsearchConnection {
  readonly #settings: Settings
  readonly #log: Log
  #client: Client | undefined
  #didRespond = false

  constructor(settings: Settings, log: Log) {
    this.#settings = settings
    this.#log = log
  }

  /** Checks whether the server is usable, and throws where a setting is wrong. An unavailable one is tried again with every call. */
  async start(): Promise<void> {
    try {
      this.#client = await this.#connect()
      await this.call({ method: 'GET', path: `/_alias/${this.#settings.index}`, limitMs: startLimitMs, expect: [404] })
      this.#didRespond = true
    } catch (error) {
      const wrong = wrongSetting(error)
      if (wrong) throw new Error(wrong, { cause: error })
      this.#log.warn('Search server unavailable; searches are refused', { error })
    }
  }

  /** Whether the server responded at the start. */
  get didRespond(): boolean {
    return this.#didRespond
  }

  async dispose(): Promise<void> {
    await this.#client?.close()
    this.#client = undefined
  }

  async call<T>({ method, path, query, body, bulk, limitMs, expect, isRepeatable }: ServerRequest): Promise<ServerResponse<T>> {
    if (!this.#client) throw new Unavailable('The search server is not connected')
    const tries = isRepeatable ? this.#settings.nodes.length : 1
    const answer = await this.#client.transport.request<T>(
      { method, path, ...(query ? { querystring: query } : {}), ...(body ? { body } : {}), ...(bulk ? { bulkBody: bulk } : {}) },
      {
        meta: true,
        signal: AbortSignal.timeout(limitMs),
        requestTimeout: Math.ceil(limitMs / tries),
        maxRetries: tries - 1,
        retryOnTimeout: true,
        ...(expect ? { ignore: [...expect] } : {}),
      },
    )
    return { status: answer.statusCode ?? 0, body: answer.body }
  }

  async #connect(): Promise<Client> {
    const { Client } = await import('@elastic/elasticsearch')
    const { nodes, username, password, apiKey, caFile } = this.#settings
    const auth = apiKey ? { apiKey } : username && password ? { username, password } : undefined
    return new Client({
      nodes,
      maxRetries: 0,
      ...(auth ? { auth } : {}),
      ...(caFile ? { tls: { ca: await readFile(caFile) } } : {}),
      redaction: { type: 'replace' },
    })
  }
}
wire(ElasticsearchConnection, Config, Log)

const limitMs = 1500

/** The server in use, for the status page. */
export class ElasticsearchStatus implements StatusPart {
  readonly name = 'elasticsearch'
  readonly details: Readonly<Record<string, string>>
  readonly #server: ElasticsearchConnection

  constructor({ nodes, index }: Settings, server: ElasticsearchConnection) {
    this.#server = server
    this.details = { server: nodes.map(maskedUri).join(', '), index }
  }

  async check(): Promise<Readonly<Record<string, unknown>>> {
    const { body } = await this.#server.call<{ readonly cluster_name: string; readonly status: string }>({
      method: 'GET',
      path: '/_cluster/health',
      limitMs,
      isRepeatable: true,
    })
    return { clustername: body.cluster_name, health: body.status }
  }
}
wire(ElasticsearchStatus, Config, ElasticsearchConnection)
