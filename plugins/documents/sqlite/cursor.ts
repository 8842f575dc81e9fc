import type { Connection, Row, SqlValue } from 'pounce/sdk/sqlite'
import { type IndexStream, type RowPosition, rowsOf } from './stream.ts'
import { type CollectionTable, compareColumns } from './table.ts'

/** How a set of streams is read. */
export interface StreamRead {
  readonly db: Connection
  readonly table: CollectionTable
  readonly isDescending: boolean
  /** Rows include the document's text. */
  readonly documents: boolean
  /** Number of rows in the first batch, and maximum per batch. */
  readonly first: number
  readonly maxSize: number
}

/** One stream, read in growing batches. */
class Cursor {
  #stream: IndexStream
  #reading: StreamRead
  #rows: readonly Row[] = []
  #at = 0
  #size: number
  #place: RowPosition | undefined
  #isEnd = false

  constructor(stream: IndexStream, reading: StreamRead, after: RowPosition | undefined) {
    this.#stream = stream
    this.#reading = reading
    this.#size = reading.first
    this.#place = after
    this.#load()
  }

  get row(): Row | undefined {
    return this.#rows[this.#at]
  }

  advance(): void {
    this.#at++
    if (this.#at === this.#rows.length && !this.#isEnd) this.#load()
  }

  #load(): void {
    const { db, table, isDescending, documents, maxSize: most } = this.#reading
    const limit = this.#size
    this.#rows = rowsOf(db, table, this.#stream, { after: this.#place, isDescending, limit, documents })
    this.#at = 0
    this.#isEnd = this.#rows.length < limit
    this.#size = Math.min(most, limit * 4)
    this.#place = this.#rows.at(-1)?.slice(0, this.#stream.shape.order.length + 1) as readonly SqlValue[] | undefined
  }
}

/** Merges the rows of several streams in their common order, each document once. */
export class MergedCursor {
  #cursors: Cursor[]
  #compare: (a: Row, b: Row) => number

  constructor(streams: readonly IndexStream[], reading: StreamRead, after: RowPosition | undefined) {
    const ordered = streams[0]?.shape.order.length ?? 0
    const sign = reading.isDescending ? -1 : 1
    this.#compare = (a, b) => {
      for (let at = 0; at <= ordered; at++) {
        const difference = compareColumns(a[at], b[at])
        if (difference !== 0) return sign * difference
      }
      return 0
    }
    this.#cursors = streams.map(stream => new Cursor(stream, reading, after)).filter(cursor => cursor.row !== undefined)
    if (this.#cursors.length > 1) this.#cursors.sort((a, b) => -this.#compare(a.row as Row, b.row as Row))
  }

  /** The next row; undefined at the end. */
  next(): Row | undefined {
    const row = this.#take()
    if (row === undefined) return undefined
    while (this.#cursors.length > 0 && this.#compare(this.#cursors.at(-1)?.row as Row, row) === 0) this.#take()
    return row
  }

  /** True when there are no more rows. */
  get isEnd(): boolean {
    return this.#cursors.length === 0
  }

  /** Cursors are sorted with the next one last, so that advancing it moves few. */
  #take(): Row | undefined {
    const cursor = this.#cursors.pop()
    if (cursor === undefined) return undefined
    const row = cursor.row
    cursor.advance()
    if (cursor.row !== undefined) this.#insert(cursor, cursor.row)
    return row
  }

  #insert(cursor: Cursor, row: Row): void {
    let low = 0
    let high = this.#cursors.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#compare(this.#cursors[middle]?.row as Row, row) > 0) low = middle + 1
      else high = middle
    }
    this.#cursors.splice(low, 0, cursor)
  }
}
