import type { Collection } from 'pounce/sdk'
import type { BuiltPlugin } from './container.ts'
import type { HandlerInstance } from './events.ts'
import type { MountedRoute } from './http/types.ts'
import type { PeriodicTask } from './periodic.ts'
import { routesOf } from './plan.ts'

/** The routes of all plugins with what they need. */
export const mountedRoutes = (built: readonly BuiltPlugin[]): MountedRoute[] =>
  built.flatMap(({ name: plugin, plugin: definition, resolve }) =>
    routesOf(definition).map(({ name, route }) => ({
      plugin,
      name,
      route,
      needs: Object.fromEntries(Object.entries(route.needs).map(([as, port]) => [as, resolve(port)])),
    })),
  )

/** The collections of all plugins; two copies of one plugin share theirs. */
export const pluginCollections = (built: readonly BuiltPlugin[]): Collection<object>[] => [
  ...new Map(built.flatMap(({ plugin }) => plugin.collections ?? []).map(one => [one.name, one])).values(),
]

/** The event handlers of all plugins. */
export const handlerInstances = (built: readonly BuiltPlugin[]): HandlerInstance[] =>
  built.flatMap(({ name, plugin, instanceOf }) =>
    (plugin.handlers ?? []).map(subscription => ({ plugin: name, subscription, instance: instanceOf(subscription.by) as object })),
  )

/** The periodic work of all plugins. */
export const periodicTasks = (built: readonly BuiltPlugin[]): PeriodicTask[] =>
  built.flatMap(({ name, plugin, instanceOf }) =>
    (plugin.periodic ?? []).map(({ name: task, everyMs, task: cls }) => {
      const instance = instanceOf(cls)
      return { name: `${name}/${task}`, everyMs, run: signal => instance.run(signal) }
    }),
  )
