import Koa from 'koa'
import type { Callers, Log, Policy } from 'pounce/sdk'
import { type AllowedHosts, requireAllowedHost } from './allowed-hosts.ts'
import { type AuditOptions, audit } from './audit.ts'
import { authenticate } from './authenticate.ts'
import { Access, authorize } from './authorize.ts'
import { JsonBodies, readBody } from './body.ts'
import type { HttpConfig } from './config.ts'
import { cors } from './cors.ts'
import { handle, type RequestServices } from './handle.ts'
import { ofPlugins, respondOfPlugins } from './plugin-middleware.ts'
import { problems } from './problems.ts'
import { CostLimiter, limitCost } from './rate-limits.ts'
import { type Middleware, type RequestContexts, requestContext } from './request-context.ts'
import { pace, RequestPacer } from './request-tracker.ts'
import { respond } from './respond.ts'
import type { ResponseWriter } from './response-writer.ts'
import { type Addresses, matchRoute, type PrefixRouter } from './router.ts'
import { healthPath } from './system-routes.ts'
import type { PhasedMiddleware } from './types.ts'
import { validateParameters } from './validate.ts'

/** What the middleware of a server is made of. */
export interface AppOptions extends RequestContexts, AuditOptions, RequestServices {
  readonly config: HttpConfig
  readonly callers: Callers | undefined
  readonly policy: Policy | undefined
  readonly router: PrefixRouter
  readonly addresses: Addresses
  readonly hosts: AllowedHosts
  readonly writer: ResponseWriter
  /** Headers of plugins that pages of allowed origins may send. */
  readonly requestHeaders: readonly string[]
  /** Of plugins. */
  readonly middleware: readonly PhasedMiddleware[]
  readonly log: Log
}

/** The Koa application: a request passes its middleware from the top down, and each can deal with the response on its way back. */
export const createApp = (options: AppOptions): Koa => {
  const { config, log, router, addresses, writer, isPrivate, middleware } = options
  const access = new Access(options.policy, isPrivate)
  const chain: readonly Middleware[] = [
    requestContext(options),
    problems(writer, log),
    ...respondOfPlugins(middleware, writer),
    requireAllowedHost(options.hosts),
    pace(new RequestPacer(), healthPath),
    ...ofPlugins(middleware, 'beforeRouting'),
    cors({ router, addresses, writer, allowedOrigins: config.allowedOrigins, requestHeaders: options.requestHeaders }),
    matchRoute(router, addresses, writer),
    respond(writer, log),
    authenticate(options),
    ...ofPlugins(middleware, 'afterAuthentication'),
    validateParameters(access),
    authorize(access),
    limitCost(new CostLimiter(config.budgets)),
    readBody(new JsonBodies(config)),
    audit(options),
    ...ofPlugins(middleware, 'beforeHandler'),
    handle(options),
  ]
  const app = new Koa()
  for (const each of chain) app.use(each)
  // What happens to a connection after its answer; the rest is answered by `problems` and never gets there.
  app.on('error', error => log.debug('connection failed', { error }))
  return app
}
