import type { Clock, Ids, Log } from 'pounce/sdk'
import type { Database } from './database.ts'
import type { GroupCommit } from './group-commit.ts'

/** What the outbox works with. */
export interface OutboxWiring {
  readonly database: Database
  readonly commits: GroupCommit
  readonly ids: Ids
  readonly clock: Clock
  readonly log: Log
}
