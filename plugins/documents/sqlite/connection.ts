import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { NoSpace, Unavailable } from 'pounce/sdk'

export type SqlValue = SQLInputValue
export type Row = readonly unknown[]

/** SQLite's primary result codes, of its `Result Codes` page. */
const codes = { busy: 5, locked: 6, readOnly: 8, ioError: 10, full: 13, cannotOpen: 14 } as const

const codeOf = (error: unknown): number | undefined => {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return undefined
  return error.errcode & 0xff
}

/** True of an error of the database itself, as against one that a caller's change brought about. */
export const isDatabaseError = (error: unknown): boolean => codeOf(error) !== undefined

/** True when what the connection holds in memory can no longer be relied on, such as after a failed fsync. */
export const isBroken = (error: unknown): boolean => codeOf(error) === codes.ioError || codeOf(error) === codes.cannotOpen

/** What a caller is told: `NoSpace` for a full disk, `Unavailable` for one that fails or is locked; other errors as they are. */
export const problemOf = (error: unknown): Error => {
  const cause = error instanceof Error ? error : new Error(String(error))
  switch (codeOf(error)) {
    case codes.full:
      return new NoSpace(undefined, { cause })
    case codes.busy:
    case codes.locked:
    case codes.readOnly:
    case codes.ioError:
    case codes.cannotOpen:
      return new Unavailable('The document store cannot be read or written at the moment', { cause })
    default:
      return cause
  }
}

/** How a database file is opened. */
export interface Opening {
  readonly file: string
  readonly readOnly: boolean
  readonly cacheMiB: number
  /** The file never grows beyond this; 0 for no limit. */
  readonly maxSizeMiB: number
}

/** An open database whose statements are prepared once; rows are arrays. Every method is synchronous. */
export class Connection {
  #db: DatabaseSync
  #statements = new Map<string, StatementSync>()

  constructor({ file, readOnly, cacheMiB, maxSizeMiB }: Opening) {
    this.#db = new DatabaseSync(file, { readOnly, timeout: 1000 })
    this.#db.exec(`PRAGMA cache_size=-${cacheMiB * 1024}`)
    if (readOnly) return
    this.#db.exec('PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA wal_autocheckpoint=2000; PRAGMA journal_size_limit=67108864')
    if (maxSizeMiB > 0) this.#db.exec(`PRAGMA max_page_count=${maxSizeMiB * 256}`)
  }

  /** Texts are kept for good, so they must come from a bounded set: values are bound, never written into them. */
  #prepared(sql: string): StatementSync {
    let statement = this.#statements.get(sql)
    if (statement === undefined) {
      statement = this.#db.prepare(sql)
      statement.setReturnArrays(true)
      this.#statements.set(sql, statement)
    }
    return statement
  }

  all(sql: string, ...values: readonly SqlValue[]): readonly Row[] {
    return this.#prepared(sql).all(...values) as unknown as readonly Row[]
  }

  get(sql: string, ...values: readonly SqlValue[]): Row | undefined {
    return this.#prepared(sql).get(...values) as unknown as Row | undefined
  }

  /** Returns the row id of the last insert. */
  run(sql: string, ...values: readonly SqlValue[]): number {
    return Number(this.#prepared(sql).run(...values).lastInsertRowid)
  }

  /** For definitions: not kept prepared. */
  exec(sql: string): void {
    this.#db.exec(sql)
  }

  /** Runs `work` in one transaction; whatever it throws undoes all of it. */
  transaction<T>(work: () => T): T {
    this.run('BEGIN IMMEDIATE')
    try {
      const result = work()
      this.run('COMMIT')
      return result
    } catch (error) {
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK')
      throw error
    }
  }

  /** Runs `work` on one unchanging view of the data. */
  snapshot<T>(work: () => T): T {
    this.run('BEGIN')
    try {
      return work()
    } finally {
      this.run('COMMIT')
    }
  }

  close(): void {
    this.#statements.clear()
    this.#db.close()
  }
}
