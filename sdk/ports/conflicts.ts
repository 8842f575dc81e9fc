import { Conflict, Problem } from '../problem.ts'

/** Why a guarded change was refused. */
export type Refusal = 'exists' | 'revision' | 'guard' | 'absent'

/** A commit whose condition did not hold. Nothing was changed and no event recorded; the caller decides again. */
export class CommitConflict extends Conflict {
  readonly reason: Refusal

  constructor(reason: Refusal, message: string) {
    super(message)
    this.reason = reason
  }
}

/** A commit that would have given two live documents the same unique key. `index` names the index. */
export class Taken extends Conflict {
  readonly index: string

  constructor(index: string, message: string) {
    super(message)
    this.index = index
  }
}

/**
 * True when a failed commit certainly changed nothing: it was refused for what it is, or for want of space. Of any other failure
 * (`Unavailable`, a lost connection) only the answer may have been lost, so what the change relies on must be kept.
 */
export const changedNothing = (error: unknown): boolean => error instanceof Problem && (error.status < 500 || error.status === 507)
