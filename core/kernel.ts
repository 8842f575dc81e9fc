import { type Collection, type Command, Commands, DocumentStore, type Outbox, type Port } from 'pounce/sdk'
import type { Config } from './config.ts'
import { type BuiltPlugin, Container } from './container.ts'
import { type DataLock, lockDataFolder } from './data-lock.ts'
import { consumerName, Dispatch } from './events.ts'
import type { Http, ReadinessReport } from './http/types.ts'
import { createKernelHttp } from './kernel-http.ts'
import type { KernelOptions, StartOptions } from './kernel-options.ts'
import { kernelCollections } from './kernel-records.ts'
import { Leases } from './leases.ts'
import { Lifecycles } from './lifecycles.ts'
import { createLog, type KernelLog, type LogLevel } from './log.ts'
import { Migrations } from './migrations.ts'
import { refuseUnfinishedMove } from './moving/refuse-unfinished.ts'
import { PeriodicWork } from './periodic.ts'
import { neededBy, type Plan, planPlugins } from './plan.ts'
import { readinessOf } from './readiness.ts'
import { createServices, replaceablePorts, type Services } from './services.ts'
import { refusing, StartRefused } from './start-refused.ts'
import { handlerInstances, periodicTasks, pluginCollections } from './wiring.ts'

type Address = Awaited<ReturnType<Http['listen']>>

const drainMs = 30_000
const lookEveryMs = 1_000

/** Plugins that are made but not yet started, and everything around them. */
export class Kernel {
  readonly config: Config
  readonly log: KernelLog
  readonly #options: KernelOptions
  readonly #services: Services
  readonly #plan: Plan
  readonly #container: Container
  readonly #built: readonly BuiltPlugin[]
  readonly #lifecycles: Lifecycles
  #lock: DataLock | undefined
  #http: Http | undefined
  #dispatch: Dispatch | undefined
  #periodic: PeriodicWork | undefined
  #address: Address | undefined
  #isReady = false
  #lookedAt = Number.NEGATIVE_INFINITY
  #report: Promise<ReadinessReport> = Promise.resolve({ ready: false, plugins: [] })
  #starting: Promise<void> | undefined
  #stopping: Promise<void> | undefined

  constructor(config: Config, log: KernelLog, services: Services, options: KernelOptions) {
    this.config = config
    this.log = log
    this.#options = options
    this.#services = services
    const overrides = new Set(Object.keys(options.overrides ?? {}))
    this.#plan = planPlugins(config.plugins, new Set(services.values.keys()), new Set([...replaceablePorts, ...overrides]))
    this.#container = new Container(
      services.values,
      config.plugins.map(({ name }) => name),
    )
    const configs = new Map(config.plugins.map(one => [one.name, one.config]))
    this.#built = this.#plan.order.map(planned =>
      this.#container.build(planned, { config: configs.get(planned.name), log: log.with({ plugin: planned.name }) }, overrides),
    )
    this.#lifecycles = new Lifecycles(log)
  }

  /** What is behind a port: `kernel.get(DocumentStore)`. */
  get<T>(port: Port<T>): T {
    return this.#container.get(port)
  }

  /** Where it listens, once it does. */
  get address(): Address | undefined {
    return this.#address
  }

  /** Plugins in the order of start, with what they give and take. */
  get plan(): Plan {
    return this.#plan
  }

  /** Commands that plugins contribute. */
  get commands(): readonly Command[] {
    return this.#container.get(Commands).all()
  }

  /** The events that wait or were put aside; undefined without a document store. */
  get outbox(): Outbox | undefined {
    return this.#container.has(DocumentStore) ? this.get(DocumentStore).outbox : undefined
  }

  /** Migrations of the plugins that run. Needs the store to be started. */
  get migrations(): Migrations {
    const { clock } = this.#services
    const documents = this.get(DocumentStore)
    return new Migrations(this.config.plugins, { documents, clock, log: this.log, leases: new Leases(documents, clock) })
  }

  /** All collections: the kernel's and those of the plugins. */
  get collections(): readonly Collection<object>[] {
    return [...kernelCollections, ...pluginCollections(this.#built)]
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
    if (!this.#periodic) throw new Error('No periodic work runs in this kernel')
    await this.#periodic.runNow(name)
  }

  /** How it is doing, looked at anew at most once a second, so that asking costs nothing. Never rejects. */
  async readiness(): Promise<ReadinessReport> {
    if (performance.now() - this.#lookedAt > lookEveryMs || !this.#isReady) {
      this.#lookedAt = performance.now()
      this.#report = this.#look()
    }
    return this.#report
  }

  async #look(): Promise<ReadinessReport> {
    const health = await this.#lifecycles.health()
    return readinessOf(this.#isReady, health, this.#plan.providers.get(DocumentStore), this.outbox)
  }

  /** Starts what was made. When anything fails, what was started is ended again and the reason thrown. */
  start(options: StartOptions = {}): Promise<void> {
    return this.#begin(() => this.#run(options))
  }

  /** Instead of `start`: only what is behind these ports and what that needs, without lock, migrations or work. For moving an installation. */
  open(ports: readonly Port<unknown>[]): Promise<void> {
    const needed = new Set(ports.flatMap(port => [...neededBy(this.#plan, this.#plan.providers.get(port))]))
    return this.#begin(async () => {
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
    this.#lock = await lockDataFolder(this.config.kernel.data)
    const first = neededBy(this.#plan, this.#plan.providers.get(DocumentStore))
    await this.#startPlugins(({ name }) => first.has(name))
    await this.#prepareStore(until !== 'store')
    if (until === 'store') return
    await this.#startPlugins(({ name }) => !first.has(name))
    if (until === 'serving') await this.#serve()
    if (this.#stopping) throw new StartRefused('The start was interrupted')
  }

  /** Ends everything in the reverse order: readiness says no, requests drain, events and periodic work stop, plugins end, the lock is freed. */
  stop(): Promise<void> {
    const begun = this.#starting ?? Promise.resolve()
    // A plugin in the middle of its start cannot be ended: the start notices that it is to stop, and ends first.
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
    for (const plugin of this.#built.filter(which)) {
      if (this.#stopping) throw new StartRefused('The start was interrupted')
      await this.#lifecycles.start(plugin)
    }
  }

  async #prepareStore(migrate: boolean): Promise<void> {
    if (!this.#container.has(DocumentStore)) return
    const documents = this.get(DocumentStore)
    await documents.declare(this.collections)
    const handlers = handlerInstances(this.#built)
    await documents.outbox.declareConsumers(handlers.map(one => ({ name: consumerName(one), types: one.subscription.types })))
    if (!migrate) return
    await refuseUnfinishedMove(documents)
    const { instance } = await this.migrations.run(this.config.kernel.dbupdate)
    this.#services.installation.named(instance)
    const { metrics, clock } = this.#services
    this.#dispatch = new Dispatch(handlers, {
      outbox: documents.outbox,
      log: this.log,
      metrics,
      ...(this.#options.retry ? { retry: this.#options.retry } : {}),
    })
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
    return createKernelHttp({
      config: this.config.kernel,
      log: this.log,
      services: this.#services,
      container: this.#container,
      built: this.#built,
      checkResponses: this.#options.checkResponses ?? false,
      readiness: () => this.readiness(),
    })
  }
}

/** Makes a kernel: orders and makes the plugins, and refuses what cannot work. Nothing happens in the world before `start`. */
export const bootKernel = async (config: Config, options: KernelOptions = {}): Promise<Kernel> => {
  const log = options.log ?? createLog({ level: config.kernel.log.level as LogLevel })
  const services = await createServices(config, log, options.overrides ?? {})
  return new Kernel(config, log, services, options)
}
