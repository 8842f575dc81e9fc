import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'

export type SqlValue = SQLInputValue
export type Row = readonly unknown[]
/** What stands in a column of a row. */
export type Cell = number | string | null
export type Cells = readonly Cell[]

/** How the file is opened. Threads read with `readOnly`. */
export interface Opening {
  readonly file: string
  readonly readOnly: boolean
  readonly cacheMiB: number
  /** The file never grows beyond this; 0 for no limit. */
  readonly maxSizeMiB: number
  /** Places that the points of a stream share. */
  readonly placesPerStream: number
}

/** Pages of the log that are copied into the file at once: larger batches of random pages write each page less often. */
const checkpointPages = 4000

/** Thrown through SQLite to end a query. */
const enough = new Error('No more rows are wanted')

/** An open database whose statements are prepared once; rows are arrays. Every method is synchronous. */
export class Connection {
  #db: DatabaseSync
  #statements = new Map<string, StatementSync>()
  #step: (cells: Cells) => boolean = () => true

  constructor({ file, readOnly, cacheMiB, maxSizeMiB }: Omit<Opening, 'placesPerStream'>) {
    this.#db = new DatabaseSync(file, { readOnly, timeout: 1000 })
    this.#db.exec(`PRAGMA cache_size=-${cacheMiB * 1024}`)
    this.#db.aggregate('each_row', {
      start: 0,
      varargs: true,
      step: (_, ...cells) => {
        if (!this.#step(cells as Cells)) throw enough
        return 0
      },
    })
    if (readOnly) return
    this.#db.exec(`PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA wal_autocheckpoint=${checkpointPages}`)
    this.#db.exec('PRAGMA journal_size_limit=67108864')
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

  /** Returns how many rows were changed. */
  run(sql: string, ...values: readonly SqlValue[]): number {
    return Number(this.#prepared(sql).run(...values).changes)
  }

  /** Inserts one row and returns its row id. */
  insert(sql: string, ...values: readonly SqlValue[]): number {
    return Number(this.#prepared(sql).run(...values).lastInsertRowid)
  }

  /** Calls `step` with the cells of each row of `SELECT each_row(…)` until it is false: less than half the time that rows as arrays take. */
  each(sql: string, values: readonly SqlValue[], step: (cells: Cells) => boolean): void {
    const before = this.#step
    this.#step = step
    try {
      this.#prepared(sql).get(...values)
    } catch (error) {
      if (error !== enough) throw error
    } finally {
      this.#step = before
    }
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
      if (this.#db.isTransaction) this.run('COMMIT')
    }
  }

  close(): void {
    this.#statements.clear()
    this.#db.close()
  }
}
