import { CommitConflict, type Committed, Taken } from 'pounce/sdk'
import type { DefinitionRecord } from './collection.ts'

/** What is there already, under its id or its address, is as good as made. */
export const requireThere = (outcome: readonly Committed<DefinitionRecord>[]): void => {
  for (const each of outcome) if (!each.ok && !(each.error instanceof CommitConflict) && !(each.error instanceof Taken)) throw each.error
}
