import type { Filter } from 'mongodb'
import type { Stored } from 'pounce/sdk'
import { valueAt } from 'pounce/sdk/kit'
import { compareScalars, type Scalar } from 'pounce/sdk/store-kit'
import type { MongodbConnection } from './mongodb-connection.ts'
import { encode, type StoredRecord } from './record-format.ts'
import { rangesAfter, type SortOrder, type SortPosition, sortOf } from './sort-positions.ts'

/** A document as read. */
export interface DocumentRow {
  readonly document: Stored
  /** Encoded sort values; the ID is last. */
  readonly place: SortPosition
  /** Length of its JSON. */
  readonly characters: number
}

/** A read: the collection, filter and order. */
export interface QueryRead {
  readonly server: MongodbConnection
  readonly collection: string
  readonly filter: Filter<StoredRecord>
  readonly order: SortOrder
  /** Paths of the order's fields in documents. */
  readonly paths: readonly string[]
  readonly after: SortPosition | undefined
  /** Size of the first batch; later ones grow. */
  readonly first: number
  /** A batch ends early once it has this many characters. */
  readonly maxCharacters?: number | undefined
}

const largestPiece = 500

/** Tombstones have no revision. */
const live: Filter<StoredRecord> = { r: { $gt: 0 } }

/** Documents that exist and match. */
export const living = (filter: Filter<StoredRecord>): Filter<StoredRecord> =>
  Object.keys(filter).length === 0 ? live : { $and: [filter, live] }

const scalarAt = (document: unknown, path: string): Scalar => {
  const value = valueAt(document, path) ?? null
  return typeof value === 'object' ? null : encode(value as Scalar)
}

/** The documents of one query in order, read in batches by position, so that the server keeps no state between them. */
export class QuerySource {
  readonly #reading: QueryRead
  #stretches: readonly Filter<StoredRecord>[]
  #rows: readonly DocumentRow[] = []
  #at = 0
  #size: number

  constructor(reading: QueryRead) {
    this.#reading = reading
    this.#stretches = rangesAfter(reading.order, reading.after)
    this.#size = reading.first
  }

  /** The next document, once `fill` has been called for it; undefined at the end. */
  get row(): DocumentRow | undefined {
    return this.#rows[this.#at]
  }

  advance(): void {
    this.#at++
  }

  /** Reads the next batch when the last one is used up. */
  async fill(): Promise<void> {
    while (this.#at >= this.#rows.length && this.#stretches.length > 0) await this.#load()
  }

  async #load(): Promise<void> {
    const { server, collection, filter, order, maxCharacters = Number.POSITIVE_INFINITY } = this.#reading
    const [stretch = {}, ...others] = this.#stretches
    const limit = this.#size
    const both = [filter, stretch].filter(part => Object.keys(part).length > 0)
    const wanted = living(both.length > 1 ? { $and: both } : (both[0] ?? {}))
    const options = { projection: { d: 1 }, sort: sortOf(order), limit, batchSize: limit + 1 }
    const rows: DocumentRow[] = []
    let characters = 0
    await server.use(async () => {
      // The server sends at most 16 MiB at a time, and the driver requests more only when these are used up.
      for await (const record of server.collection<StoredRecord>(collection).find(wanted, options)) {
        rows.push(this.#rowOf(record))
        characters += rows.at(-1)?.characters ?? 0
        if (characters >= maxCharacters) break
      }
    })
    this.#rows = rows
    this.#at = 0
    this.#size = Math.min(largestPiece, limit * 4)
    const isEnd = rows.length < limit && characters < maxCharacters
    this.#stretches = isEnd ? others : rangesAfter(order, this.#rows.at(-1)?.place)
  }

  #rowOf({ _id, d }: StoredRecord): DocumentRow {
    const document = JSON.parse(d ?? 'null') as Stored
    return { document, place: [...this.#reading.paths.map(path => scalarAt(document, path)), _id], characters: d?.length ?? 0 }
  }
}

/** Compares two positions. */
const compare = (a: SortPosition, b: SortPosition): number => {
  for (const [at, value] of a.entries()) {
    const difference = compareScalars(value, b[at] ?? null)
    if (difference !== 0) return difference
  }
  return 0
}

/** Merges the documents of several sources in their common order, each once. */
export class MergedSource {
  readonly #sources: readonly QuerySource[]
  readonly #sign: number

  constructor(sources: readonly QuerySource[], { isDescending }: SortOrder) {
    this.#sources = sources
    this.#sign = isDescending ? -1 : 1
  }

  /** The next document; undefined at the end. */
  async next(): Promise<DocumentRow | undefined> {
    await Promise.all(this.#sources.map(source => source.fill()))
    let first: DocumentRow | undefined
    for (const { row } of this.#sources) {
      if (row && (first === undefined || this.#sign * compare(row.place, first.place) < 0)) first = row
    }
    if (first === undefined) return undefined
    for (const source of this.#sources) if (source.row && compare(source.row.place, first.place) === 0) source.advance()
    return first
  }
}
