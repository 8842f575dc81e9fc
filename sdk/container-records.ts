import { type LifeState, lifeStates } from './model/kind.ts'
import { and, type Collection, type DocumentStore, eq, type Find, type Stored } from './ports/document-store.ts'

/** Which field of the records names their containers. */
export interface Containment<T extends { readonly state: LifeState }> {
  readonly records: Collection<T>
  /** An index on `state`, `field` and `created`. */
  readonly using: string
  readonly field: string
}

const batchSize = 200
/** How many records are removed at a time: concurrent commits share a sync of the log. */
const maxConcurrent = 16

const queryOf = <T extends { readonly state: LifeState }>(
  { using, field }: Containment<T>,
  state: LifeState,
  container: string,
): Omit<Find, 'limit'> => ({
  using,
  where: and(eq('state', state), eq(field, container)),
  sort: { by: 'created', order: 'ascending' },
})

/** Iterates over all records in a container, in any state, page by page. */
export async function* recordsInContainer<T extends { readonly state: LifeState }>(
  documents: DocumentStore,
  containment: Containment<T>,
  container: string,
): AsyncIterable<T & Stored> {
  for (const state of lifeStates) yield* documents.scan(containment.records, queryOf(containment, state, container))
}

/** Removes records from a container until none is left, including records added meanwhile. */
export const removeAllFromContainer = async <T extends { readonly state: LifeState }>(
  documents: DocumentStore,
  containment: Containment<T>,
  container: string,
  takeOut: (record: T & Stored) => Promise<unknown>,
): Promise<void> => {
  for (const state of lifeStates) {
    for (;;) {
      const { items } = await documents.find(containment.records, { ...queryOf(containment, state, container), limit: batchSize })
      if (items.length === 0) break
      for (let at = 0; at < items.length; at += maxConcurrent) {
        // All must have ended before the event is handled again.
        const outcomes = await Promise.allSettled(items.slice(at, at + maxConcurrent).map(takeOut))
        for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
      }
    }
  }
}
