import { DatabaseSync } from 'node:sqlite'
import { Unavailable } from 'pounce/sdk'
import { sqliteCodeOf, sqliteCodes } from 'pounce/sdk/sqlite'
import { problemOf } from './problems.ts'

/** How long a process that ends has to let go. */
const waitMs = 1000

/**
 * Keeps other processes from the file of points while this one has it open: what each remembers of places and shapes would go wrong. The system
 * lets go of it when the process ends, however that happens.
 */
export class FileLock {
  readonly #db: DatabaseSync

  private constructor(db: DatabaseSync) {
    this.#db = db
  }

  /** Throws `Unavailable` while another process has it. */
  static take(file: string): FileLock {
    const db = new DatabaseSync(`${file}.lock`, { timeout: waitMs })
    try {
      db.exec('PRAGMA journal_mode=MEMORY; BEGIN EXCLUSIVE')
      return new FileLock(db)
    } catch (error) {
      db.close()
      if (sqliteCodeOf(error) !== sqliteCodes.busy) throw problemOf(error)
      throw new Unavailable(`${file} is in use by another process: use geo.postgis for several processes`, {
        cause: error,
      })
    }
  }

  release(): void {
    this.#db.close()
  }
}
