import { Connection, replaceInDoubt } from 'pounce/sdk/sqlite'
import { insertPoints, openWriteCaches, type WriteCaches } from './insert-points.ts'
import type { PackedPoints } from './packed-points.ts'
import { type Removed, removeFirst, removeIds, settleBox } from './remove-points.ts'
import type { Slices } from './slices.ts'
import { StreamChanges } from './stream-changes.ts'
import type { GeoOpening, GeoWriteRequest } from './thread-requests.ts'
import { isBroken, type TransferredError, toTransferred } from './transferred-errors.ts'

/** The result of one caller's batch: 1 for each new point, 0 for each that already existed. */
export type Inserted = { readonly isNew: Uint8Array } | { readonly error: TransferredError }

/** Maximum number of points of a stream that are removed in one transaction. */
const removeBatchSize = 1000

/** The only writing connection, and its caches. */
export class RtreeWriter {
  readonly #opening: GeoOpening
  #db: Connection | undefined
  #books: WriteCaches | undefined

  constructor(opening: GeoOpening) {
    this.#opening = opening
  }

  slices(request: GeoWriteRequest): Slices<unknown> {
    if (request.type === 'insert') return this.#insert(request.batches)
    if (request.type === 'settle') return this.#settle(request)
    return this.#remove(request)
  }

  close(): void {
    this.#db?.close()
    this.#forget()
  }

  #forget(): void {
    this.#db = undefined
    this.#books = undefined
  }

  /** Any error rolls back the whole transaction and discards the caches. After an error that leaves the state of the file in doubt, the file is reopened. */
  #transaction<T>(work: (db: Connection, books: WriteCaches) => T): T {
    const db = this.#usable()
    try {
      return db.transaction(() => {
        this.#books ??= openWriteCaches(db, this.#opening.placesPerStream)
        return work(db, this.#books)
      })
    } catch (error) {
      this.#books = undefined
      if (isBroken(error)) this.#leave(db)
      throw error
    }
  }

  #usable(): Connection {
    if (this.#db?.isInDoubt) this.#db = replaceInDoubt(this.#db, this.#opening)
    this.#db ??= new Connection(this.#opening)
    return this.#db
  }

  /** A connection whose COMMIT failed is replaced before the caller gets the error. If replacing it fails too, it is kept and nothing is written. */
  #leave(db: Connection): void {
    if (!db.isInDoubt) {
      this.close()
      return
    }
    try {
      this.#usable()
    } catch {
      // The next task retries, and reports the error.
    }
  }

  /** All batches share one transaction. If it fails, each batch is retried in its own, so that an invalid batch does not fail the others. */
  *#insert(batches: readonly PackedPoints[]): Slices<readonly Inserted[]> {
    try {
      yield this.#insertAll(batches)
    } catch (error) {
      // A lock or a broken disk would fail every batch, each after its own wait.
      if (batches.length === 1 || toTransferred(error).problem === 'unavailable') throw error
      yield batches.map(batch => {
        try {
          return this.#insertAll([batch])[0] as Inserted
        } catch (cause) {
          return { error: toTransferred(cause) }
        }
      })
    }
  }

  #insertAll(batches: readonly PackedPoints[]): readonly Inserted[] {
    return this.#transaction((db, books) => {
      const changes = new StreamChanges()
      const inserted = batches.map(batch => ({ isNew: insertPoints(db, books, batch, changes) }))
      changes.write(db)
      return inserted
    })
  }

  *#remove(what: Extract<GeoWriteRequest, { type: 'remove' }>): Slices<Removed> {
    if ('ids' in what) {
      yield this.#transaction((db, books) => removeIds(db, books, what.ids))
      return
    }
    let [count, gone] = [0, 0]
    for (const stream of what.streams) {
      for (let removed = 1; removed > 0; ) {
        const one = this.#transaction((db, books) => removeFirst(db, books, stream, removeBatchSize))
        removed = one.count
        count += one.count
        gone += one.removed
        if (removed > 0) yield undefined
      }
    }
    yield { count, removed: gone }
  }

  *#settle({ boxes }: Extract<GeoWriteRequest, { type: 'settle' }>): Slices<null> {
    this.#transaction(db => {
      for (const box of boxes) settleBox(db, box)
    })
    yield null
  }
}
