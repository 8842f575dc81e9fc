import type { NewEvent } from './events.ts'
import { CommitConflict } from './ports/conflicts.ts'
import type { Collection, Committed, DocumentStore, FieldPath, Find, Stored, Where } from './ports/document-store.ts'

const batchSize = 200

/** Throws the first failure of `commitEach` other than a conflict. A conflict means that a concurrent change came first, which is accepted. */
export const requireDone = (outcome: readonly Committed<object>[]): void => {
  for (const each of outcome) if (!each.ok && !(each.error instanceof CommitConflict)) throw each.error
}

/** Which documents to remove, and how. */
export interface Removal<T extends object, I extends string = string> extends Pick<Find<FieldPath<T>, I>, 'using' | 'where' | 'sort'> {
  /** A condition that must still hold for a found document; otherwise it stays, and the query must no longer match it. */
  readonly guard?: (document: T & Stored) => Where
  /** The events of the removal. */
  readonly events?: (document: T & Stored) => readonly NewEvent[]
  /** Aborting it stops the removal between batches. */
  readonly signal?: AbortSignal | undefined
}

/**
 * Removes all documents that a query finds, in batches, until none is left. Documents removed concurrently are not an error. Rejects when a commit fails for
 * another reason, since the query would keep finding the document forever.
 */
export const removeFound = async <T extends object, I extends string>(
  documents: DocumentStore,
  from: Collection<T, I>,
  { guard, events, signal, ...query }: Removal<T, I>,
): Promise<void> => {
  while (!signal?.aborted) {
    const { items } = await documents.find(from, { ...query, limit: batchSize })
    if (items.length === 0) return
    const removals = items.map(document => ({
      change: { tombstone: document.id, in: from, ...(guard ? { where: guard(document) } : {}) },
      events: events?.(document) ?? [],
    }))
    requireDone(await documents.commitEach(removals))
  }
}
