import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import Koa from 'koa'
import type {
  AccessTrail,
  AuditTrail,
  Callers,
  Contributions,
  CrossOriginHeaders,
  Ids,
  Installation,
  KoaMiddleware,
  Log,
  Metrics,
  MiddlewarePhase,
  Policy,
} from 'pounce/sdk'
import { audit } from './audit.ts'
import { authenticate } from './authenticate.ts'
import { authorize, RouteAccess } from './authorize.ts'
import { JsonBodies, readBody } from './body.ts'
import type { HttpConfig } from './config.ts'
import { handle, type RequestScope } from './handle.ts'
import { AllowedHosts, cors, crossOriginWarning, requireAllowedHost, untrustedProxyWarning } from './origins.ts'
import { problems } from './problems.ts'
import { CostLimiter, limitCost, pace, RequestPacer } from './rate-limits.ts'
import { type Middleware, type RequestTracker, requestContext } from './request-context.ts'
import { respond } from './respond.ts'
import type { ResponseWriter } from './response-writer.ts'
import { type Addresses, matchRoute, type PluginRoute, type PrefixRouter } from './router.ts'
import { healthPath, type ReadinessReport } from './system-routes.ts'
import { validateParameters } from './validate.ts'

/** Middleware of a plugin, ready to be called. */
export interface PhasedMiddleware {
  readonly phase: MiddlewarePhase
  readonly use: KoaMiddleware
}

/** What the HTTP server of a kernel is made of. */
export interface HttpOptions {
  readonly routes: readonly PluginRoute[]
  /** Headers of these routes that pages of allowed origins may send and read; the names of HTTP itself are known. */
  readonly crossOriginHeaders?: CrossOriginHeaders
  /** Of plugins, in their order. */
  readonly middleware?: readonly PhasedMiddleware[]
  readonly config: HttpConfig
  readonly log: Log
  readonly metrics: Metrics
  /** Absent when no plugin provides it: then a route that asks for a right stops the start. */
  readonly policy?: Policy
  /** Absent when no plugin provides it: then everyone is anonymous, and a credential is refused with 401. */
  readonly callers?: Callers
  /** Where what server admins do is noted. */
  readonly trails?: Contributions<AuditTrail>
  /** Where reads are recorded. */
  readonly accessTrails?: Contributions<AccessTrail>
  readonly ids: Ids
  readonly readiness: () => Promise<ReadinessReport>
  /** The text for `/metrics`, served when `config.metrics` is on. */
  readonly scrape?: () => Promise<{ readonly contentType: string; readonly text: string }>
  /** What a scraper sends as `Authorization: Bearer`; without it only server admins read the measurements. */
  readonly metricsToken?: string
  readonly installation: Installation
  /** Opens the container of a request over these names. */
  readonly openScope: (values: Readonly<Record<string, unknown>>) => RequestScope
}

/** What the middleware shares with the server around it. */
export interface AppParts {
  readonly router: PrefixRouter
  readonly addresses: Addresses
  readonly tracker: RequestTracker
  readonly writer: ResponseWriter
}

/** The Koa application: a request passes its middleware from the top down, and each can deal with the response on its way back. */
export const createApp = (options: HttpOptions, { router, addresses, tracker, writer }: AppParts): Koa => {
  const { config, log, ids, installation, policy, middleware = [], crossOriginHeaders } = options
  const { allowedOrigins, allowedHosts, trustedProxies, budgets } = config
  const isPrivate = policy?.isPrivate ?? installation.isPrivate
  const access = new RouteAccess(policy, isPrivate)
  const observers = [untrustedProxyWarning(config, log), crossOriginWarning(allowedOrigins, () => installation.baseUrl, log)]
  const chain: readonly Middleware[] = [
    requestContext({ ids, tracker, observers, trustedProxies, below: path => addresses.below(path) }),
    problems(writer, log),
    ...respondOfPlugins(middleware, writer),
    requireAllowedHost(new AllowedHosts(installation.baseUrl, allowedHosts)),
    pace(new RequestPacer(), healthPath),
    ...ofPlugins(middleware, 'beforeRouting'),
    cors({ router, addresses, writer, allowedOrigins, requestHeaders: crossOriginHeaders?.request ?? [] }),
    matchRoute(router, addresses, writer),
    respond(writer, log),
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
  const app = new Koa()
  for (const each of chain) app.use(each)
  // What happens to a connection after its answer; the rest is answered by `problems` and never gets there.
  app.on('error', error => log.debug('connection failed', { error }))
  return app
}

/** The middleware of plugins in one phase. */
export const ofPlugins = (middleware: readonly PhasedMiddleware[], phase: MiddlewarePhase): readonly Middleware[] =>
  middleware.filter(one => one.phase === phase).map(({ use }) => use as Middleware)

/** Sends what the middleware of a plugin answered in Koa's way, with the headers that all responses have. Nothing where there is none. */
export const respondOfPlugins = (middleware: readonly PhasedMiddleware[], writer: ResponseWriter): readonly Middleware[] =>
  middleware.length === 0
    ? []
    : [
        async (context, next) => {
          const { request } = context.state
          // Koa's own counts no proxies.
          context.request.ip = request.address
          await next()
          if (request.head) return
          request.isPluginAnswer = true
          const { status, body, message } = context
          if (body instanceof Readable) {
            writer.head(request, status, {})
            await pipeline(body, request.res)
          } else {
            const isSendable = typeof body === 'string' || Buffer.isBuffer(body)
            writer.send(request, status, {}, isSendable ? body : body == null ? message : JSON.stringify(body))
          }
        },
      ]
