import { withTimeLimit } from 'pounce/sdk/kit'
import type { AbsentConsumer, Outbox } from 'pounce/sdk/store-kit'
import type { PluginHealth } from './kernel/lifecycles.ts'
import type { ReadinessReport } from './system-routes.ts'

/** Events kept for a consumer that is not running, with descriptions for the operator. */
export interface KeptEvents extends AbsentConsumer {
  readonly kept: string
  readonly remedy: string
}

const whatIsKept = ({ waiting, oldest }: AbsentConsumer): string => {
  if (waiting === 0) return 'no event waits'
  return oldest === null ? `${waiting} events wait` : `${waiting} events wait, the oldest since ${oldest}`
}

const remedyForAbsent = (consumer: string): string =>
  `its plugin is not loaded: load it, or drop them with \`pounce events forget ${consumer}\``

const remedyForOff = (plugin: string): string => `its plugin is switched off: run \`pounce plugin on ${plugin}\``

/**
 * Consumers for which events are kept; empty without an outbox. `off` maps consumers of plugins that are switched off to their plugins. They remain
 * declared in the outbox, which therefore does not report them as absent.
 */
export const keptEvents = async (
  outbox: Outbox | undefined,
  off: ReadonlyMap<string, string> = new Map(),
): Promise<readonly KeptEvents[]> => {
  if (!outbox) return []
  const waiting = off.size > 0 ? await outbox.waiting() : {}
  const switchedOff = [...off].map(([consumer, plugin]) => {
    const one = { consumer, waiting: waiting[consumer] ?? 0, oldest: null }
    return { ...one, kept: whatIsKept(one), remedy: remedyForOff(plugin) }
  })
  const absent = (await outbox.absent()).map(one => ({ ...one, kept: whatIsKept(one), remedy: remedyForAbsent(one.consumer) }))
  return [...absent, ...switchedOff]
}

const maxDeadLetters = 1000
const countLimitMs = 1000

const countEvents = async (outbox: Outbox, keptFor: () => Promise<readonly KeptEvents[]>) => {
  const count = async () => {
    const waiting = Object.values(await outbox.waiting()).reduce((sum, one) => sum + one, 0)
    const deadLetters = (await outbox.deadLetters({ limit: maxDeadLetters })).length
    const absent = (await keptFor()).map(({ consumer, waiting: kept, oldest }) => ({ consumer, waiting: kept, oldest }))
    return { waiting, parked: deadLetters, absent }
  }
  try {
    return await withTimeLimit(count(), countLimitMs, 'no answer')
  } catch {
    // A store that does not respond is already reported as an unhealthy plugin.
    return undefined
  }
}

/** The inputs of a readiness report. */
export interface ReadinessSources {
  readonly health: () => Promise<readonly PluginHealth[]>
  /** The plugin of the document store. */
  readonly storePlugin: string | undefined
  readonly outbox: Outbox | undefined
  readonly keptEvents: () => Promise<readonly KeptEvents[]>
}

/** A kernel is ready while it runs and its document store responds; other backends may be unavailable (promises P4-P7). */
const look = async (isRunning: boolean, sources: ReadinessSources): Promise<ReadinessReport> => {
  const { storePlugin, outbox } = sources
  const health = await sources.health()
  const isStoreWell = health.every(({ plugin, ok }) => ok || plugin !== storePlugin)
  const counts = isRunning && isStoreWell && outbox ? await countEvents(outbox, sources.keptEvents) : undefined
  const plugins = health.map(({ plugin, ok, error, note }) => {
    const message = error ?? note
    return { id: plugin, ok, ...(message === undefined ? {} : { message }) }
  })
  return { ready: isRunning && isStoreWell, plugins, ...counts }
}

const lookEveryMs = 1_000

/** Evaluates the readiness of a running kernel at most once a second. */
export class Readiness {
  #lookedAt = Number.NEGATIVE_INFINITY
  #report: Promise<ReadinessReport> = Promise.resolve({ ready: false, plugins: [] })

  readonly keptEvents = keptEvents

  /** Drops the cached report. */
  expire(): void {
    this.#lookedAt = Number.NEGATIVE_INFINITY
  }

  /** Never rejects. */
  report(isRunning: boolean, sources: ReadinessSources): Promise<ReadinessReport> {
    if (performance.now() - this.#lookedAt > lookEveryMs || !isRunning) {
      this.#lookedAt = performance.now()
      this.#report = look(isRunning, sources)
    }
    return this.#report
  }
}
