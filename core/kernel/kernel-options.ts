import type { Clock, Collection, DocumentStore, Ids, Installation, Log, Metrics } from 'pounce/sdk'
import type { Http } from '../http/server.ts'
import type { ReadinessReport } from '../system-routes.ts'
import type { RetryRule } from './consumer-loop.ts'
import type { BuiltPlugin, Container } from './container.ts'

/** A log that can make others with fixed fields. */
export interface KernelLog extends Log {
  /** The same log with fields in every line. */
  with(fields: Readonly<Record<string, unknown>>): KernelLog
  /** A warning that hides nothing: for what the log is the only place to read. */
  warnOpenly(message: string, fields: Readonly<Record<string, unknown>>): void
}

/** Measurements that can be read. */
export interface KernelMetrics extends Metrics {
  /** The text for `/metrics`; absent where nothing is measured. */
  readonly scrape?: () => Promise<{ readonly contentType: string; readonly text: string }>
}

/** What plugins find besides each other and their own config and log. */
export interface Services {
  readonly values: ReadonlyMap<string, unknown>
  /** Of the ports in `values`, those that a plugin may provide instead. */
  readonly replaceable: ReadonlySet<string>
  readonly clock: Clock
  readonly ids: Ids
  readonly metrics: KernelMetrics
  /** Its name and address come in during the start. */
  readonly installation: Installation & { named(instance: string): void; reachedAt(url: string): void }
}

/** What a kernel's HTTP server is made of besides what the kernel is. */
export interface HttpParts {
  readonly container: Container
  readonly built: readonly BuiltPlugin[]
  readiness(): Promise<ReadinessReport>
}

/** What the kernel is made of besides its plugins. */
export interface KernelParts {
  /** Ports whose values in `services` stand in the place of what plugins provide: for tests. */
  readonly overridden: ReadonlySet<string>
  readonly log: KernelLog
  readonly services: Services
  readonly retry?: RetryRule
  /** Takes a data folder for this process. */
  readonly lockDataFolder: (folder: string) => Promise<{ release(): Promise<void> }>
  readonly createHttp: (parts: HttpParts) => Promise<Http>
  /** Records of other modules of the program, declared with those of the plugins. */
  readonly collections: readonly Collection<object>[]
  /** Refuses a start on records that are not fit for one. */
  readonly checkRecords: (documents: DocumentStore) => Promise<void>
}

/** How far a start goes. */
export interface StartOptions {
  /** `store`: the document store and what it needs, without migrations. `plugins`: all plugins, serving nothing. */
  readonly until?: 'store' | 'plugins' | 'serving'
}
