import type { IncomingHttpHeaders } from 'node:http'
import Koa from 'koa'
import {
  type AccessTrail,
  type AuditTrail,
  type Caller,
  type Callers,
  type Contributions,
  type CrossOriginHeaders,
  type Ids,
  type Installation,
  type KoaMiddleware,
  Log,
  type Metrics,
  type MiddlewarePhase,
  type Policy,
  type Port,
} from 'pounce/sdk'
import { healthPath, type ReadinessReport } from '../system-routes.ts'
import { authenticate } from './authenticate.ts'
import { audit, authorize, RouteAccess } from './authorize.ts'
import { JsonBodies, readBody } from './body.ts'
import type { HttpConfig } from './config.ts'
import { AllowedHosts, cors, crossOriginWarning, requireAllowedHost, untrustedProxyWarning } from './origins.ts'
import { problems } from './problems.ts'
import { CostLimiter, limitCost, pace, RequestPacer } from './rate-limits.ts'
import { type Middleware, type RequestContext, type RequestTracker, requestContext } from './request-context.ts'
import { respond } from './respond.ts'
import type { ResponseWriter } from './response-writer.ts'
import { type Addresses, matchRoute, type PluginRoute, type PrefixRouter, type RegisteredRoute } from './router.ts'
import { TrustedProxies } from './trusted-proxies.ts'
import { validateParameters } from './validate.ts'

/** A plugin's middleware as a callable function. */
export interface PhasedMiddleware {
  readonly phase: MiddlewarePhase
  readonly use: KoaMiddleware
}

/** The container of one request: its own names, and everything in the kernel's container. */
export interface RequestScope {
  resolve<T>(port: Port<T>): T
}

/** The parts of a kernel's HTTP server. */
export interface HttpOptions {
  readonly routes: readonly PluginRoute[]
  /** Additional headers that pages of allowed origins may send and read; standard HTTP headers are always included. */
  readonly crossOriginHeaders?: CrossOriginHeaders
  /** Middleware of plugins, in plugin order. */
  readonly middleware?: readonly PhasedMiddleware[]
  readonly config: HttpConfig
  readonly log: Log
  readonly metrics: Metrics
  /** Absent if no plugin provides it: then a route that requires a right makes the start fail. */
  readonly policy?: Policy
  /** Absent if no plugin provides it: then all callers are anonymous, and credentials are refused with 401. */
  readonly callers?: Callers
  /** Record the actions of server admins. */
  readonly trails?: Contributions<AuditTrail>
  /** Record reads. */
  readonly accessTrails?: Contributions<AccessTrail>
  readonly ids: Ids
  readonly readiness: () => Promise<ReadinessReport>
  /** The content of `/metrics`, served if `config.metrics` is on. */
  readonly scrape?: () => Promise<{ readonly contentType: string; readonly text: string }>
  /** The bearer token of the scraper; without it, only server admins can read the metrics. */
  readonly metricsToken?: string
  readonly installation: Installation
  /** Opens the container of a request with these names. */
  readonly openScope: (values: Readonly<Record<string, unknown>>) => RequestScope
}

/** Objects that the middleware shares with the server. */
export interface AppParts {
  readonly router: PrefixRouter
  readonly addresses: Addresses
  readonly tracker: RequestTracker
  readonly writer: ResponseWriter
}

/** Skips the listeners that Koa adds to request, response and socket: `RequestTracker` and `nodeServer` handle the same events. */
class App extends Koa {
  handleRequest(context: Koa.Context, run: (context: Koa.Context) => Promise<unknown>): Promise<unknown> {
    context.res.statusCode = 404
    return run(context).catch((error: Error) => context.onerror(error))
  }
}

/** The Koa application: requests pass through the middleware from top to bottom, responses in reverse. */
export const createApp = (options: HttpOptions, { router, addresses, tracker, writer }: AppParts): Koa => {
  const { config, log, ids, installation, policy, middleware = [], crossOriginHeaders } = options
  const { allowedOrigins, allowedHosts, trustedProxies, budgets } = config
  const isPrivate = (): boolean => policy?.isPrivate ?? installation.configuredPrivate ?? false
  const access = new RouteAccess(policy, isPrivate, installation.permissions)
  const proxies = new TrustedProxies(trustedProxies)
  const observers = [untrustedProxyWarning(config, log), crossOriginWarning(allowedOrigins, () => installation.baseUrl, log)]
  const chain: readonly Middleware[] = [
    requestContext({ ids, tracker, observers, proxies, below: path => addresses.below(path) }),
    problems(writer, log),
    respond(writer, log),
    requireAllowedHost(new AllowedHosts(installation.baseUrl, allowedHosts)),
    pace(new RequestPacer(), healthPath),
    ...ofPlugins(middleware, 'beforeRouting'),
    cors({ router, addresses, writer, allowedOrigins, requestHeaders: crossOriginHeaders?.request ?? [] }),
    matchRoute(router, addresses, writer),
    authenticate(options),
    ...ofPlugins(middleware, 'afterAuthentication'),
    validateParameters(access),
    authorize(access),
    limitCost(new CostLimiter(budgets)),
    readBody(new JsonBodies(config)),
    audit({ ...options, isPrivate }),
    ...ofPlugins(middleware, 'beforeHandler'),
    handle(options),
  ]
  const app = new App()
  for (const each of chain) app.use(each)
  // Only errors of `problems` itself get here.
  app.on('error', error => log.error('Request failed', { error }))
  return app
}

/** The middleware of plugins in one phase. */
const ofPlugins = (middleware: readonly PhasedMiddleware[], phase: MiddlewarePhase): readonly Middleware[] =>
  middleware.filter(one => one.phase === phase).map(({ use }) => use as Middleware)

/** State shared by all requests of a server. */
export interface RequestServices {
  readonly log: Log
  /** The base URL may be unknown until the server listens. */
  readonly installation: Pick<Installation, 'baseUrl'>
  readonly openScope: (values: Readonly<Record<string, unknown>>) => RequestScope
}

/** The request object passed to handlers. Rarely used members are created on first use. */
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

  get isProxied(): boolean {
    return this.#request.isProxied
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

  /** Opens the scope on first use: most handlers get all dependencies from their route's `needs`. */
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

/** Calls the route's handler. Its status is also Koa's, for the middleware of plugins. */
export const handle =
  (services: RequestServices): Middleware =>
  async context => {
    const { request } = context.state
    const { declaration, needs, name, plugin } = request.route as RegisteredRoute
    const reply = await declaration.handle(new HandlerRequest(request, services) as never, needs as never)
    // Possible in plugins that were not type-checked.
    if (!reply) throw new Error(`The handler of the route ${name} of ${plugin} returned nothing: it must return { status, body }`)
    request.reply = reply
    context.status = reply.status
  }
