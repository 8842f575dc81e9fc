import type { IndexChange } from 'pounce/sdk/search'

/** Changes for the index in one file. */
export interface WriteTask {
  readonly path: string
  readonly changes: readonly IndexChange[]
}

/** An error as transferred between threads, with its SQLite result code or system error code. */
export interface WriteFailure {
  readonly message: string
  readonly errcode?: number
  readonly code?: string
  readonly syscall?: string
}
