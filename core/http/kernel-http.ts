import { AccessTrails, AuditTrails, Callers, type MiddlewareContext, Policy } from 'pounce/sdk'
import type { Config } from '../kernel/config.ts'
import type { BuiltPlugin, Container } from '../kernel/container.ts'
import type { KernelLog, Services } from '../kernel/kernel-options.ts'
import { routesOf } from '../kernel/plugin-graph.ts'
import { refusing } from '../kernel/startup-error.ts'
import type { Http, PhasedMiddleware, PluginRoute, ReadinessReport } from './types.ts'

/** What a kernel's HTTP server is made of. */
export interface HttpParts {
  readonly config: Config['kernel']
  readonly log: KernelLog
  readonly services: Services
  readonly container: Container
  readonly built: readonly BuiltPlugin[]
  readiness(): Promise<ReadinessReport>
}

/** The routes of all plugins with what they need. */
const pluginRoutes = (built: readonly BuiltPlugin[]): PluginRoute[] =>
  built.flatMap(({ name: plugin, plugin: definition, resolve }) =>
    routesOf(definition).map(({ name, route }) => ({
      plugin,
      name,
      route,
      needs: Object.fromEntries(Object.entries(route.needs).map(([as, token]) => [as, resolve(token)])),
    })),
  )

/** The middleware of all plugins, in the order of start. */
export const pluginMiddleware = (built: readonly BuiltPlugin[]): PhasedMiddleware[] =>
  built.flatMap(({ plugin, instanceOf }) =>
    (plugin.middleware ?? []).map(one => {
      if ('use' in one) return one
      const instance = instanceOf(one.by)
      return { phase: one.phase, use: (context: MiddlewareContext, next: () => Promise<unknown>) => instance.handle(context, next) }
    }),
  )

/** Makes the HTTP server of a kernel; it does not listen yet. */
export const createKernelHttp = async ({ config, log, services, container, built, readiness }: HttpParts): Promise<Http> => {
  const { createHttp } = await import('./create-http.ts')
  const { ids, metrics, installation } = services
  const parts = {
    routes: pluginRoutes(built),
    middleware: pluginMiddleware(built),
    crossOriginHeaders: {
      request: built.flatMap(({ plugin }) => plugin.crossOriginHeaders?.request ?? []),
      response: built.flatMap(({ plugin }) => plugin.crossOriginHeaders?.response ?? []),
    },
    config: { ...config.http, metrics: config.metrics.enabled },
    log: log.with({ plugin: 'http' }),
    metrics,
    ids,
    installation,
    readiness,
    openScope: (values: Readonly<Record<string, unknown>>) => container.requestScope(values),
    trails: container.get(AuditTrails),
    accessTrails: container.get(AccessTrails),
    ...(metrics.scrape ? { scrape: metrics.scrape } : {}),
    ...(config.metrics.token === undefined ? {} : { metricsToken: config.metrics.token }),
    ...(container.has(Policy) ? { policy: container.get(Policy) } : {}),
    ...(container.has(Callers) ? { callers: container.get(Callers) } : {}),
  }
  return refusing(() => createHttp(parts))
}
