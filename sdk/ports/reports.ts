import type { Kind, Ref } from '../model/kind.ts'
import type { Time } from '../model/records.ts'
import { contributions, port } from '../port.ts'
import type { Collection, Find, Where } from './document-store.ts'

/** Records of a kind that reports read in bulk, past every port: for server admins only. Contributed by the plugin that keeps them. */
export interface ReportSource {
  readonly kind: Kind
  readonly records: Collection<object>
  /** Records of a report, by `created`: an index, and what has to hold of the fields before it. */
  readonly byCreated: { readonly using: string; readonly where: readonly Where[] }
  /** Those that are in a space, where a kind can be; in whatever state. */
  inSpace?(space: string): Pick<Find, 'using' | 'where'>
}
/** Plugins whose records reports read. */
export const ReportSources = contributions<ReportSource>('reportSources')

/** A run of an extractor, for reports. */
export interface ReportedRun {
  readonly id: string
  readonly target: Ref
  readonly extractor: string
  readonly user: string | null
  /** Its status messages, oldest first; `SUBMITTED` until something began. */
  readonly lines: readonly { readonly status: string; readonly at: Time }[]
}

/** Runs of extractors, as they were requested. */
export interface ReportedRuns {
  /** Those that were requested in a time, both ends included, oldest first; read while you iterate. */
  between(since: Time | undefined, until: Time | undefined): AsyncIterable<ReportedRun>
}
export const ReportedRuns = port<ReportedRuns>('reportedRuns')
