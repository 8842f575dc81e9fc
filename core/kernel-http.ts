import { AuditTrails, Callers, Policy } from 'pounce/sdk'
import type { Config } from './config.ts'
import type { BuiltPlugin, Container } from './container.ts'
import type { Http, ReadinessReport } from './http/types.ts'
import type { KernelLog } from './log.ts'
import type { Services } from './services.ts'
import { refusing } from './start-refused.ts'
import { mountedRoutes } from './wiring.ts'

/** What a kernel's HTTP server is made of. */
export interface HttpParts {
  readonly config: Config['kernel']
  readonly log: KernelLog
  readonly services: Services
  readonly container: Container
  readonly built: readonly BuiltPlugin[]
  readonly checkResponses: boolean
  readiness(): Promise<ReadinessReport>
}

/** Makes the HTTP server of a kernel; it does not listen yet. */
export const createKernelHttp = async ({
  config,
  log,
  services,
  container,
  built,
  checkResponses,
  readiness,
}: HttpParts): Promise<Http> => {
  const { createHttp } = await import('./http/create-http.ts')
  const { ids, metrics, installation } = services
  const parts = {
    routes: mountedRoutes(built),
    config: { ...config.http, metrics: config.metrics.enabled },
    log: log.with({ plugin: 'http' }),
    metrics,
    ids,
    installation,
    readiness,
    checkResponses,
    openScope: (values: Readonly<Record<string, unknown>>) => container.requestScope(values),
    trails: container.get(AuditTrails),
    ...(metrics.scrape ? { scrape: metrics.scrape } : {}),
    ...(container.has(Policy) ? { policy: container.get(Policy) } : {}),
    ...(container.has(Callers) ? { callers: container.get(Callers) } : {}),
  }
  return refusing(() => createHttp(parts))
}
