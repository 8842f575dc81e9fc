import type { IncomingHttpHeaders } from 'node:http'
import type { Caller, Installation, Log } from 'pounce/sdk'
import type { Exchange } from './exchange.ts'

/** What the requests of one server have in common. */
export interface Surroundings {
  readonly log: Log
  /** Its address may be known only once the server listens. */
  readonly installation: Pick<Installation, 'baseUrl' | 'isPrivate'>
  readonly trustedProxies: number
}

/** What a handler is handed. What few handlers ask for is made when asked for. */
export class HandlerRequest {
  readonly params: unknown
  readonly query: unknown
  readonly body: unknown
  readonly #exchange: Exchange
  readonly #surroundings: Surroundings
  readonly address: string

  constructor(exchange: Exchange, surroundings: Surroundings, address: string, input: { params: unknown; query: unknown; body: unknown }) {
    this.#exchange = exchange
    this.#surroundings = surroundings
    this.address = address
    this.params = input.params
    this.query = input.query
    this.body = input.body
  }

  get caller(): Caller {
    return this.#exchange.caller
  }

  get requestId(): string {
    return this.#exchange.id
  }

  get headers(): IncomingHttpHeaders {
    return this.#exchange.req.headers
  }

  get isHead(): boolean {
    return this.#exchange.isHead
  }

  get signal(): AbortSignal {
    return this.#exchange.signal
  }

  get url(): URL {
    const { path, search } = this.#exchange.line
    return new URL(`${this.#surroundings.installation.baseUrl}${path}${search ? `?${search}` : ''}`)
  }

  get log(): Log {
    const { log } = this.#surroundings
    const requestId = this.requestId
    return {
      debug: (message, fields) => log.debug(message, { requestId, ...fields }),
      info: (message, fields) => log.info(message, { requestId, ...fields }),
      warn: (message, fields) => log.warn(message, { requestId, ...fields }),
      error: (message, fields) => log.error(message, { requestId, ...fields }),
    }
  }
}
