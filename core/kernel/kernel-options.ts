import type { Collection, DocumentStore } from 'pounce/sdk'
import type { PluginRoute } from '../http/router.ts'
import type { Http } from '../http/server.ts'
import type { Readiness } from '../readiness.ts'
import type { KernelLog } from '../services/log.ts'
import type { Services } from '../services/services.ts'
import type { ReadinessReport } from '../system-routes.ts'
import type { RetryRule } from './consumer-loop.ts'
import type { BuiltPlugin, Container } from './container.ts'

/** The parts of a kernel's HTTP server that the kernel provides. */
export interface HttpParts {
  readonly container: Container
  readiness(): Promise<ReadinessReport>
}

/** The parts of a kernel other than its plugins. */
export interface KernelParts {
  /** Ports whose values in `services` replace what plugins provide. For tests. */
  readonly overridden: ReadonlySet<string>
  readonly log: KernelLog
  readonly services: Services
  readonly retry?: RetryRule
  /** Locks a data folder for this process. */
  readonly lockDataFolder: (folder: string) => Promise<{ release(): Promise<void> }>
  readonly createHttp: (parts: HttpParts) => Promise<Http>
  readonly readiness: Readiness
  readonly routes: (built: readonly BuiltPlugin[]) => readonly PluginRoute[]
  /** Plugins that are switched off; called when only the store has started. */
  readonly switchedOff: (documents: DocumentStore) => Promise<readonly string[]>
  /** Allows switching of plugins until the returned function has been called and has resolved. */
  readonly allowSwitching: () => () => Promise<void>
  /** Collections of other modules of the server, declared with those of the plugins. */
  readonly collections: readonly Collection<object>[]
  /** Refuses to start with records that the server cannot use. */
  readonly checkRecords: (documents: DocumentStore) => Promise<void>
}

/** How much of the server is started. */
export interface StartOptions {
  /** `store`: the document store and what it needs, without migrations. `plugins`: all plugins, without serving. */
  readonly until?: 'store' | 'plugins' | 'serving'
}
