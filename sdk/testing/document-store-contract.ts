import type { ExecutionContext, TestFn } from 'ava'
import type { Collection, DocumentStore } from '../ports/document-store.ts'
import type { Ids } from '../ports/kernel.ts'
import { documentCommitContract } from './document-commit-contract.ts'
import { documentFindContract } from './document-find-contract.ts'
import { documentLinesContract } from './document-lines-contract.ts'
import { documentWhereContract } from './document-where-contract.ts'
import { FixedClock } from './fixed-clock.ts'
import { notes } from './notes.ts'

/** Ids that count up from 1: 24 hex digits, as the kernel's. */
export const countingIds = (): Ids => {
  let last = 0
  return { next: () => (++last).toString(16).padStart(24, '0') }
}

/** What a store under test is made with; leases and retries follow this clock. */
export interface StoreTools {
  readonly clock: FixedClock
  readonly ids: Ids
}

/** Gives a fresh, empty, started store; `t.teardown` ends it. */
export type MakeDocumentStore = (t: ExecutionContext, tools: StoreTools) => Promise<DocumentStore>

/** A store with `notes` declared. */
export const storeWithNotes = async (t: ExecutionContext, make: MakeDocumentStore): Promise<DocumentStore> => {
  const store = await make(t, { clock: new FixedClock(), ids: countingIds() })
  await store.declare([notes as Collection<object>])
  return store
}

/** Every promise of `DocumentStore`, save for its outbox: see `outboxContract`. */
export function documentStoreContract(test: TestFn, make: MakeDocumentStore): void {
  const open = (t: ExecutionContext) => storeWithNotes(t, make)
  documentCommitContract(test, open)
  documentFindContract(test, open)
  documentWhereContract(test, open)
  documentLinesContract(test, open)
}
