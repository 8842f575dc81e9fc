import type { Lifecycle, Log } from 'pounce/sdk'
import type { BuiltPlugin } from './container.ts'
import { messageOf, StartRefused } from './start-refused.ts'
import { withTimeLimit } from './time-limit.ts'

/** How one plugin is. */
export interface PluginHealth {
  readonly plugin: string
  readonly ok: boolean
  /** What is wrong, in the plugin's words. */
  readonly error?: string
}

const startLimitMs = 60_000
const healthLimitMs = 2_000
const disposeLimitMs = 10_000

const startOf = (instance: object): Lifecycle => instance as Lifecycle

/** Starts plugins one at a time in the order given, and ends them backwards, one at a time, each with a time limit. */
export class Lifecycles {
  readonly #log: Log
  readonly #started: { readonly plugin: BuiltPlugin; readonly instances: object[] }[] = []

  constructor(log: Log) {
    this.#log = log
  }

  /** Starts one plugin's classes in the order they were made. A failure names the plugin and keeps the cause; nothing is disposed of here. */
  async start(plugin: BuiltPlugin): Promise<void> {
    const entry = { plugin, instances: [] as object[] }
    this.#started.push(entry)
    for (const instance of plugin.instances) {
      try {
        await withTimeLimit(startOf(instance).start?.(), startLimitMs, `start() took longer than ${startLimitMs / 1000} s`)
      } catch (error) {
        throw new StartRefused(`${plugin.name} did not start: ${messageOf(error)}`, { cause: error })
      }
      entry.instances.push(instance)
    }
  }

  /** How every started plugin is now, in the order of start. Never rejects. */
  async health(): Promise<readonly PluginHealth[]> {
    return Promise.all(this.#started.map(({ plugin, instances }) => this.#healthOf(plugin, instances)))
  }

  /** Ends what was started, backwards. A class that fails or takes too long is logged and does not hold up the others. */
  async stop(): Promise<void> {
    for (let entry = this.#started.pop(); entry; entry = this.#started.pop())
      for (const instance of entry.instances.toReversed()) await this.#dispose(entry.plugin, instance)
  }

  async #healthOf(plugin: BuiltPlugin, instances: readonly object[]): Promise<PluginHealth> {
    try {
      for (const instance of instances)
        await withTimeLimit(startOf(instance).health?.(), healthLimitMs, `no answer within ${healthLimitMs / 1000} s`)
      return { plugin: plugin.name, ok: true }
    } catch (error) {
      return { plugin: plugin.name, ok: false, error: messageOf(error) }
    }
  }

  async #dispose(plugin: BuiltPlugin, instance: object): Promise<void> {
    try {
      await withTimeLimit(startOf(instance).dispose?.(), disposeLimitMs, `dispose() took longer than ${disposeLimitMs / 1000} s`)
    } catch (error) {
      this.#log.error(`${plugin.name} did not end well`, { plugin: plugin.name, error })
    }
  }
}
