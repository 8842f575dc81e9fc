import type { IncomingHttpHeaders } from 'node:http'
import { type Caller, type Installation, Log, type Port } from 'pounce/sdk'
import type { Exchange } from './exchange.ts'
import type { RequestScope } from './types.ts'

/** What the requests of one server have in common. */
export interface Surroundings {
  readonly log: Log
  /** Its address may be known only once the server listens. */
  readonly installation: Pick<Installation, 'baseUrl' | 'isPrivate'>
  readonly trustedProxies: number
  readonly openScope: (values: Readonly<Record<string, unknown>>) => RequestScope
}

/** What a handler is handed. What few handlers ask for is made when asked for. */
export class HandlerRequest {
  readonly params: unknown
  readonly query: unknown
  readonly body: unknown
  readonly #exchange: Exchange
  readonly #surroundings: Surroundings
  readonly address: string
  #scope: RequestScope | undefined

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
    return this.resolve(Log)
  }

  /** The scope is opened by the first who asks: most handlers have all they need in their route's `needs`. */
  resolve<T>(port: Port<T>): T {
    this.#scope ??= this.#surroundings.openScope({ [Log]: this.#ownLog(), caller: this.caller, requestId: this.requestId })
    return this.#scope.resolve(port)
  }

  #ownLog(): Log {
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
