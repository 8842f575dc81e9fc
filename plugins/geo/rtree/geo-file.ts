import { mkdir, open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setImmediate } from 'node:timers/promises'
import { Unavailable } from 'pounce/sdk'
import { Connection, type Opening, sqliteCodeOf, sqliteCodes } from 'pounce/sdk/sqlite'
import { problemOf } from './problems.ts'
import { RtreeReader } from './rtree-reader.ts'
import { migrate } from './schema.ts'
import { isBroken } from './transferred-errors.ts'

/** How long to wait for a terminating process to release the file. */
const waitMs = 1000

/**
 * Locks the datapoints file against other processes while this one has it open: their caches of places and shapes would become stale. The
 * operating system releases the lock when the process ends for any reason.
 */
class FileLock {
  readonly #db: DatabaseSync

  private constructor(db: DatabaseSync) {
    this.#db = db
  }

  /** Throws `Unavailable` while another process holds it. */
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

/** The datapoints file on the main thread: created and opened at the first use, read by short queries. */
export class GeoFile {
  readonly #opening: Opening
  #opened: Promise<RtreeReader> | undefined
  #connection: Connection | undefined
  #lock: FileLock | undefined
  #loadedEpoch: number | undefined

  constructor(opening: Opening) {
    this.#opening = opening
  }

  /** Uses the reader, and converts errors for callers: see `problemOf`. */
  async use<T>(epoch: number, work: (reader: RtreeReader) => T): Promise<T> {
    try {
      this.#opened ??= this.#open()
      const reader = await this.#opened
      if (this.#loadedEpoch !== epoch) await this.#load(reader, epoch)
      return work(reader)
    } catch (error) {
      if (isBroken(error) || !this.#connection) this.close()
      throw problemOf(error)
    }
  }

  /** Creates the file when absent. */
  async ready(epoch: number): Promise<void> {
    await this.use(epoch, () => undefined)
  }

  async #load(reader: RtreeReader, epoch: number): Promise<void> {
    while (!reader.load(epoch)) await setImmediate()
    this.#loadedEpoch = epoch
  }

  async #open(): Promise<RtreeReader> {
    const created = await mkdir(dirname(this.#opening.file), { recursive: true, mode: 0o700 })
    if (created) await makeDurable(dirname(this.#opening.file), dirname(created))
    this.#lock = FileLock.take(this.#opening.file)
    const connection = new Connection(this.#opening)
    try {
      migrate(connection, this.#opening.file)
    } catch (error) {
      connection.close()
      throw error
    }
    this.#connection = connection
    return new RtreeReader(connection)
  }

  close(): void {
    const connection = this.#connection
    this.#opened = undefined
    this.#connection = undefined
    this.#loadedEpoch = undefined
    connection?.close()
    this.#lock?.release()
    this.#lock = undefined
  }
}

/** A new folder survives a power failure only once its parent has been synced; the same holds for all its new ancestors. */
const makeDurable = async (made: string, old: string): Promise<void> => {
  for (let folder = made; folder !== old; ) {
    folder = dirname(folder)
    const handle = await open(folder)
    try {
      await handle.sync()
    } catch (error) {
      throw new Unavailable(`${folder} cannot be made durable`, { cause: error })
    } finally {
      await handle.close()
    }
  }
}
