import { type Collection, type Command, Commands, Conflict, DocumentStore, type Port, type Token } from 'pounce/sdk'
import type { Outbox } from 'pounce/sdk/store-kit'
import type { Http } from '../http/server.ts'
import type { KeptEvents } from '../readiness.ts'
import type { KernelLog } from '../services/log.ts'
import type { Services } from '../services/services.ts'
import type { ReadinessReport } from '../system-routes.ts'
import type { Config } from './config.ts'
import { type BuiltPlugin, Container } from './container.ts'
import { consumerName, EventDispatcher, type HandlerInstance } from './event-dispatcher.ts'
import type { KernelParts, StartOptions } from './kernel-options.ts'
import { installationId, kernelCollections, leaseRecords, metaRecords } from './kernel-records.ts'
import { Leases } from './leases.ts'
import { Lifecycles } from './lifecycles.ts'
import { Migrations } from './migrations.ts'
import { type PeriodicTask, PeriodicWork } from './periodic.ts'
import { buildPluginGraph, neededBy, type PluginGraph, type PluginNode } from './plugin-graph.ts'
import { refusing, StartupError } from './startup-error.ts'

type Address = Awaited<ReturnType<Http['listen']>>

const drainMs = 30_000

/** Plugins that are instantiated but not yet started, with their container, events, leases and HTTP server. */
export class Kernel {
  readonly config: Config
  readonly log: KernelLog
  /** Plugins in start order, with the ports that they provide and need. */
  readonly graph: PluginGraph
  readonly #parts: KernelParts
  readonly #services: Services
  readonly #container: Container
  readonly #lifecycles: Lifecycles
  #lock: Awaited<ReturnType<KernelParts['lockDataFolder']>> | undefined
  #http: Http | undefined
  #dispatch: EventDispatcher | undefined
  readonly #periodic = new Map<string, PeriodicWork>()
  #refuseSwitching: () => Promise<void> = () => Promise.resolve()
  #address: Address | undefined
  readonly #isWorker: boolean
  #isReady = false
  #starting: Promise<void> | undefined
  #stopping: Promise<void> | undefined

  constructor(config: Config, parts: KernelParts) {
    const { log, services, overridden } = parts
    this.config = config
    this.log = log
    this.#parts = parts
    this.#services = services
    this.#isWorker = config.kernel.roles.includes('worker')
    this.graph = buildPluginGraph(config.plugins, new Set(services.values.keys()), new Set([...services.replaceable, ...overridden]))
    this.#container = new Container(
      services.values,
      config.plugins.map(({ name }) => name),
    )
    for (const node of this.graph.order) this.#build(node)
    this.#lifecycles = new Lifecycles(log, config.kernel.startTimeoutMs)
  }

  /** Resolves a port or a plugin's class: `kernel.get(DocumentStore)`. */
  get<T>(token: Token<T>): T {
    return this.#container.get(token)
  }

  /** The address that it listens on; undefined before. */
  get address(): Address | undefined {
    return this.#address
  }

  /** False if the plugin is switched off. */
  isOn(plugin: string): boolean {
    return this.#container.isOn(plugin)
  }

  /** Commands that plugins contribute. */
  get commands(): readonly Command[] {
    return this.#container.get(Commands).all()
  }

  /** Waiting and dead-lettered events; undefined without a document store. */
  get outbox(): Outbox | undefined {
    return this.#container.has(DocumentStore) ? this.get(DocumentStore).outbox : undefined
  }

  /** Migrations of the enabled plugins. Needs a started store. */
  get migrations(): Migrations {
    const { clock, installation } = this.#services
    const documents = this.get(DocumentStore)
    const { signal: interrupted } = this.#lifecycles.interrupted
    const tools = { documents, clock, log: this.log, leases: new Leases(documents, clock), version: installation.version, interrupted }
    return new Migrations(this.config.plugins, tools)
  }

  /** All collections: those of the kernel, the plugins and other modules of the server. */
  get collections(): readonly Collection<object>[] {
    return [...kernelCollections, ...this.#parts.collections, ...pluginCollections(this.#container.built)]
  }

  /** The collections with lasting data, that is, without leases. */
  get lastingCollections(): readonly Collection<object>[] {
    return this.collections.filter(one => one !== leaseRecords)
  }

  /** The name of the installation in the store; undefined for an empty store. Needs a started store. */
  async storedInstance(): Promise<string | undefined> {
    return (await this.get(DocumentStore).get(metaRecords, installationId))?.instance
  }

  /** Consumers that are not running and for which events are kept, with descriptions for the operator. */
  absentConsumers(): Promise<readonly KeptEvents[]> {
    const off = handlerInstances(this.#container.built).filter(({ plugin }) => !this.isOn(plugin))
    return this.#parts.readiness.keptEvents(this.outbox, new Map(off.map(one => [consumerName(one), one.plugin])))
  }

  /** The OpenAPI document of all routes. Does not need a started kernel. */
  async openapi(): Promise<object> {
    return (await this.#createHttp()).openapi()
  }

  /** Resolves when no event is waiting. Rejects after `limitMs` with the consumers that still have waiting events. */
  async drained(limitMs?: number): Promise<void> {
    await this.#dispatch?.drained(limitMs)
  }

  /** Runs a periodic task now: `resources.files/sweep`. */
  async runPeriodic(name: string): Promise<void> {
    const work = this.#periodic.get(name.slice(0, name.indexOf('/')))
    if (!work) throw new Error(`No plugin of this kernel has the periodic task ${name}`)
    await work.runNow(name)
  }

  /** Readiness, evaluated at most once a second. Never rejects. */
  readiness(): Promise<ReadinessReport> {
    const storePlugin = this.graph.providers.get(DocumentStore)
    const sources = { storePlugin, outbox: this.outbox, health: () => this.#lifecycles.health(), keptEvents: () => this.absentConsumers() }
    return this.#parts.readiness.report(this.#isReady, sources)
  }

  /** Starts the plugins. If one fails, those already started are stopped again and the error is thrown. */
  start(options: StartOptions = {}): Promise<void> {
    return this.#begin(() => this.#run(options))
  }

  /** Instead of `start`: only the providers of these ports and their dependencies, without migrations or periodic work; locks the data folder on request. */
  open(ports: readonly Port<unknown>[], { lock = false }: { readonly lock?: boolean } = {}): Promise<void> {
    const needed = new Set(ports.flatMap(port => [...neededBy(this.graph, this.graph.providers.get(port))]))
    return this.#begin(async () => {
      if (lock) this.#lock = await this.#parts.lockDataFolder(this.config.kernel.data)
      await this.#startPlugins(({ name }) => needed.has(name))
      if (ports.includes(DocumentStore)) await this.#prepareStore(false)
    })
  }

  #begin(work: () => Promise<void>): Promise<void> {
    this.#starting = work().catch(async (error: unknown) => {
      await this.#end()
      throw error
    })
    return this.#starting
  }

  async #run({ until = 'serving' }: StartOptions): Promise<void> {
    for (const warning of this.config.warnings) this.log.warn(warning)
    const serves = until === 'serving' && this.config.kernel.roles.includes('http')
    if (serves) this.#http = await this.#createHttp()
    this.#lock = await this.#parts.lockDataFolder(this.config.kernel.data)
    const first = neededBy(this.graph, this.graph.providers.get(DocumentStore))
    await this.#startPlugins(({ name }) => first.has(name))
    await this.#prepareStore(until !== 'store')
    if (until === 'store') return
    await this.#startPlugins(({ name }) => !first.has(name) && this.isOn(name))
    if (until === 'serving') await this.#serve()
    this.#lifecycles.interrupted.signal.throwIfAborted()
  }

  /** Shuts down in reverse order: readiness turns false, requests drain, events and periodic work stop, plugins stop, the lock is released. */
  stop(): Promise<void> {
    const begun = this.#starting ?? Promise.resolve()
    this.#lifecycles.interrupted.abort(new StartupError('Startup was interrupted'))
    this.#stopping ??= begun.catch(() => undefined).then(() => this.#end())
    return this.#stopping
  }

  /**
   * Switches a plugin that no other one needs, in a running kernel: shuts it down in the order of `stop`, or instantiates its classes again and starts it. Its
   * consumers remain declared, so that events are kept for them. Rejects and leaves it off if it fails to start. Calls must not overlap.
   */
  async switch(name: string, isOn: boolean): Promise<void> {
    if (isOn) return this.#switchOn(this.graph.order.find(one => one.name === name) as PluginNode)
    this.#container.setOn(name, false)
    await this.#http?.replaceRoutes(name, [], drainMs)
    await this.#periodic.get(name)?.stop()
    this.#periodic.delete(name)
    await this.#dispatch?.remove(name)
    await this.#lifecycles.stop(name)
  }

  async #switchOn(node: PluginNode): Promise<void> {
    const plugin = this.#build(node)
    try {
      await this.#lifecycles.start(plugin)
    } catch (error) {
      await this.#lifecycles.stop(plugin.name)
      throw error
    }
    this.#container.setOn(plugin.name, true)
    await this.#http?.replaceRoutes(plugin.name, this.#parts.routes([plugin]), 0)
    this.#dispatch?.add(handlerInstances([plugin]))
    this.#addPeriodic(plugin)
  }

  #build(planned: PluginNode): BuiltPlugin {
    const { config } = this.config.plugins.find(one => one.name === planned.name) ?? {}
    return this.#container.build(planned, { config, log: this.log.with({ plugin: planned.name }) }, this.#parts.overridden)
  }

  #addPeriodic(plugin: BuiltPlugin): void {
    const { metrics, clock } = this.#services
    const work = new PeriodicWork(periodicTasks(plugin), new Leases(this.get(DocumentStore), clock), this.log, metrics)
    this.#periodic.set(plugin.name, work)
    if (this.#isReady && this.#isWorker) work.start()
  }

  async #end(): Promise<void> {
    this.#isReady = false
    this.#http?.setStopping()
    if (this.#address) await this.#http?.drain(drainMs)
    await this.#refuseSwitching()
    await Promise.all([...this.#periodic.values()].map(work => work.stop()))
    await this.#dispatch?.stop()
    await this.#lifecycles.stop()
    await this.#lock?.release()
  }

  async #startPlugins(which: (plugin: BuiltPlugin) => boolean): Promise<void> {
    for (const plugin of this.#container.built.filter(which)) await this.#lifecycles.start(plugin)
  }

  async #prepareStore(migrate: boolean): Promise<void> {
    if (!this.#container.has(DocumentStore)) return
    const documents = this.get(DocumentStore)
    await refusing(() => documents.declare([...kernelCollections, ...this.#parts.collections]))
    // First: a refused start must not change what servers of another version use. `run` checks again: `declare` may wait for those servers to stop.
    if (migrate) await this.#parts.checkRecords(documents)
    await this.migrations.check(!migrate || this.config.kernel.dbupdate)
    await documents.declare(this.collections)
    const { built } = this.#container
    await documents.outbox.declareConsumers(
      handlerInstances(built).map(one => ({ name: consumerName(one), types: one.subscription.types })),
    )
    for (const { name, plugin } of built)
      for (const former of plugin.formerHandlers ?? []) await documents.outbox.forget(`${name}/${former}`).catch(unlessRunning)
    for (const { kept, ...one } of await this.absentConsumers())
      if (one.waiting > 0) this.log.warn('Events are stored for a consumer that is not loaded', one)
    if (!migrate) return
    this.#services.installation.named((await this.migrations.run(this.config.kernel.dbupdate)).instance)
    for (const name of await this.#parts.switchedOff(documents)) {
      this.#container.setOn(name, false)
      await this.#http?.replaceRoutes(name, [], 0)
    }
    const on = built.filter(({ name }) => this.isOn(name))
    const { retry } = this.#parts
    const tools = { outbox: documents.outbox, log: this.log, metrics: this.#services.metrics, ...(retry ? { retry } : {}) }
    this.#dispatch = new EventDispatcher(handlerInstances(on), tools)
    for (const plugin of on) this.#addPeriodic(plugin)
  }

  async #serve(): Promise<void> {
    if (this.#isWorker) {
      this.#dispatch?.start()
      for (const work of this.#periodic.values()) work.start()
    }
    const http = this.#http
    if (http) {
      this.#address = await refusing(() => http.listen())
      if (this.config.kernel.http.baseUrl === undefined) this.#services.installation.reachedAt(this.#address.url)
    }
    this.#isReady = true
    this.#parts.readiness.expire()
    this.#refuseSwitching = this.#parts.allowSwitching()
  }

  #createHttp(): Promise<Http> {
    return this.#parts.createHttp({ container: this.#container, readiness: () => this.readiness() })
  }
}

/** A server of an older version may still run a former consumer: its events are dropped at a later start. */
const unlessRunning = (error: unknown): void => {
  if (!(error instanceof Conflict)) throw error
}

/** The collections of all plugins; copies of a plugin share them. */
const pluginCollections = (built: readonly BuiltPlugin[]): Collection<object>[] => [
  ...new Map(built.flatMap(({ plugin }) => plugin.collections ?? []).map(one => [one.name, one])).values(),
]

/** The event handlers of all plugins. */
const handlerInstances = (built: readonly BuiltPlugin[]): HandlerInstance[] =>
  built.flatMap(({ name, plugin, instanceOf }) =>
    (plugin.handlers ?? []).map(subscription => ({ plugin: name, subscription, instance: instanceOf(subscription.by) as object })),
  )

/** The periodic tasks of a plugin. */
const periodicTasks = ({ name, plugin, instanceOf }: BuiltPlugin): PeriodicTask[] =>
  (plugin.periodic ?? []).map(({ name: task, everyMs, task: cls }) => {
    const instance = instanceOf(cls)
    return { name: `${name}/${task}`, everyMs, run: signal => instance.run(signal) }
  })
