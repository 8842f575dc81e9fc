import type { NewEvent } from './events.ts'
import { CommitConflict } from './ports/conflicts.ts'
import type { Collection, Committed, DocumentStore, FieldPath, Find, Stored, Where } from './ports/document-store.ts'

const batch = 200

/** Throws the first failure of `commitEach` that is no conflict. A conflict means that someone else was faster, and what they did counts. */
export const requireDone = (outcome: readonly Committed<object>[]): void => {
  for (const each of outcome) if (!each.ok && !(each.error instanceof CommitConflict)) throw each.error
}

/** What goes, and how. */
export interface Removal<T extends object, I extends string = string> extends Pick<Find<FieldPath<T>, I>, 'using' | 'where' | 'sort'> {
  /** What must still hold of one that was found; else it stays, and the query must no longer find it. */
  readonly guard?: (document: T & Stored) => Where
  /** The events of the removal. */
  readonly events?: (document: T & Stored) => readonly NewEvent[]
  /** Ends between batches when aborted. */
  readonly signal?: AbortSignal | undefined
}

/**
 * Takes away all documents that a query finds, in batches, until it finds none. What another one has taken at the same moment is not an error. Rejects when a
 * commit fails otherwise: the query would find the document again, without end.
 */
export const removeFound = async <T extends object, I extends string>(
  documents: DocumentStore,
  from: Collection<T, I>,
  { guard, events, signal, ...query }: Removal<T, I>,
): Promise<void> => {
  while (!signal?.aborted) {
    const { items } = await documents.find(from, { ...query, limit: batch })
    if (items.length === 0) return
    const gone = items.map(document => ({
      change: { tombstone: document.id, in: from, ...(guard ? { where: guard(document) } : {}) },
      events: events?.(document) ?? [],
    }))
    requireDone(await documents.commitEach(gone))
  }
}
