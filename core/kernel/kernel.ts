import { type Collection, type Command, Commands, DocumentStore, type Port, type Token } from 'pounce/sdk'
import { withTimeLimit } from 'pounce/sdk/kit'
import type { Outbox } from 'pounce/sdk/store-kit'
import type { Http } from '../http/server.ts'
import type { ReadinessReport } from '../system-routes.ts'
import type { Config } from './config.ts'
import { type BuiltPlugin, Container } from './container.ts'
import { declareHandlers, EventDispatcher, type HandlerInstance, type KeptEvents, keptEvents } from './event-dispatcher.ts'
import type { KernelLog, KernelParts, Services, StartOptions } from './kernel-options.ts'
import { installationId, kernelCollections, leaseRecords, metaRecords } from './kernel-records.ts'
import { Leases } from './leases.ts'
import { Lifecycles, type PluginHealth } from './lifecycles.ts'
import { Migrations } from './migrations.ts'
import { type PeriodicTask, PeriodicWork } from './periodic.ts'
import { buildPluginGraph, neededBy, type PluginGraph } from './plugin-graph.ts'
import { refusing, StartupError } from './startup-error.ts'

type Address = Awaited<ReturnType<Http['listen']>>

const drainMs = 30_000
const lookEveryMs = 1_000

/** Plugins that are made but not yet started, and everything around them. */
export class Kernel {
  readonly config: Config
  readonly log: KernelLog
  /** Plugins in the order of start, with what they give and take. */
  readonly plan: PluginGraph
  readonly #parts: KernelParts
  readonly #services: Services
  readonly #container: Container
  readonly #built: readonly BuiltPlugin[]
  readonly #lifecycles: Lifecycles
  #lock: Awaited<ReturnType<KernelParts['lockDataFolder']>> | undefined
  #http: Http | undefined
  #dispatch: EventDispatcher | undefined
  #periodic: PeriodicWork | undefined
  #address: Address | undefined
  #isReady = false
  #lookedAt = Number.NEGATIVE_INFINITY
  #report: Promise<ReadinessReport> = Promise.resolve({ ready: false, plugins: [] })
  #starting: Promise<void> | undefined
  #stopping: Promise<void> | undefined

  constructor(config: Config, parts: KernelParts) {
    const { log, services, overridden } = parts
    this.config = config
    this.log = log
    this.#parts = parts
    this.#services = services
    this.plan = buildPluginGraph(config.plugins, new Set(services.values.keys()), new Set([...services.replaceable, ...overridden]))
    this.#container = new Container(
      services.values,
      config.plugins.map(({ name }) => name),
    )
    const configs = new Map(config.plugins.map(one => [one.name, one.config]))
    this.#built = this.plan.order.map(planned =>
      this.#container.build(planned, { config: configs.get(planned.name), log: log.with({ plugin: planned.name }) }, overridden),
    )
    this.#lifecycles = new Lifecycles(log, config.kernel.startTimeoutMs)
  }

  /** What is behind a port, or the instance of a plugin's class: `kernel.get(DocumentStore)`. */
  get<T>(token: Token<T>): T {
    return this.#container.get(token)
  }

  /** Where it listens, once it does. */
  get address(): Address | undefined {
    return this.#address
  }

  /** Commands that plugins contribute. */
  get commands(): readonly Command[] {
    return this.#container.get(Commands).all()
  }

  /** The events that wait or were dead-lettered; undefined without a document store. */
  get outbox(): Outbox | undefined {
    return this.#container.has(DocumentStore) ? this.get(DocumentStore).outbox : undefined
  }

  /** Migrations of the plugins that run. Needs the store to be started. */
  get migrations(): Migrations {
    const { clock, installation } = this.#services
    const documents = this.get(DocumentStore)
    const tools = { documents, clock, log: this.log, leases: new Leases(documents, clock), version: installation.version }
    return new Migrations(this.config.plugins, tools)
  }

  /** All collections: the kernel's, those of the plugins and of other modules of the program. */
  get collections(): readonly Collection<object>[] {
    return [...kernelCollections, ...this.#parts.collections, ...pluginCollections(this.#built)]
  }

  /** Those that hold the installation: not who may do what just now. */
  get lastingCollections(): readonly Collection<object>[] {
    return this.collections.filter(one => one !== leaseRecords)
  }

  /** The name of the installation that the store holds; undefined when it holds none. Needs the store to be started. */
  async storedInstance(): Promise<string | undefined> {
    return (await this.get(DocumentStore).get(metaRecords, installationId))?.instance
  }

  /** Consumers that are not loaded, for which events are kept, in words for the operator. */
  absentConsumers(): Promise<readonly KeptEvents[]> {
    return keptEvents(this.outbox)
  }

  /** The OpenAPI document of all routes. Needs no start. */
  async openapi(): Promise<object> {
    return (await this.#createHttp()).openapi()
  }

  /** Resolves when no event waits any more. Rejects after `limitMs`, naming what waits. */
  async drained(limitMs?: number): Promise<void> {
    await this.#dispatch?.drained(limitMs)
  }

  /** Runs one piece of periodic work now: `resources.files/sweep`. */
  async runPeriodic(name: string): Promise<void> {
    if (!this.#periodic) throw new Error('This kernel runs no periodic jobs')
    await this.#periodic.runNow(name)
  }

  /** Readiness, evaluated at most once a second. Never rejects. */
  async readiness(): Promise<ReadinessReport> {
    if (performance.now() - this.#lookedAt > lookEveryMs || !this.#isReady) {
      this.#lookedAt = performance.now()
      this.#report = this.#look()
    }
    return this.#report
  }

  async #look(): Promise<ReadinessReport> {
    const health = await this.#lifecycles.health()
    return readinessOf(this.#isReady, health, this.plan.providers.get(DocumentStore), this.outbox)
  }

  /** Starts what was made. When anything fails, what was started is ended again and the reason thrown. */
  start(options: StartOptions = {}): Promise<void> {
    return this.#begin(() => this.#run(options))
  }

  /** Instead of `start`: only the providers of these ports and their needs, without migrations or work; the data folder is locked only on request. */
  open(ports: readonly Port<unknown>[], { lock = false }: { readonly lock?: boolean } = {}): Promise<void> {
    const needed = new Set(ports.flatMap(port => [...neededBy(this.plan, this.plan.providers.get(port))]))
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
    const first = neededBy(this.plan, this.plan.providers.get(DocumentStore))
    await this.#startPlugins(({ name }) => first.has(name))
    await this.#prepareStore(until !== 'store')
    if (until === 'store') return
    await this.#startPlugins(({ name }) => !first.has(name))
    if (until === 'serving') await this.#serve()
    if (this.#stopping) throw new StartupError('Startup was interrupted')
  }

  /** Ends everything in the reverse order: readiness says no, requests drain, events and periodic work stop, plugins end, the lock is freed. */
  stop(): Promise<void> {
    const begun = this.#starting ?? Promise.resolve()
    this.#lifecycles.interrupt()
    this.#stopping ??= begun.then(
      () => this.#end(),
      () => this.#end(),
    )
    return this.#stopping
  }

  async #end(): Promise<void> {
    this.#isReady = false
    this.#http?.setStopping()
    if (this.#address) await this.#http?.drain(drainMs)
    await this.#periodic?.stop()
    await this.#dispatch?.stop()
    await this.#lifecycles.stop()
    await this.#lock?.release()
  }

  async #startPlugins(which: (plugin: BuiltPlugin) => boolean): Promise<void> {
    for (const plugin of this.#built.filter(which)) await this.#lifecycles.start(plugin)
  }

  async #prepareStore(migrate: boolean): Promise<void> {
    if (!this.#container.has(DocumentStore)) return
    const documents = this.get(DocumentStore)
    await documents.declare(this.collections)
    const handlers = handlerInstances(this.#built)
    await declareHandlers(documents.outbox, handlers, this.#built, this.log)
    if (!migrate) return
    await this.#parts.checkRecords(documents)
    const { instance } = await this.migrations.run(this.config.kernel.dbupdate)
    this.#services.installation.named(instance)
    const { metrics, clock } = this.#services
    const { retry } = this.#parts
    this.#dispatch = new EventDispatcher(handlers, { outbox: documents.outbox, log: this.log, metrics, ...(retry ? { retry } : {}) })
    this.#periodic = new PeriodicWork(periodicTasks(this.#built), new Leases(documents, clock), this.log, metrics)
  }

  async #serve(): Promise<void> {
    if (this.config.kernel.roles.includes('worker')) {
      this.#dispatch?.start()
      this.#periodic?.start()
    }
    const http = this.#http
    if (http) {
      this.#address = await refusing(() => http.listen())
      if (this.config.kernel.http.baseUrl === undefined) this.#services.installation.reachedAt(this.#address.url)
    }
    this.#isReady = true
    this.#lookedAt = Number.NEGATIVE_INFINITY
  }

  #createHttp(): Promise<Http> {
    return this.#parts.createHttp({ container: this.#container, built: this.#built, readiness: () => this.readiness() })
  }
}

/** The collections of all plugins; two copies of one plugin share theirs. */
const pluginCollections = (built: readonly BuiltPlugin[]): Collection<object>[] => [
  ...new Map(built.flatMap(({ plugin }) => plugin.collections ?? []).map(one => [one.name, one])).values(),
]

/** The event handlers of all plugins. */
const handlerInstances = (built: readonly BuiltPlugin[]): HandlerInstance[] =>
  built.flatMap(({ name, plugin, instanceOf }) =>
    (plugin.handlers ?? []).map(subscription => ({ plugin: name, subscription, instance: instanceOf(subscription.by) as object })),
  )

/** The periodic work of all plugins. */
const periodicTasks = (built: readonly BuiltPlugin[]): PeriodicTask[] =>
  built.flatMap(({ name, plugin, instanceOf }) =>
    (plugin.periodic ?? []).map(({ name: task, everyMs, task: cls }) => {
      const instance = instanceOf(cls)
      return { name: `${name}/${task}`, everyMs, run: signal => instance.run(signal) }
    }),
  )

const maxDeadLetters = 1000
const countLimitMs = 1000

const countEvents = async (outbox: Outbox) => {
  const count = async () => {
    const waiting = Object.values(await outbox.waiting()).reduce((sum, one) => sum + one, 0)
    const parked = (await outbox.deadLetters({ limit: maxDeadLetters })).length
    return { waiting, parked, absent: await outbox.absent() }
  }
  try {
    return await withTimeLimit(count(), countLimitMs, 'no answer')
  } catch {
    // A store that does not answer is reported as an unhealthy plugin already.
    return undefined
  }
}

/** A kernel is ready while it runs and its document store answers; other backends may be away (promises P4-P7). */
export const readinessOf = async (
  isRunning: boolean,
  health: readonly PluginHealth[],
  storePlugin: string | undefined,
  outbox: Outbox | undefined,
): Promise<ReadinessReport> => {
  const isStoreWell = health.every(({ plugin, ok }) => ok || plugin !== storePlugin)
  const counts = isRunning && isStoreWell && outbox ? await countEvents(outbox) : undefined
  const plugins = health.map(({ plugin, ok, error, note }) => {
    const message = error ?? note
    return { id: plugin, ok, ...(message === undefined ? {} : { message }) }
  })
  return { ready: isRunning && isStoreWell, plugins, ...counts }
}
