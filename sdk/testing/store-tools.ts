import type { DocumentStore } from '../ports/document-store.ts'
import type { Ids } from '../ports/kernel.ts'
import type { TestContext } from './any-runner.ts'
import type { FixedClock } from './fixed-clock.ts'

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
export type MakeDocumentStore = (t: TestContext, tools: StoreTools) => Promise<DocumentStore>
