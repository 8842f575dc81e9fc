import { access, mkdir, open, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { backup, DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import type { BackupCopy, BackupPart } from './ports/backup.ts'

export { type CheckedDatabase, DatabaseDoctor } from './database-doctor.ts'

/** A value bound to a statement. */
export type SqlValue = SQLInputValue
/** The cells of a row, in column order. */
export type Row = readonly unknown[]
/** The value of a column in a row read by `each`. */
export type Cell = number | string | null
/** A row read by `each`. */
export type Cells = readonly Cell[]

/** SQLite's primary result codes (`Result Codes` in its documentation). */
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

/** `SQLITE_IOERR_SHMSIZE`: no space for the memory that connections share. */
const noSharedMemory = 4874

/** The primary result code of an error thrown by SQLite; undefined for other errors. A disk that is too full to open a database is `full`, not `ioError`. */
export const sqliteCodeOf = (error: unknown): number | undefined => {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return undefined
  return error.errcode === noSharedMemory ? sqliteCodes.full : error.errcode & 0xff
}

/** Options for opening a database file. */
export interface Opening {
  readonly file: string
  readonly readOnly: boolean
  readonly cacheMiB: number
  /** Maximum size of the file; 0: unlimited. */
  readonly maxSizeMiB: number
  /** Number of WAL pages that trigger a checkpoint; 2,000 by default. With a larger number, pages updated at random are written less often. */
  readonly checkpointPages?: number
}

/** Thrown through SQLite to end a query early. */
const enough = new Error('No more rows are wanted')

/**
 * An open database file in WAL mode, with every commit durable and statements prepared once; rows are arrays. All methods are synchronous and throw SQLite's
 * errors: see `sqliteCodeOf`.
 */
export class Connection {
  #db: DatabaseSync
  #statements = new Map<string, StatementSync>()
  /** The callback of the current `each`; undefined until the first use. */
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

  /** Prepared statements are kept, so the set of SQL strings must be bounded: bind values instead of interpolating them. */
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

  /** Returns the number of changed rows. */
  run(sql: string, ...values: readonly SqlValue[]): number {
    return Number(this.#prepared(sql).run(...values).changes)
  }

  /** Inserts one row and returns its rowid. */
  insert(sql: string, ...values: readonly SqlValue[]): number {
    return Number(this.#prepared(sql).run(...values).lastInsertRowid)
  }

  /** Calls `step` with the cells of each row of `SELECT each_row(…)` until it returns false; takes less than half the time of fetching rows as arrays. */
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

  /** For DDL: not kept as a prepared statement. */
  exec(sql: string): void {
    this.#db.exec(sql)
  }

  /** Runs `work` in one transaction and rolls back if it throws. */
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
   * True after a COMMIT failed with an I/O error, such as a failed fsync. Its frames may be complete in the WAL, beyond the committed end in shared memory, so
   * that recovery after a crash would restore them. See `replaceInDoubt`.
   */
  get isInDoubt(): boolean {
    return this.#isInDoubt
  }

  /** Runs `work` on a consistent snapshot of the data. */
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
 * Replaces a connection that is in doubt. The first transaction of the new one is written, through its own descriptor, over the frames of the failed one, whose
 * checksums then no longer match: recovery never finds them again. The old connection is closed only afterwards, since closing the last one would leave the WAL
 * to recovery. Throws SQLite's errors while the disk fails; the old connection then stays open and must be kept for the next attempt.
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

/** Copied in one step, because SQLite starts again when another connection writes between two steps. */
const everyPage = 2 ** 31 - 1

/**
 * Copies a database file as of now, while others read and write it, and resolves to the size in bytes when the copy is durable. An existing copy is replaced
 * only by a complete one. Throws SQLite's errors and those of the file system.
 */
export const copyDatabase = async (file: string, to: string): Promise<number> => {
  const part = `${to}.part`
  await mkdir(dirname(to), { recursive: true, mode: 0o700 })
  await rm(part, { force: true })
  await removeLogs(part)
  try {
    const source = new DatabaseSync(file, { readOnly: true })
    try {
      await backup(source, part, { rate: everyPage })
    } finally {
      source.close()
    }
    await syncPath(part)
    await removeLogs(to)
    await rename(part, to)
  } catch (error) {
    await rm(part, { force: true })
    throw error
  }
  await syncPath(dirname(to))
  return (await stat(to)).size
}

/** Removes the logs of a database, which do not belong to another one of the same name. */
const removeLogs = async (file: string): Promise<void> => {
  for (const ending of ['-wal', '-shm', '-journal']) await rm(file + ending, { force: true })
}

/** Makes a file or the entries of a folder durable. */
export const syncPath = async (path: string): Promise<void> => {
  await using handle = await open(path)
  await handle.sync()
}

/** A database file, for `pounce backup`. It need not exist yet. */
export class DatabaseBackup implements BackupPart {
  readonly name: string
  readonly holds = 'records'
  readonly source: string
  readonly #file: string

  constructor(name: string, file: string) {
    this.name = name
    this.source = dirname(file)
    this.#file = file
  }

  async copyTo(folder: string): Promise<BackupCopy> {
    const isThere = await access(this.#file).then(
      () => true,
      () => false,
    )
    if (!isThere) return { copied: 0, unchanged: 0, bytes: 0 }
    return { copied: 1, unchanged: 0, bytes: await copyDatabase(this.#file, join(folder, basename(this.#file))) }
  }
}
