import type { IncomingHttpHeaders } from 'node:http'
import { type Caller, type Installation, Log, type Port } from 'pounce/sdk'
import type { Middleware, RequestContext } from './request-context.ts'
import type { RegisteredRoute } from './router.ts'

/** The container of one request: names of its own beside everything the kernel holds. */
export interface RequestScope {
  resolve<T>(port: Port<T>): T
}

/** What the requests of one server have in common. */
export interface RequestServices {
  readonly log: Log
  /** Its address may be known only once the server listens. */
  readonly installation: Pick<Installation, 'baseUrl'>
  readonly openScope: (values: Readonly<Record<string, unknown>>) => RequestScope
}

/** What a handler is handed. What few handlers ask for is made when asked for. */
class HandlerRequest {
  readonly params: unknown
  readonly query: unknown
  readonly body: unknown
  readonly #request: RequestContext
  readonly #services: RequestServices
  #scope: RequestScope | undefined

  constructor(request: RequestContext, services: RequestServices) {
    this.#request = request
    this.#services = services
    this.params = request.params
    this.query = request.query
    this.body = request.body
  }

  get address(): string {
    return this.#request.address
  }

  get caller(): Caller {
    return this.#request.caller
  }

  get requestId(): string {
    return this.#request.id
  }

  get headers(): IncomingHttpHeaders {
    return this.#request.req.headers
  }

  get isHead(): boolean {
    return this.#request.isHead
  }

  get signal(): AbortSignal {
    return this.#request.signal
  }

  get url(): URL {
    const { path, search } = this.#request.target
    return new URL(`${this.#services.installation.baseUrl}${path}${search ? `?${search}` : ''}`)
  }

  get log(): Log {
    return this.resolve(Log)
  }

  /** The scope is opened by the first who asks: most handlers have all they need in their route's `needs`. */
  resolve<T>(port: Port<T>): T {
    this.#scope ??= this.#services.openScope({ [Log]: this.#ownLog(), caller: this.caller, requestId: this.requestId })
    return this.#scope.resolve(port)
  }

  #ownLog(): Log {
    const { log } = this.#services
    const requestId = this.requestId
    return {
      debug: (message, fields) => log.debug(message, { requestId, ...fields }),
      info: (message, fields) => log.info(message, { requestId, ...fields }),
      warn: (message, fields) => log.warn(message, { requestId, ...fields }),
      error: (message, fields) => log.error(message, { requestId, ...fields }),
    }
  }
}

/** Calls the handler of the route. */
export const handle =
  (services: RequestServices): Middleware =>
  async context => {
    const { request } = context.state
    const { declaration, needs } = request.route as RegisteredRoute
    request.reply = await declaration.handle(new HandlerRequest(request, services) as never, needs as never)
  }
