import type { AnyEvent } from './events.ts'
import { and, type Collection, type DocumentStore, eq, isIn } from './ports/document-store.ts'
import { removeFound } from './remove-found.ts'

/** Deletes the dead letters of deleted files and datasets, which nobody can rerun or cancel, from the jobs of a transport: `events` are their removals. */
export const removeDeadLetters = async (
  documents: DocumentStore,
  jobs: Collection<object, string>,
  events: readonly AnyEvent[],
): Promise<void> => {
  for (const [kind, gone] of Map.groupBy(events, ({ subject }) => subject.kind)) {
    const ids = gone.map(({ subject }) => subject.id)
    const where = and(eq('target.kind', kind), isIn('target.id', ids), eq('state', 'dead'))
    await removeFound(documents, jobs, { using: 'byTarget', where })
  }
}
