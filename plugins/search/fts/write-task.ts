import type { IndexChange } from 'pounce/sdk/search'

/** Changes for the index in one file. */
export interface WriteTask {
  readonly path: string
  readonly changes: readonly IndexChange[]
}

/** What is left of an error on its way between threads: SQLite's number, or the file system's code. */
export interface WriteFailure {
  readonly message: string
  readonly errcode?: number
  readonly code?: string
  readonly syscall?: string
}
