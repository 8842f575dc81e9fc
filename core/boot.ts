import { AccessTrails, AuditTrails, Callers, DocumentStore, type MiddlewareContext, type Plugin, Policy } from 'pounce/sdk'
import type { PhasedMiddleware } from './http/app.ts'
import type { PluginRoute } from './http/router.ts'
import type { Http } from './http/server.ts'
import type { KernelConfig } from './kernel/config/kernel-schema.ts'
import type { Config } from './kernel/config.ts'
import type { RetryRule } from './kernel/consumer-loop.ts'
import type { BuiltPlugin, Container } from './kernel/container.ts'
import { Kernel } from './kernel/kernel.ts'
import type { HttpParts } from './kernel/kernel-options.ts'
import { routesOf } from './kernel/plugin-graph.ts'
import { refusing } from './kernel/startup-error.ts'
import { checkPlugins } from './plugin-checks.ts'
import { PluginSwitches, pluginChoices } from './plugin-switches.ts'
import { Readiness } from './readiness.ts'
import { lockDataFolder, lockStoreFolders, storeFoldersOf } from './services/data-lock.ts'
import { LocalStores } from './services/local-stores.ts'
import { createLog, type KernelLog, type LogLevel } from './services/log.ts'
import { SeparateData } from './services/separate-data.ts'
import { createServices, type Services } from './services/services.ts'
import { moveRecords, refuseUnfinishedMove } from './store-migration/migration-record.ts'

export type { Kernel } from './kernel/kernel.ts'

/** Boot options other than the configuration. */
export interface KernelOptions {
  /** Instances that replace what the kernel or a plugin provides, by port. For tests. */
  readonly overrides?: Readonly<Record<string, unknown>>
  /** Default: standard output at the configured level. */
  readonly log?: KernelLog
  readonly retry?: RetryRule
  /** Refuses to start with the records in the document store, before migrations. */
  readonly checkRecords?: (documents: DocumentStore) => Promise<void>
}

/** The routes of all plugins with their dependencies. */
const pluginRoutes = (built: readonly BuiltPlugin[]): PluginRoute[] =>
  built.flatMap(({ name: plugin, plugin: definition, resolve }) =>
    routesOf(definition).map(({ name, route }) => ({
      plugin,
      name,
      route,
      needs: Object.fromEntries(Object.entries(route.needs).map(([as, token]) => [as, resolve(token)])),
    })),
  )

/** The middleware of all plugins, in start order. */
export const pluginMiddleware = (built: readonly BuiltPlugin[]): PhasedMiddleware[] =>
  built.flatMap(({ plugin, instanceOf }) =>
    (plugin.middleware ?? []).map(one => {
      if ('use' in one) return one
      const instance = instanceOf(one.by)
      return { phase: one.phase, use: (context: MiddlewareContext, next: () => Promise<unknown>) => instance.handle(context, next) }
    }),
  )

/** The same, but the middleware of a plugin that is switched off passes requests through. */
const middlewareOfThoseOn = (container: Container): PhasedMiddleware[] =>
  container.built.flatMap(one =>
    pluginMiddleware([one]).map(({ phase, use }) => ({
      phase,
      use: (context: never, next: () => Promise<never>) => (container.isOn(one.name) ? use(context, next) : next()),
    })),
  )

/** Creates the HTTP server of a kernel; it does not listen yet. */
const createKernelHttp = async (
  config: KernelConfig,
  log: KernelLog,
  services: Services,
  { container, readiness }: HttpParts,
): Promise<Http> => {
  const { createHttp } = await import('./http/server.ts')
  const { ids, metrics, installation } = services
  const { built } = container
  const parts = {
    routes: pluginRoutes(built),
    middleware: middlewareOfThoseOn(container),
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

/** The plugins with their `withResources` handlers subscribed to the event types of all declared kinds. Copies of one plugin keep sharing one definition. */
const withResourceEvents = (plugins: Config['plugins']): Config['plugins'] => {
  const types = plugins.flatMap(({ plugin }) => plugin.resources ?? []).flatMap(({ events }) => events)
  const widened = new Map<Plugin, Plugin>()
  const widen = (plugin: Plugin): Plugin => {
    if (types.length === 0 || !plugin.handlers?.some(({ withResources }) => withResources)) return plugin
    const handlers = plugin.handlers.map(one =>
      one.withResources && one.types !== '*' ? { ...one, types: [...new Set([...one.types, ...types])] } : one,
    )
    const found = widened.get(plugin) ?? { ...plugin, handlers }
    widened.set(plugin, found)
    return found
  }
  return plugins.map(one => ({ ...one, plugin: widen(one.plugin) }))
}

/** Creates a kernel: orders and instantiates the plugins, and rejects invalid combinations. There are no side effects before `start`. */
export const bootKernel = async (given: Config, { log, overrides = {}, ...options }: KernelOptions = {}): Promise<Kernel> => {
  const config = { ...given, print: () => given.print(), plugins: withResourceEvents(given.plugins) }
  const kernelLog = log ?? createLog({ level: config.kernel.log.level as LogLevel })
  const switches = new PluginSwitches(config, kernelLog.with({ plugin: 'switch' }))
  const services = await createServices(config, kernelLog, switches, overrides)
  const localStores = new LocalStores(config, kernelLog)
  const separateData = new SeparateData(config, kernelLog)
  const kernel: Kernel = new Kernel(config, {
    ...options,
    overridden: new Set(Object.keys(overrides)),
    lockDataFolder: async folder => {
      const lock = await lockDataFolder(folder)
      const storeLock = await lockStoreFolders(storeFoldersOf(config), kernelLog).catch(async (error: unknown) => {
        await lock.release()
        throw error
      })
      return {
        release: async () => {
          await Promise.all([localStores.abandon(), separateData.abandon()])
          await storeLock.release()
          await lock.release()
        },
      }
    },
    log: kernelLog,
    services,
    createHttp: parts => createKernelHttp(config.kernel, kernelLog, services, parts),
    readiness: new Readiness(),
    routes: pluginRoutes,
    switchedOff: documents => switches.switchedOff(documents),
    allowSwitching: () => {
      const refuseSwitching = switches.begin()
      return () => Promise.all([refuseSwitching(), localStores.release(), separateData.end()]).then(() => undefined)
    },
    collections: [moveRecords, pluginChoices],
    checkRecords: async documents => {
      await refuseUnfinishedMove(documents)
      await options.checkRecords?.(documents)
      await localStores.claim(documents, kernel.graph.providers.get(DocumentStore))
      await separateData.begin(documents)
    },
  })
  await checkPlugins(kernel)
  switches.of(kernel)
  services.installation.ofThoseOn(name => kernel.isOn(name))
  return kernel
}
