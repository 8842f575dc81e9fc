import { behind, isRoute, needsOf, type Plugin, type Port, takesMany } from 'pounce/sdk'
import { StartRefused } from './start-refused.ts'

type AnyPort = Port<unknown>
type AnyClass = Parameters<typeof needsOf>[0]

/** A plugin under the name that the config gives it: its id, unless it is loaded a second time. */
export interface NamedPlugin {
  readonly name: string
  readonly plugin: Plugin
}

/** A class behind a port, with the port's name as others see it. */
export interface PlannedProvision {
  readonly port: string
  readonly by: AnyClass
}

/** A plugin with what it gives and takes. */
export interface PlannedPlugin extends NamedPlugin {
  readonly provides: readonly PlannedProvision[]
  /** Ports from outside the plugin. */
  readonly needs: readonly string[]
}

/** What to build and start, and in which order. */
export interface Plan {
  /** Providers before those that need them; otherwise as the config lists them. */
  readonly order: readonly PlannedPlugin[]
  /** As the config lists them. */
  readonly listed: readonly PlannedPlugin[]
  /** Which plugin provides a single port. */
  readonly providers: ReadonlyMap<string, string>
}

const ownPorts: ReadonlySet<string> = new Set(['config', 'log'])

/** Every class a plugin asks the kernel to make. */
export const classesOf = (plugin: Plugin): readonly AnyClass[] => [
  ...new Set<AnyClass>([
    ...(plugin.provides ?? []).map(({ by }) => by),
    ...(plugin.handlers ?? []).map(({ by }) => by),
    ...(plugin.periodic ?? []).map(({ task }) => task),
  ]),
]

/** The routes among a plugin's exports, by export name. */
export const routesOf = (plugin: Plugin) =>
  Object.entries(plugin.routes ?? {}).flatMap(([name, it]) => (isRoute(it) ? [{ name, route: it }] : []))

const needsStore = (plugin: Plugin): boolean =>
  [plugin.collections, plugin.handlers, plugin.periodic].some(list => (list ?? []).length > 0) || plugin.migrations !== undefined

const wantedBy = (plugin: Plugin): readonly AnyPort[] => [
  ...classesOf(plugin).flatMap(needsOf),
  ...routesOf(plugin).flatMap(({ route }) => Object.values(route.needs)),
  ...(needsStore(plugin) ? ['documentStore' as AnyPort] : []),
]

const refuseUnwired = (name: string, plugin: Plugin): void => {
  for (const cls of classesOf(plugin))
    if (cls.length !== needsOf(cls).length)
      throw new StartRefused(`${name}: ${cls.name} takes ${cls.length} arguments but wire() names ${needsOf(cls).length} ports for them`)
}

/** Ports of a copy are qualified by its name, so that the first one keeps the plain port; a wrapped port is its wrapper's. */
const provisionsOf = ({ name, plugin }: NamedPlugin, isCopy: boolean, wrapped: ReadonlySet<AnyPort>): PlannedProvision[] =>
  (plugin.provides ?? []).map(({ port, by }) => {
    if (takesMany(port)) return { port, by }
    if (isCopy) return { port: `${port}@${name}`, by }
    return { port: wrapped.has(port) && !plugin.wraps?.includes(port) ? behind(port) : port, by }
  })

const planOne = (one: NamedPlugin, isCopy: boolean, wrapped: ReadonlySet<AnyPort>): PlannedPlugin => {
  refuseUnwired(one.name, one.plugin)
  const own = new Set<string>((one.plugin.provides ?? []).map(({ port }) => port).filter(port => !takesMany(port)))
  const needs = new Set<string>(wantedBy(one.plugin).filter(port => !own.has(port) && !ownPorts.has(port)))
  return { ...one, provides: provisionsOf(one, isCopy, wrapped), needs: [...needs] }
}

const findProviders = (listed: readonly PlannedPlugin[], reserved: ReadonlySet<string>): Map<string, string> => {
  const providers = new Map<string, string>()
  for (const { name, provides } of listed)
    for (const { port } of provides) {
      if (takesMany(port as AnyPort)) continue
      if (reserved.has(port) || ownPorts.has(port)) throw new StartRefused(`${name} provides ${port}, which is the kernel's own`)
      const other = providers.get(port)
      if (other === name) throw new StartRefused(`${name} provides ${port} twice`)
      if (other !== undefined) throw new StartRefused(`${other} and ${name} both provide ${port}: remove one of them from "plugins"`)
      providers.set(port, name)
    }
  return providers
}

const sortByNeed = (listed: readonly PlannedPlugin[], providers: ReadonlyMap<string, string>): PlannedPlugin[] => {
  const byName = new Map(listed.map(one => [one.name, one]))
  const order = new Set<PlannedPlugin>()
  const visit = (one: PlannedPlugin, path: readonly string[]): void => {
    if (order.has(one)) return
    const seenAt = path.indexOf(one.name)
    if (seenAt !== -1) throw new StartRefused(`plugins need each other in a circle: ${[...path.slice(seenAt), one.name].join(' → ')}`)
    for (const port of one.needs) {
      const provider = byName.get(providers.get(port) ?? '')
      if (provider) visit(provider, [...path, one.name])
    }
    order.add(one)
  }
  for (const one of listed) visit(one, [])
  return [...order]
}

/**
 * Decides who is built and started when. Refuses two providers of one port, a port nobody provides, and circles.
 * `kernelPorts` are provided by the kernel; of those, a plugin may replace only the ones in `replaceable`.
 */
export const planPlugins = (
  plugins: readonly NamedPlugin[],
  kernelPorts: ReadonlySet<string>,
  replaceable: ReadonlySet<string> = new Set(),
): Plan => {
  const seen = new Set<Plugin>()
  const wrapped = new Set(plugins.flatMap(({ plugin }) => plugin.wraps ?? []))
  const listed = plugins.map(one => {
    const planned = planOne(one, seen.has(one.plugin), wrapped)
    seen.add(one.plugin)
    return planned
  })
  const providers = findProviders(listed, new Set([...kernelPorts].filter(port => !replaceable.has(port))))
  for (const { name, needs } of listed)
    for (const port of needs)
      if (!takesMany(port as AnyPort) && !providers.has(port) && !kernelPorts.has(port))
        throw new StartRefused(`${name} needs ${port}, which no plugin provides`)
  return { order: sortByNeed(listed, providers), listed, providers }
}

/** Names of a plugin and of all that it needs. */
export const neededBy = (plan: Plan, name: string | undefined, found = new Set<string>()): ReadonlySet<string> => {
  const one = plan.order.find(planned => planned.name === name)
  if (!one || found.has(one.name)) return found
  found.add(one.name)
  for (const port of one.needs) neededBy(plan, plan.providers.get(port), found)
  return found
}
