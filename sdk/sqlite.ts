import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'

/** A value that is bound to a statement. */
export type SqlValue = SQLInputValue
/** The cells of a row, in the order of its columns. */
export type Row = readonly unknown[]
/** What stands in a column of a row that `each` reads. */
export type Cell = number | string | null
/** A row that `each` reads. */
export type Cells = readonly Cell[]

/** SQLite's primary result codes, of its `Result Codes` page. */
export const sqliteCodes = {
  busy: 5,
  locked: 6,
  readOnly: 8,
  ioError: 10,
  corrupt: 11,
  full: 13,
  cannotOpen: 14,
  notDatabase: 26,
} as const

/** The primary result code of an error that SQLite threw; undefined of any other. */
export const sqliteCodeOf = (error: unknown): number | undefined => {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return undefined
  return error.errcode & 0xff
}

/** How a database file is opened. */
export interface Opening {
  readonly file: string
  readonly readOnly: boolean
  readonly cacheMiB: number
  /** The file never grows beyond this; 0 for no limit. */
  readonly maxSizeMiB: number
  /** Pages of the log that are copied into the file at once; 2,000 by default. Larger batches of random pages write each page less often. */
  readonly checkpointPages?: number
}

/** Thrown through SQLite to end a query. */
const enough = new Error('No more rows are wanted')

/**
 * An open database file, in WAL mode with every commit durable, whose statements are prepared once; rows are arrays. Every method is synchronous and
 * throws what SQLite throws: see `sqliteCodeOf`.
 */
export class Connection {
  #db: DatabaseSync
  #statements = new Map<string, StatementSync>()
  /** What `each` does with a row; undefined until it is used first. */
  #step: ((cells: Cells) => boolean) | undefined
  #isInDoubt = false

  constructor({ file, readOnly, cacheMiB, maxSizeMiB, checkpointPages = 2000 }: Opening) {
    this.#db = new DatabaseSync(file, { readOnly, timeout: 1000 })
    this.#db.exec(`PRAGMA cache_size=-${cacheMiB * 1024}`)
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
    const before = this.#step ?? this.#makeEachRow()
    this.#step = step
    try {
      this.#prepared(sql).get(...values)
    } catch (error) {
      if (error !== enough) throw error
    } finally {
      this.#step = before
    }
  }

  #makeEachRow(): (cells: Cells) => boolean {
    this.#db.aggregate('each_row', {
      start: 0,
      varargs: true,
      step: (_, ...cells) => {
        if (this.#step?.(cells as Cells) === false) throw enough
        return 0
      },
    })
    return () => false
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
      this.#commit()
      return result
    } catch (error) {
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK')
      throw error
    }
  }

  #commit(): void {
    try {
      this.run('COMMIT')
    } catch (error) {
      if (sqliteCodeOf(error) === sqliteCodes.ioError) this.#isInDoubt = true
      throw error
    }
  }

  /**
   * True after a COMMIT failed with an I/O error, such as a failed fsync. Its frames may lie whole in the log, beyond what the shared memory
   * counts as committed: a recovery of the log, after a crash, would bring them back. See `replaceInDoubt`.
   */
  get isInDoubt(): boolean {
    return this.#isInDoubt
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

const failedCommits = 'CREATE TABLE IF NOT EXISTS failed_commits(id INTEGER PRIMARY KEY, at TEXT NOT NULL)'

/**
 * A new connection in the place of one that is in doubt. Its first transaction is written, through a descriptor of its own, over the frames of
 * the failed one, whose checksums then no longer follow from what precedes them: no recovery finds it again. The connection in doubt is closed
 * only after that, since closing the last one would leave the log to a recovery. Throws what SQLite throws while the disk does not work; the
 * connection in doubt then stays open and must be kept for the next attempt.
 */
export const replaceInDoubt = (inDoubt: Connection, opening: Opening): Connection => {
  const connection = new Connection(opening)
  try {
    connection.transaction(() => {
      connection.exec(failedCommits)
      connection.insert('INSERT INTO failed_commits(at) VALUES (?)', new Date().toISOString())
    })
  } catch (error) {
    connection.close()
    throw error
  }
  inDoubt.close()
  return connection
}
