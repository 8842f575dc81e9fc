import type { NewEvent } from '../events.ts'
import type { Stored, Update, Where } from './document-store.ts'

/** Common operations on resources. Reads never check permissions; routes do that first. */
export interface Records<T extends object> {
  /** Also returns trashed and importing resources; undefined if absent. */
  get(id: string): Promise<(T & Stored) | undefined>
  /** The existing ones, by id; at most 1,000. */
  getMany(ids: readonly string[]): Promise<ReadonlyMap<string, T & Stored>>
  /**
   * Changes fields, together with the events that describe the change. Absent: `NotFound`; a `where` that does not hold: `CommitConflict`. Derived fields
   * (isPublic, modified …) are maintained by the owning plugin.
   */
  change(id: string, update: Update & { readonly where?: Where }, events: readonly NewEvent[]): Promise<T & Stored>
}
