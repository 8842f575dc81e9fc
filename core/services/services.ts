import { type Clock, Clock as ClockPort, type Ids, Ids as IdsPort, Installation, Mailer, Metrics } from 'pounce/sdk'
import type { Config } from '../kernel/config.ts'
import type { KernelLog, Services } from '../kernel/kernel-options.ts'
import { systemClock } from './clock.ts'
import { ObjectIds } from './ids.ts'
import { InstallationInfo } from './installation.ts'
import { LogMailer } from './log-mailer.ts'
import { createMetrics } from './metrics.ts'

/** Makes what the kernel hands to plugins. `overrides` are put in their place, and in the place of what plugins provide: for tests. */
export const createServices = async (config: Config, log: KernelLog, overrides: Readonly<Record<string, unknown>>): Promise<Services> => {
  const clock = (overrides[ClockPort] as Clock | undefined) ?? systemClock
  const ids = (overrides[IdsPort] as Ids | undefined) ?? new ObjectIds(clock)
  const metrics = await createMetrics(config.kernel.metrics.enabled, log.with({ plugin: 'metrics' }))
  const installation = new InstallationInfo(
    config.kernel,
    config.plugins.map(({ name }) => name),
  )
  const values = new Map<string, unknown>([
    [ClockPort, clock],
    [IdsPort, ids],
    [Metrics, metrics],
    [Installation, installation],
    [Mailer, new LogMailer(log.with({ plugin: 'mailer' }))],
    ...Object.entries(overrides),
  ])
  return { values, replaceable: new Set([Mailer]), clock, ids, metrics, installation }
}
