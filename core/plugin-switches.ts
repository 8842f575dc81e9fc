import {
  AccessTrails,
  AuditReceivers,
  AuditTrails,
  AuthProviders,
  BlobOwners,
  CommitConflict,
  Conflict,
  collection,
  DocumentStore,
  JobRecords,
  MalwareScanners,
  MetadataChecks,
  NotFound,
  PersonalDataSources,
  type Plugin,
  StorageQuotas,
  Transports,
  takesMany,
} from 'pounce/sdk'
import { Mutex, type PluginState, type PluginSwitch, recordAuditNote } from 'pounce/sdk/kit'
import type { Config } from './kernel/config.ts'
import type { Kernel } from './kernel/kernel.ts'
import { idOfName } from './kernel/kernel-records.ts'
import { messageOf, StartupError } from './kernel/startup-error.ts'
import { isOwnPlugin } from './own-plugins.ts'
import { sourceOf } from './plugin-source.ts'
import type { KernelLog } from './services/log.ts'

/** An admin's choice for a configured plugin. A plugin without a record is on. */
export interface PluginChoiceRecord {
  readonly plugin: string
  readonly isEnabled: boolean
}
export const pluginChoices = collection<PluginChoiceRecord>('kernel.plugin-choices', { byPlugin: { on: ['plugin'] } })

/** The documented bound is two seconds. */
const lookEveryMs = 1_000
/** A plugin that failed to start is not retried at every poll. */
const retryMs = 30_000

/** Contributions for records that remain while the plugin is off. Without them, blobs count as orphans, erasure is incomplete and jobs never end. */
const forRecords: readonly string[] = [BlobOwners, PersonalDataSources, JobRecords, Transports]
/** Contributions that also restrict server admins: only the operator may disable them. */
const guards: readonly string[] = [AuditTrails, AccessTrails, AuditReceivers, AuthProviders, MalwareScanners, MetadataChecks, StorageQuotas]

/** Why a plugin cannot be switched off; undefined if it can, at least with a restart. */
const reasonToKeep = ({ provides = [], resources = [], environment }: Plugin): string | undefined => {
  const single = provides.find(({ port }) => !takesMany(port))
  if (single) return `provides ${single.port}, which other plugins may need`
  if (resources.length > 0) return `declares the resource ${resources[0]?.kind}, whose records stay`
  const contributed = (ports: readonly string[]) => provides.find(({ port }) => ports.includes(port))?.port.replace('*', '')
  const [answering, guard] = [contributed(forRecords), contributed(guards)]
  if (answering !== undefined) return `contributes to ${answering}, which answers for records that stay`
  if (guard !== undefined) return `contributes to ${guard}, which protects the server`
  return environment ? 'defines environment variables, which are read with the configuration' : undefined
}

const reasonToRestart = ({ middleware, crossOriginHeaders }: Plugin): string | undefined => {
  if (middleware?.length) return 'adds middleware'
  return crossOriginHeaders ? 'adds headers for pages of other origins' : undefined
}

/** Rejects plugins that are declared as switchable but cannot be switched. */
const refuseUnswitchable = ({ plugins }: Config): void => {
  for (const { name, plugin } of plugins) {
    const reason = plugin.isSwitchable ? (reasonToKeep(plugin) ?? reasonToRestart(plugin)) : undefined
    if (reason !== undefined)
      throw new StartupError(`${name} is declared as switchable but ${reason}: remove "isSwitchable" from its definition, or the cause`)
  }
}

/** Switches the plugins of a kernel on and off. The choices of admins are in the document store, from which all kernels of the installation read them. */
export class PluginSwitches implements PluginSwitch {
  readonly #config: Config
  readonly #log: KernelLog
  readonly #mutex = new Mutex()
  /** When a plugin that failed to start is retried, by plugin. */
  readonly #retryAt = new Map<string, number>()
  #kernel: Kernel | undefined
  #isBegun = false
  #timer: NodeJS.Timeout | undefined

  constructor(config: Config, log: KernelLog) {
    refuseUnswitchable(config)
    this.#config = config
    this.#log = log
  }

  /** Called once, when the kernel has been created. */
  of(kernel: Kernel): void {
    this.#kernel = kernel
  }

  async switchedOff(documents: DocumentStore): Promise<readonly string[]> {
    const choices = await choicesIn(documents)
    return this.#config.plugins.filter(({ name, plugin }) => choices.get(name) === false && !reasonToKeep(plugin)).map(({ name }) => name)
  }

  /** Starts applying choices, those of other kernels within two seconds. Call the returned function to stop; it waits for a switch in progress. */
  begin(): () => Promise<void> {
    this.#isBegun = true
    // No other kernel can change the choices in a local store.
    if (!this.#config.plugins.some(({ plugin }) => plugin.isLocal) && this.#switchable.length > 0) this.#lookLater()
    return async () => {
      this.#isBegun = false
      clearTimeout(this.#timer)
      await this.#mutex.use(async () => undefined)
    }
  }

  async list(): Promise<readonly PluginState[]> {
    const { graph: plan, outbox } = this.#running
    const choices = await choicesIn(this.#documents)
    const health = new Map((await this.#running.readiness()).plugins.map(one => [one.id, one]))
    const waiting = Object.entries((await outbox?.waiting()) ?? {})
    return Promise.all(
      plan.order.map(async ({ name, plugin }): Promise<PluginState> => {
        const isRunning = this.#running.isOn(name)
        const { ok = true, message } = (isRunning && health.get(name)) || {}
        const refusal = reasonToKeep(plugin)
        const counts = waiting.filter(([consumer]) => consumer.startsWith(`${name}/`)).map(([, count]) => count)
        return {
          id: name,
          summary: plugin.summary,
          ...(await sourceOf(this.#configured(name)?.request)),
          isSwitchable: plugin.isSwitchable ?? false,
          ...(refusal === undefined ? {} : { refusal: `It ${refusal}` }),
          isEnabled: refusal !== undefined || (choices.get(name) ?? true),
          isRunning,
          isHealthy: ok,
          ...(message === undefined ? {} : { message }),
          waitingEvents: isRunning ? 0 : counts.reduce((sum, count) => sum + count, 0),
        }
      }),
    )
  }

  async set(id: string, isEnabled: boolean, actor?: string): Promise<PluginState> {
    const configured = this.#configured(id)
    if (!configured) {
      if (!isOwnPlugin(id)) throw new NotFound(`plugin ${id.slice(0, 100)}`)
      throw new Conflict(`${id} is not in the configuration: add it to "plugins" and restart the server`)
    }
    const reason = reasonToKeep(configured.plugin)
    if (reason !== undefined)
      throw new Conflict(`${id} cannot be switched because it ${reason}: change "plugins" in the configuration and restart the server`)
    const about = { plugin: id, enabled: isEnabled }
    await recordAuditNote(this.#running.get(AuditTrails), { type: 'plugin.switched', about, ...(actor === undefined ? {} : { actor }) })
    await this.#mutex.use(() => this.#choose(id, isEnabled))
    this.#log.info(isEnabled ? 'Plugin switched on' : 'Plugin switched off', { switched: id, isRunning: this.#running.isOn(id) })
    return (await this.list()).find(one => one.id === id) as PluginState
  }

  /** The choice is stored before a plugin is stopped, and after it has started, so that the stored state is valid after a kill at any point. */
  async #choose(id: string, isEnabled: boolean): Promise<void> {
    if (!isEnabled) {
      await this.#store(id, false)
      await this.#apply(id, false)
      return
    }
    const wasOn = this.#running.isOn(id)
    try {
      await this.#apply(id, true)
    } catch (error) {
      if (!(error instanceof StartupError)) throw error
      throw new Conflict(`${messageOf(error)}. It remains off`, { cause: error })
    }
    try {
      await this.#store(id, true)
    } catch (error) {
      if (!wasOn) await this.#apply(id, false)
      throw error
    }
  }

  /** Switches the plugin in this kernel, if that is possible at run time. */
  async #apply(id: string, isOn: boolean): Promise<void> {
    if (this.#isBegun && this.#switchable.includes(id) && this.#running.isOn(id) !== isOn) await this.#running.switch(id, isOn)
  }

  async #store(plugin: string, isEnabled: boolean): Promise<void> {
    const id = idOfName(plugin)
    const update = () => this.#documents.commit({ update: id, in: pluginChoices, set: { isEnabled } })
    try {
      await this.#documents.commit({ insert: { id, plugin, isEnabled }, into: pluginChoices })
    } catch (error) {
      if (!(error instanceof CommitConflict && error.reason === 'exists')) throw error
      await update()
    }
  }

  #lookLater(): void {
    this.#timer = setTimeout(async () => {
      await this.#mutex.use(() => this.#look())
      if (this.#isBegun) this.#lookLater()
    }, lookEveryMs).unref()
  }

  async #look(): Promise<void> {
    try {
      const choices = await choicesIn(this.#documents)
      for (const name of this.#switchable) await this.#follow(name, choices.get(name) ?? true)
    } catch (error) {
      // Readiness reports a store that does not respond, and the next poll follows soon.
      this.#log.debug('Failed to read which plugins are switched off', { error })
    }
  }

  async #follow(name: string, isOn: boolean): Promise<void> {
    if (isOn === this.#running.isOn(name) || performance.now() < (this.#retryAt.get(name) ?? 0)) return
    try {
      await this.#apply(name, isOn)
      this.#retryAt.delete(name)
      this.#log.info(isOn ? 'Plugin switched on by another kernel' : 'Plugin switched off by another kernel', { switched: name })
    } catch (error) {
      this.#retryAt.set(name, performance.now() + retryMs)
      this.#log.error('Plugin could not be switched; it will be retried', { switched: name, error })
    }
  }

  get #switchable(): readonly string[] {
    return this.#config.plugins.filter(({ plugin }) => plugin.isSwitchable).map(({ name }) => name)
  }

  #configured(id: string) {
    return this.#config.plugins.find(({ name }) => name === id)
  }

  get #running(): Kernel {
    if (!this.#kernel) throw new Error('The kernel has not been created yet')
    return this.#kernel
  }

  get #documents(): DocumentStore {
    if (this.#running.outbox === undefined) throw new Conflict('Plugins cannot be switched: no loaded plugin stores records')
    return this.#running.get(DocumentStore)
  }
}

const choicesIn = async (documents: DocumentStore): Promise<ReadonlyMap<string, boolean>> => {
  const choices = new Map<string, boolean>()
  for await (const { plugin, isEnabled } of documents.scan(pluginChoices, { using: 'byPlugin' })) choices.set(plugin, isEnabled)
  return choices
}
