import type { Collection, DocumentStore } from 'pounce/sdk'
import type { PluginRoute } from '../http/router.ts'
import type { Http } from '../http/server.ts'
import type { Readiness } from '../readiness.ts'
import type { KernelLog } from '../services/log.ts'
import type { Services } from '../services/services.ts'
import type { ReadinessReport } from '../system-routes.ts'
import type { RetryRule } from './consumer-loop.ts'
import type { BuiltPlugin, Container } from './container.ts'

/** What a kernel's HTTP server is made of besides what the kernel is. */
export interface HttpParts {
  readonly container: Container
  readiness(): Promise<ReadinessReport>
}

/** The parts of a kernel besides its plugins. */
export interface KernelParts {
  /** Ports whose values in `services` replace those of plugins: for tests. */
  readonly overridden: ReadonlySet<string>
  readonly log: KernelLog
  readonly services: Services
  readonly retry?: RetryRule
  /** Locks a data folder for this process. */
  readonly lockDataFolder: (folder: string) => Promise<{ release(): Promise<void> }>
  readonly createHttp: (parts: HttpParts) => Promise<Http>
  readonly readiness: Readiness
  readonly routes: (built: readonly BuiltPlugin[]) => readonly PluginRoute[]
  /** Plugins that do not run; called once only the store is started. */
  readonly switchedOff: (documents: DocumentStore) => Promise<readonly string[]>
  /** From now on plugins may be switched, until the returned function has been called and has resolved. */
  readonly allowSwitching: () => () => Promise<void>
  /** Collections of other modules of the program, declared with those of the plugins. */
  readonly collections: readonly Collection<object>[]
  /** Rejects a start if the stored records do not allow it. */
  readonly checkRecords: (documents: DocumentStore) => Promise<void>
}

/** The extent of a start. */
export interface StartOptions {
  /** `store`: the document store and what it needs, without migrations. `plugins`: all plugins, serving nothing. */
  readonly until?: 'store' | 'plugins' | 'serving'
}
