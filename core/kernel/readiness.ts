import type { Outbox } from 'pounce/sdk'
import type { ReadinessReport } from '../http/system-routes.ts'
import type { PluginHealth } from './lifecycles.ts'
import { withTimeLimit } from './time-limit.ts'

const mostParked = 1000
const countLimitMs = 1000

const countEvents = async (outbox: Outbox) => {
  const count = async () => {
    const waiting = Object.values(await outbox.waiting()).reduce((sum, one) => sum + one, 0)
    const parked = (await outbox.parked({ limit: mostParked })).length
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
