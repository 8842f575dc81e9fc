import type { NewEvent } from '../events.ts'
import type { Stored, Update, Where } from './document-store.ts'

/** What every port of a resource offers. Reading never checks rights: routes do that first. */
export interface Records<T extends object> {
  /** Also one in the trash or being imported; undefined when there is none. */
  get(id: string): Promise<(T & Stored) | undefined>
  /** Those that exist, at most 1,000. */
  getMany(ids: readonly string[]): Promise<ReadonlyMap<string, T & Stored>>
  /**
   * Changes fields, with the events that say so. Absent: `NotFound`; a `where` that does not hold: `CommitConflict`.
   * Fields that follow from others (isPublic, modified …) are kept right by the plugin that owns them.
   */
  change(id: string, update: Update & { readonly where?: Where }, events: readonly NewEvent[]): Promise<T & Stored>
}
