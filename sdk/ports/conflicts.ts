import { Conflict, Problem } from '../problem.ts'

/** Why a guarded change was refused. */
export type Refusal = 'exists' | 'revision' | 'guard' | 'absent'

/** The precondition of a commit did not hold. Nothing was changed and no event recorded; re-read and decide again. */
export class CommitConflict extends Conflict {
  readonly reason: Refusal

  constructor(reason: Refusal, message: string) {
    super(message)
    this.reason = reason
  }
}

/** A commit would have given two live documents the same unique key. `index` is the name of the index. */
export class Taken extends Conflict {
  readonly index: string

  constructor(index: string, message: string) {
    super(message)
    this.index = index
  }
}

/**
 * True if a failed commit certainly changed nothing: it was rejected as invalid, conflicting or for lack of space. After any other failure (`Unavailable`, a
 * lost connection) the commit may have succeeded, so anything it depends on must be kept.
 */
export const changedNothing = (error: unknown): boolean => error instanceof Problem && (error.status < 500 || error.status === 507)
