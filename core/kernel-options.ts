import type { KernelLog } from './log.ts'
import type { RetryRule } from './retry.ts'

/** What a kernel is booted with besides its configuration. */
export interface KernelOptions {
  /** Instances in the place of what the kernel or a plugin provides, by port: for tests. */
  readonly overrides?: Readonly<Record<string, unknown>>
  /** Standard output at the configured level unless given. */
  readonly log?: KernelLog
  /** Answers that differ from their declaration become errors: for tests. */
  readonly checkResponses?: boolean
  readonly retry?: RetryRule
}

/** How far a start goes. */
export interface StartOptions {
  /** `store`: the document store and what it needs, without migrations. `plugins`: all plugins, serving nothing. */
  readonly until?: 'store' | 'plugins' | 'serving'
}
