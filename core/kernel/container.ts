import 'reflect-metadata/lite'
// The browser build is the same container without loading modules by file name, which would add 40 modules.
import { type AwilixContainer, asValue, createContainer } from 'awilix/browser'
import { type Class, type Contributions, isClass, type Log, needsOf, type Plugin, type Port, type Token, takesMany } from 'pounce/sdk'
import { type DependencyContainer, instanceCachingFactory, container as tsyringe } from 'tsyringe'
import { errorPlace } from '../error-place.ts'
import type { RequestScope } from '../http/app.ts'
import { classesOf, type PluginNode } from './plugin-graph.ts'
import { messageOf, StartupError } from './startup-error.ts'

/** The instantiated classes of one plugin. */
export interface BuiltPlugin {
  readonly name: string
  readonly plugin: Plugin
  /** In creation order: the dependencies of a class precede it. */
  readonly instances: readonly object[]
  /** The instance of one of the plugin's classes. */
  instanceOf<T>(cls: Class<T>): T
  /** Resolves one of the plugin's classes, or a port from the plugin's view: its own config and log, its own provisions, then all others. */
  resolve(token: Token<unknown>): unknown
}

const construct = (plugin: string, cls: Class, args: readonly unknown[]): object => {
  try {
    return new (cls as new (...given: readonly unknown[]) => object)(...args)
  } catch (error) {
    throw new StartupError(`${plugin}: the constructor of ${cls.name} failed: ${messageOf(error)}${errorPlace(error)}`, { cause: error })
  }
}

const refuseClassCycle = (name: string, provisions: ReadonlyMap<string, Class>, cls: Class, path: readonly Class[]): void => {
  if (path.includes(cls)) {
    const cycle = [...path.slice(path.indexOf(cls)), cls].map(one => one.name).join(' → ')
    throw new StartupError(`${name}: circular dependency between classes: ${cycle}`)
  }
  for (const token of needsOf(cls)) {
    const provider = isClass(token) ? token : provisions.get(token)
    if (provider) refuseClassCycle(name, provisions, provider, [...path, cls])
  }
}

/** The kernel's container, and one tsyringe child container per plugin. */
export class Container {
  readonly #kernel: AwilixContainer = createContainer({ strict: true })
  readonly #contributed = new Map<string, Map<string, unknown[]>>()
  readonly #ordered = new Map<string, readonly unknown[]>()
  readonly #pluginOrder: readonly string[]
  readonly #off = new Set<string>()
  readonly #built = new Map<string, BuiltPlugin>()

  /** `listed`: plugin names in configuration order, which is the order of contributions. */
  constructor(values: ReadonlyMap<string, unknown>, listed: readonly string[]) {
    this.#pluginOrder = listed
    for (const [port, value] of values) this.#kernel.register(port, asValue(value))
  }

  /** Resolves a port or a plugin's class (of the first copy of the plugin); throws if there is no such instance. */
  get<T>(token: Token<T>): T {
    if (isClass(token)) return this.#instanceOf(token) as T
    return (takesMany(token) ? this.#contributions(token) : this.#kernel.resolve(token)) as T
  }

  /** Plugins whose classes are instantiated, in the order of their first instantiation. */
  get built(): readonly BuiltPlugin[] {
    return [...this.#built.values()]
  }

  /** False if the plugin is switched off. */
  isOn(plugin: string): boolean {
    return !this.#off.has(plugin)
  }

  /** Contributions of plugins that are off are omitted. */
  setOn(plugin: string, isOn: boolean): void {
    this.#off[isOn ? 'delete' : 'add'](plugin)
    this.#ordered.clear()
  }

  #instanceOf(cls: Class): unknown {
    const built = this.built.find(({ plugin }) => classesOf(plugin).includes(cls))
    if (!built) throw new Error(`No loaded plugin has the class ${cls.name}`)
    return built.instanceOf(cls)
  }

  has(port: string): boolean {
    return this.#kernel.hasRegistration(port)
  }

  /** A scope for the duration of one request. */
  requestScope(values: Readonly<Record<string, unknown>>): RequestScope {
    const scope = this.#kernel.createScope()
    for (const [name, value] of Object.entries(values)) scope.register(name, asValue(value))
    return { resolve: port => scope.resolve(port) }
  }

  /** Instantiates a plugin's classes; a second call replaces the instances. Constructors only keep their arguments, so there are no side effects yet. */
  build(node: PluginNode, own: { readonly config: unknown; readonly log: Log }, replaced: ReadonlySet<string>): BuiltPlugin {
    const { name, plugin } = node
    for (const byPlugin of this.#contributed.values()) byPlugin.delete(name)
    const child = tsyringe.createChildContainer()
    const instances: object[] = []
    this.#registerNeeds(child, node, own)
    const provisions = new Map((plugin.provides ?? []).filter(({ port }) => !takesMany(port)).map(({ port, by }) => [port as string, by]))
    for (const cls of classesOf(plugin)) {
      refuseClassCycle(name, provisions, cls, [])
      child.register(cls as new () => object, {
        useFactory: instanceCachingFactory(() => {
          const args = needsOf(cls).map(need => child.resolve(need as string))
          const instance = construct(name, cls, args)
          instances.push(instance)
          return instance
        }),
      })
    }
    for (const [port, by] of provisions)
      if (replaced.has(port)) child.register(port, { useValue: this.#kernel.resolve(port) })
      else child.register(port, { useToken: by as new () => object })
    for (const cls of classesOf(plugin)) child.resolve(cls as new () => object)
    this.#publish(node, child, replaced)
    this.#ordered.clear()
    const built: BuiltPlugin = {
      name,
      plugin,
      instances,
      instanceOf: cls => child.resolve(cls as never),
      resolve: token => child.resolve(token as string),
    }
    this.#built.set(name, built)
    return built
  }

  #registerNeeds(child: DependencyContainer, node: PluginNode, own: { readonly config: unknown; readonly log: Log }): void {
    child.register('config', { useValue: own.config })
    child.register('log', { useValue: own.log })
    for (const port of node.needs) {
      if (takesMany(port as Port<unknown>)) child.register(port, { useValue: this.#contributions(port) })
      // A wrapper only knows the port that it wraps, regardless of how many there are: the port up to the second `/`.
      else if (this.has(port)) child.register(port.split('/', 2).join('/'), { useValue: this.#kernel.resolve(port) })
    }
  }

  #publish(node: PluginNode, child: DependencyContainer, replaced: ReadonlySet<string>): void {
    for (const { port, by } of node.provides) {
      if (takesMany(port as Port<unknown>)) this.#contribute(node.name, port, child.resolve(by as new () => object))
      else if (!replaced.has(port)) this.#kernel.register(port, asValue(child.resolve(by as new () => object)))
    }
  }

  #contribute(name: string, port: string, contribution: unknown): void {
    const byPlugin = this.#contributed.get(port) ?? new Map<string, unknown[]>()
    this.#contributed.set(port, byPlugin.set(name, [...(byPlugin.get(name) ?? []), contribution]))
  }

  #contributions(port: string): Contributions<unknown> {
    return { all: () => this.#ordered.get(port) ?? this.#order(port) }
  }

  #order(port: string): readonly unknown[] {
    const inOrder = this.#pluginOrder.filter(name => this.isOn(name)).flatMap(name => this.#contributed.get(port)?.get(name) ?? [])
    this.#ordered.set(port, inOrder)
    return inOrder
  }
}
