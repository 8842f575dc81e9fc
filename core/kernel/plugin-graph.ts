import { type Class, isClass, isRoute, needsOf, type Plugin, type Port, type Token, takesMany, wrapped } from 'pounce/sdk'
import { didYouMean } from 'pounce/sdk/kit'
import { refuseForeign } from './ownership.ts'
import { StartupError } from './startup-error.ts'

type AnyPort = Port<unknown>

/** A plugin with its name in the configuration: its id, or another name for a second copy. */
export interface NamedPlugin {
  readonly name: string
  readonly plugin: Plugin
}

/** A class that provides a port, with the port's name as other plugins see it. */
export interface GraphProvision {
  readonly port: string
  readonly by: Class
}

/** A plugin with the ports that it provides and needs. */
export interface PluginNode extends NamedPlugin {
  readonly provides: readonly GraphProvision[]
  /** Ports that the plugin does not provide itself. */
  readonly needs: readonly string[]
}

/** The plugins to build and start, in order. */
export interface PluginGraph {
  /** Providers before their dependents; otherwise in configuration order. */
  readonly order: readonly PluginNode[]
  /** The plugin that provides each single port. */
  readonly providers: ReadonlyMap<string, string>
}

const ownPorts: ReadonlySet<string> = new Set(['config', 'log'])

/** The routes among a plugin's exports, by export name. */
export const routesOf = (plugin: Plugin) =>
  Object.entries(plugin.routes ?? {}).flatMap(([name, it]) => (isRoute(it) ? [{ name, route: it }] : []))

const knownClasses = new WeakMap<Plugin, readonly Class[]>()

/** All classes of a plugin: those that it declares, and the classes that these need. */
export const classesOf = (plugin: Plugin): readonly Class[] => {
  const known = knownClasses.get(plugin)
  if (known) return known
  const found = collectClasses(plugin)
  knownClasses.set(plugin, found)
  return found
}

const collectClasses = (plugin: Plugin): readonly Class[] => {
  const classes = new Set<Class>()
  const add = (token: Token<unknown>): void => {
    if (!isClass(token) || classes.has(token)) return
    classes.add(token)
    for (const need of needsOf(token)) add(need)
  }
  for (const { by } of plugin.provides ?? []) add(by)
  for (const service of plugin.services ?? []) add(service)
  for (const { by } of plugin.handlers ?? []) add(by)
  for (const { task } of plugin.periodic ?? []) add(task)
  for (const one of plugin.middleware ?? []) if ('by' in one) add(one.by)
  for (const { route } of routesOf(plugin)) for (const need of Object.values(route.needs)) add(need)
  return [...classes]
}

const needsStore = (plugin: Plugin): boolean =>
  [plugin.collections, plugin.handlers, plugin.periodic].some(list => (list ?? []).length > 0) || plugin.migrations !== undefined

const neededPorts = (plugin: Plugin): readonly AnyPort[] => [
  ...[...classesOf(plugin).flatMap(needsOf), ...routesOf(plugin).flatMap(({ route }) => Object.values(route.needs))].filter(
    (token): token is AnyPort => !isClass(token),
  ),
  ...(needsStore(plugin) ? ['documentStore' as AnyPort] : []),
]

const refuseUnwired = (name: string, plugin: Plugin): void => {
  for (const cls of classesOf(plugin))
    if (cls.length !== needsOf(cls).length)
      throw new StartupError(`${name}: ${cls.name} takes ${cls.length} arguments but wire() names ${needsOf(cls).length} of them`)
}

/** The wrappers of each wrapped port, in listed order: each wraps the one before it. */
type Wrappers = ReadonlyMap<AnyPort, readonly string[]>

const wrappedSuffix = wrapped('' as AnyPort)

/** The name under which this plugin provides the port, or, with `extra` 1, under which it resolves the port that it wraps. */
const qualifiedPort = (port: AnyPort, name: string, wrappers: Wrappers, extra = 0): AnyPort => {
  const names = wrappers.get(port) ?? []
  return `${port}${wrappedSuffix.repeat(names.length - names.indexOf(name) - 1 + extra)}` as AnyPort
}

/** Ports of a copy are qualified by its name, so that the first copy keeps the plain name; the plain name of a wrapped port belongs to its last wrapper. */
const provisionsOf = ({ name, plugin }: NamedPlugin, isCopy: boolean, wrappers: Wrappers): GraphProvision[] =>
  (plugin.provides ?? []).map(({ port, by }) => {
    if (takesMany(port)) return { port, by }
    return { port: isCopy ? `${port}@${name}` : qualifiedPort(port, name, wrappers), by }
  })

const nodeOf = (one: NamedPlugin, isCopy: boolean, wrappers: Wrappers): PluginNode => {
  refuseUnwired(one.name, one.plugin)
  const own = new Set<string>((one.plugin.provides ?? []).map(({ port }) => port).filter(port => !takesMany(port)))
  const wanted = neededPorts(one.plugin).filter(port => !own.has(port) && !ownPorts.has(port))
  const resolvedPort = (port: AnyPort) =>
    port.endsWith(wrappedSuffix) ? qualifiedPort(port.slice(0, -wrappedSuffix.length) as AnyPort, one.name, wrappers, 1) : port
  return { ...one, provides: provisionsOf(one, isCopy, wrappers), needs: [...new Set<string>(wanted.map(resolvedPort))] }
}

const findProviders = (listed: readonly PluginNode[], reserved: ReadonlySet<string>): Map<string, string> => {
  const providers = new Map<string, string>()
  for (const { name, provides } of listed)
    for (const { port } of provides) {
      if (takesMany(port as AnyPort)) continue
      if (reserved.has(port) || ownPorts.has(port)) throw new StartupError(`${name} provides ${port}, which is the kernel's own`)
      const other = providers.get(port)
      if (other === name) throw new StartupError(`${name} provides ${port} twice`)
      const plain = port.replaceAll(wrappedSuffix, '')
      if (other !== undefined) throw new StartupError(`${other} and ${name} both provide ${plain}: remove one of them from "plugins"`)
      providers.set(port, name)
    }
  return providers
}

const sortByNeed = (listed: readonly PluginNode[], providers: ReadonlyMap<string, string>): PluginNode[] => {
  const byName = new Map(listed.map(one => [one.name, one]))
  const order = new Set<PluginNode>()
  const visit = (one: PluginNode, path: readonly { readonly name: string; readonly port: string }[]): void => {
    if (order.has(one)) return
    const seenAt = path.findIndex(({ name }) => name === one.name)
    const cycle = path.slice(seenAt).map(({ name, port }) => `${name} (needs ${port})`)
    if (seenAt !== -1) throw new StartupError(`circular dependency between plugins: ${[...cycle, one.name].join(' → ')}`)
    for (const port of one.needs) {
      const provider = byName.get(providers.get(port) ?? '')
      if (provider) visit(provider, [...path, { name: one.name, port }])
    }
    order.add(one)
  }
  for (const one of listed) visit(one, [])
  return [...order]
}

/**
 * Computes the order of building and starting. Rejects two providers of one port, missing providers, cycles, and names that another plugin owns.
 * `kernelPorts` are provided by the kernel; a plugin may replace only those in `replaceable`.
 */
export const buildPluginGraph = (
  plugins: readonly NamedPlugin[],
  kernelPorts: ReadonlySet<string>,
  replaceable: ReadonlySet<string> = new Set(),
): PluginGraph => {
  refuseForeign(plugins)
  const seen = new Set<Plugin>()
  const wraps = plugins.flatMap(({ name, plugin }) => (plugin.wraps ?? []).map(port => ({ port, name })))
  const wrappers = new Map([...Map.groupBy(wraps, ({ port }) => port)].map(([port, some]) => [port, some.map(({ name }) => name)]))
  const listed = plugins.map(one => {
    const node = nodeOf(one, seen.has(one.plugin), wrappers)
    seen.add(one.plugin)
    return node
  })
  const providers = findProviders(listed, new Set([...kernelPorts].filter(port => !replaceable.has(port))))
  for (const { name, needs } of listed)
    for (const port of needs)
      if (!takesMany(port as AnyPort) && !providers.has(port) && !kernelPorts.has(port))
        throw new StartupError(
          `${name} needs ${port}, which no plugin provides${didYouMean(port, [...providers.keys(), ...kernelPorts], 0.4)}`,
        )
  return { order: sortByNeed(listed, providers), providers }
}

/** Names of a plugin and its transitive dependencies. */
export const neededBy = (graph: PluginGraph, name: string | undefined, found = new Set<string>()): ReadonlySet<string> => {
  const one = graph.order.find(planned => planned.name === name)
  if (!one || found.has(one.name)) return found
  found.add(one.name)
  for (const port of one.needs) neededBy(graph, graph.providers.get(port), found)
  return found
}
