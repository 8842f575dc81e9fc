import { Conflict } from '../problem.ts'

/** Why a guarded change was refused. */
export type Refusal = 'exists' | 'revision' | 'guard' | 'absent'

/** A commit whose condition did not hold. Nothing was changed and no event recorded; the caller decides anew. */
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
