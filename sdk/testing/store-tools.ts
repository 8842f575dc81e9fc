import type { DocumentStore } from '../ports/document-store.ts'
import type { Ids } from '../ports/kernel.ts'
import type { TestContext } from './any-runner.ts'
import type { FixedClock } from './fixed-clock.ts'

/** Ids that count up from 1, as 24 hex digits like those of the kernel. */
export const countingIds = (): Ids => {
  let last = 0
  return { next: () => (++last).toString(16).padStart(24, '0') }
}

/** Dependencies of a store under test; leases and retries follow this clock. */
export interface StoreTools {
  readonly clock: FixedClock
  readonly ids: Ids
}

/** Returns a fresh, empty, started store, which `t.teardown` stops. */
export type MakeDocumentStore = (t: TestContext, tools: StoreTools) => Promise<DocumentStore>
