import type { Lifecycle, Log } from 'pounce/sdk'
import { pause, withTimeLimit } from 'pounce/sdk/kit'
import type { BuiltPlugin } from './container.ts'
import { messageOf, StartupError } from './startup-error.ts'

/** The health of a plugin. */
export interface PluginHealth {
  readonly plugin: string
  readonly ok: boolean
  /** The error that the plugin reported. */
  readonly error?: string
  /** A message for operators while the plugin is healthy. */
  readonly note?: string
}

const slowStartMs = 10_000
/** Grace period of an interrupted start, so that opened resources are closed in order. */
const interruptedStartMs = 500
const healthLimitMs = 2_000
const disposeLimitMs = 10_000

const startOf = (instance: object): Lifecycle => instance as Lifecycle

/** Starts plugins one at a time in the given order, and stops them one at a time in reverse order, each with a time limit. */
export class Lifecycles {
  readonly #log: Log
  readonly #startTimeoutMs: number
  /** Aborting it with a `StartupError` prevents further starts, and soon abandons a start in progress. */
  readonly interrupted = new AbortController()
  #started: readonly { readonly plugin: BuiltPlugin; readonly instances: object[] }[] = []

  constructor(log: Log, startTimeoutMs: number) {
    this.#log = log
    this.#startTimeoutMs = startTimeoutMs
  }

  /**
   * Starts one plugin's classes in creation order. An error names the plugin and keeps the cause; nothing is disposed of here.
   * An abandoned start keeps running in the background: the process has to exit.
   */
  async start(plugin: BuiltPlugin): Promise<void> {
    this.interrupted.signal.throwIfAborted()
    const entry = { plugin, instances: [] as object[] }
    this.#started = [...this.#started, entry]
    for (const instance of plugin.instances) {
      try {
        await this.#begin(plugin, instance)
      } catch (error) {
        this.interrupted.signal.throwIfAborted()
        throw new StartupError(`${plugin.name} did not start: ${messageOf(error)}`, { cause: error })
      }
      entry.instances.push(instance)
    }
    this.interrupted.signal.throwIfAborted()
  }

  async #begin(plugin: BuiltPlugin, instance: object): Promise<void> {
    const started = startOf(instance).start?.()
    if (started === undefined) return
    const limitMs = this.#startTimeoutMs
    const startedAt = performance.now()
    const slow = setInterval(() => {
      const elapsedMs = Math.round(performance.now() - startedAt)
      this.#log.warn('Plugin is still starting', { plugin: plugin.name, elapsedMs, startTimeoutMs: limitMs })
    }, slowStartMs)
    const settled = new AbortController()
    try {
      const limited = withTimeLimit(started, limitMs, `start() took longer than ${limitMs / 1000} s (startTimeoutMs)`)
      await Promise.race([limited, this.#interruption(settled.signal)])
    } finally {
      clearInterval(slow)
      settled.abort()
    }
  }

  async #interruption(settled: AbortSignal): Promise<void> {
    const { signal } = this.interrupted
    await pause(2 ** 31 - 1, AbortSignal.any([signal, settled]))
    if (!settled.aborted) await pause(interruptedStartMs, settled)
    if (!settled.aborted) throw signal.reason
  }

  /** The current health of all started plugins, in start order. Never rejects. */
  async health(): Promise<readonly PluginHealth[]> {
    return Promise.all(this.#started.map(({ plugin, instances }) => this.#healthOf(plugin, instances)))
  }

  /** Stops all started plugins, or one of them, in reverse order. A class that fails or takes too long is logged and does not block the others. */
  async stop(name?: string): Promise<void> {
    const ending = this.#started.filter(({ plugin }) => name === undefined || plugin.name === name)
    this.#started = this.#started.filter(one => !ending.includes(one))
    for (const { plugin, instances } of ending.toReversed())
      for (const instance of instances.toReversed()) await this.#dispose(plugin, instance)
  }

  async #healthOf(plugin: BuiltPlugin, instances: readonly object[]): Promise<PluginHealth> {
    try {
      const notes: string[] = []
      for (const instance of instances) {
        const note = await withTimeLimit(startOf(instance).health?.(), healthLimitMs, `no answer within ${healthLimitMs / 1000} s`)
        if (typeof note === 'string') notes.push(note)
      }
      return { plugin: plugin.name, ok: true, ...(notes.length > 0 && { note: notes.join('; ') }) }
    } catch (error) {
      return { plugin: plugin.name, ok: false, error: messageOf(error) }
    }
  }

  async #dispose(plugin: BuiltPlugin, instance: object): Promise<void> {
    try {
      await withTimeLimit(startOf(instance).dispose?.(), disposeLimitMs, `dispose() took longer than ${disposeLimitMs / 1000} s`)
    } catch (error) {
      this.#log.error(`${plugin.name} failed to stop`, { plugin: plugin.name, error })
    }
  }
}
