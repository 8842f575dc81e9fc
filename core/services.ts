import { type Clock, Clock as ClockPort, Fetch, type Ids, Ids as IdsPort, Installation, Mailer, Metrics } from 'pounce/sdk'
import { systemClock } from './clock.ts'
import type { Config } from './config.ts'
import { ObjectIds } from './ids.ts'
import { KnownInstallation } from './installation.ts'
import type { KernelLog } from './log.ts'
import { LogMailer } from './log-mailer.ts'
import { createMetrics, type KernelMetrics } from './metrics.ts'
import { GuardedFetch } from './outbound-fetch.ts'

/** What the kernel provides to plugins, besides each one's config and log. */
export interface Services {
  readonly values: ReadonlyMap<string, unknown>
  readonly clock: Clock
  readonly ids: Ids
  readonly metrics: KernelMetrics
  readonly installation: KnownInstallation
}

/** Of the kernel's ports, those that a plugin may provide instead. */
export const replaceablePorts: ReadonlySet<string> = new Set([Mailer])

/** Makes the kernel's own services. `overrides` are put in their place, and in the place of what plugins provide: for tests. */
export const createServices = async (config: Config, log: KernelLog, overrides: Readonly<Record<string, unknown>>): Promise<Services> => {
  const clock = (overrides[ClockPort] as Clock | undefined) ?? systemClock
  const ids = (overrides[IdsPort] as Ids | undefined) ?? new ObjectIds(clock)
  const metrics = await createMetrics(config.kernel.metrics.enabled, log.with({ plugin: 'metrics' }))
  const installation = new KnownInstallation(
    config.kernel,
    config.plugins.map(({ name }) => name),
  )
  const values = new Map<string, unknown>([
    [ClockPort, clock],
    [IdsPort, ids],
    [Metrics, metrics],
    [Installation, installation],
    [Fetch, new GuardedFetch(config.kernel.outbound.allow)],
    [Mailer, new LogMailer(log.with({ plugin: 'mailer' }))],
    ...Object.entries(overrides),
  ])
  return { values, clock, ids, metrics, installation }
}
