import type { Collection, DocumentStore } from '../ports/document-store.ts'
import { contractTest, type TestContext, type TestRunner } from './any-runner.ts'
import { documentCommitContract } from './document-commit-contract.ts'
import { documentFindContract } from './document-find-contract.ts'
import { documentRowsContract } from './document-rows-contract.ts'
import { documentWhereContract } from './document-where-contract.ts'
import { FixedClock } from './fixed-clock.ts'
import { notes } from './notes.ts'
import { countingIds, type MakeDocumentStore } from './store-tools.ts'

/** A store with `notes` declared. */
export const storeWithNotes = async (t: TestContext, make: MakeDocumentStore): Promise<DocumentStore> => {
  const store = await make(t, { clock: new FixedClock(), ids: countingIds() })
  await store.declare([notes as Collection<object>])
  return store
}

/** Random commits and queries, compared with a simple in-memory model; needs `fast-check`. The seed is logged; `POUNCE_SEED` repeats a run. */
export function documentStoreModel(runner: TestRunner, make: MakeDocumentStore, { runs }: { readonly runs: number }): void {
  const test = contractTest(runner)
  test(`${runs} random runs of commits and queries agree with a model in memory`, async t => {
    const { runDocumentStoreModel } = await import('./document-store-model.ts')
    await runDocumentStoreModel(t, make, runs)
  })
}

/** The contract of `DocumentStore`, except for its outbox: see `outboxContract`. */
export function documentStoreContract(runner: TestRunner, make: MakeDocumentStore): void {
  const test = contractTest(runner)
  const open = (t: TestContext) => storeWithNotes(t, make)
  documentCommitContract(test, open)
  documentFindContract(test, open)
  documentWhereContract(test, open)
  documentRowsContract(test, open)
}
