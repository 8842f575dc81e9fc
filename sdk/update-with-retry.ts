import type { NewEvent } from './events.ts'
import type { Kind } from './model/kind.ts'
import { CommitConflict } from './ports/conflicts.ts'
import type { Collection, DocumentStore, Stored } from './ports/document-store.ts'
import { Conflict, NotFound } from './problem.ts'

/** The new state of a document and the events of the change. */
export interface DocumentChange<T extends object> {
  readonly set: Partial<T>
  readonly events: readonly NewEvent[]
}

const tries = 200

/**
 * Updates a document based on its current content: reads it, lets `next` compute the new fields, and stores them if it was not changed concurrently; otherwise
 * starts over with the new content. `next` returns undefined when nothing is to be done. Throws `NotFound` if the document is absent.
 */
export const updateWithRetry = async <T extends object>(
  documents: DocumentStore,
  from: Collection<T>,
  { kind, id }: { readonly kind: Kind; readonly id: string },
  next: (now: T & Stored) => Promise<DocumentChange<T> | undefined> | DocumentChange<T> | undefined,
): Promise<T & Stored> => {
  for (let left = tries; left > 0; left--) {
    const now = await documents.get(from, id)
    if (!now) throw new NotFound(kind)
    const wanted = await next(now)
    if (!wanted) return now
    try {
      return await documents.commit({ replace: { ...now, ...wanted.set }, in: from }, wanted.events)
    } catch (error) {
      if (!(error instanceof CommitConflict)) throw error
    }
  }
  throw new Conflict(`Too many concurrent changes of this ${kind}; try again`)
}

/** Awaits a commit of one document and throws `NotFound` if the store reports it as absent. */
export const orNotFound = async <T>(kind: Kind, commit: Promise<T>): Promise<T> => {
  try {
    return await commit
  } catch (error) {
    if (error instanceof CommitConflict && error.reason === 'absent') throw new NotFound(kind, { cause: error })
    throw error
  }
}

/** The result of a commit; undefined if it was refused because of a concurrent change: its guard failed, or an inserted record already exists. */
export const unlessConflict = async <T>(commit: Promise<T>): Promise<T | undefined> => {
  try {
    return await commit
  } catch (error) {
    if (error instanceof CommitConflict) return undefined
    throw error
  }
}
