import type { Kind, Ref } from '../model/kind.ts'
import type { Time } from '../model/records.ts'
import { contributions, port } from '../port.ts'
import type { Collection, Find, Where } from './document-store.ts'

/** Records of a kind that reports read in bulk, without access checks: for server admins only. Contributed by the plugin that owns them. */
export interface ReportSource {
  readonly kind: Kind
  readonly records: Collection<object>
  /** Records ordered by `created`: an index, and conditions for the fields before it. */
  readonly byCreated: { readonly using: string; readonly where: readonly Where[] }
  /** The records in a space, in any state; for kinds that can be in spaces. */
  inSpace?(space: string): Pick<Find, 'using' | 'where'>
}
/** Plugins whose records are read by reports. */
export const ReportSources = contributions<ReportSource>('reportSources')

/** A run of an extractor, for reports. */
export interface ReportedRun {
  readonly id: string
  readonly target: Ref
  readonly extractor: string
  readonly user: string | null
  /** Its status messages, oldest first; `SUBMITTED` until the first one. */
  readonly lines: readonly { readonly status: string; readonly at: Time }[]
}

/** Requested runs of extractors. */
export interface ReportedRuns {
  /** Runs requested in a time range (inclusive), oldest first; read lazily. */
  between(since: Time | undefined, until: Time | undefined): AsyncIterable<ReportedRun>
}
export const ReportedRuns = port<ReportedRuns>('reportedRuns')
