import type { GeoAfter } from 'pounce/sdk'
import type { Connection } from 'pounce/sdk/sqlite'
import { columnsWith, idOf, type PointRow, startOf, textLengthOf } from './rows.ts'
import type { ShapeCache } from './shape-cache.ts'
import { keyEffort, type Range, type RowTest, type Sink, type Source, seekEffort, textEffort } from './source.ts'

/** What every way to read needs. */
export interface Reading {
  readonly db: Connection
  readonly shapes: ShapeCache
  readonly test: RowTest
}

/** Above every id. */
const beyond = 2 ** 53

/** The place before the first point of a range, by start and id. */
export const placeBefore = ({ isDescending, fromMs, untilMs, after }: Range): readonly [number, number] => {
  if (after) return [after.startMs, after.id]
  return isDescending ? [untilMs, beyond] : [fromMs, 0]
}

/** `stream` undefined: all streams by start. */
const sqlOf = (columns: string, isDescending: boolean, isOneStream: boolean): string => {
  const [beyondPlace, lastBound, order] = isDescending ? ['<', 'start >= ?', ' DESC'] : ['>', 'start <= ?', '']
  const [from, where] = isOneStream ? ['points', 'stream = ? AND '] : ['points INDEXED BY by_start', '']
  return `SELECT each_row(${columns}) FROM (SELECT ${columns} FROM ${from}
    WHERE ${where}(start, id) ${beyondPlace} (?, ?) AND ${lastBound} ORDER BY start${order}, id${order} LIMIT ?)`
}

/** Walks along the starts, through one stream or through all. */
abstract class Walk implements Source {
  isDone = false
  protected readonly range: Range
  protected readonly stream: number | undefined
  #place: readonly [number, number]
  #chunk = 0

  constructor(range: Range, stream: number | undefined) {
    this.range = range
    this.stream = stream
    this.#place = placeBefore(range)
  }

  abstract fill(sink: Sink, effort: number): number

  /** Reads on, at most `most` rows or about `effort`. `step` says whether it had room for the row; where it had none it will read on. */
  protected walk(db: Connection, columns: string, most: number, effort: number, step: (row: PointRow) => boolean): number {
    const { isDescending, fromMs, untilMs } = this.range
    const stream = this.stream === undefined ? [] : [this.stream]
    const values = [...stream, ...this.#place, isDescending ? fromMs : untilMs, most]
    let [seen, spent] = [0, 0]
    let isCut = false
    db.each(sqlOf(columns, isDescending, this.stream !== undefined), values, row => {
      isCut = spent >= effort || !step(row)
      if (isCut) return false
      seen += 1
      spent += 1 + textEffort * textLengthOf(row)
      this.#place = [startOf(row), idOf(row)]
      return true
    })
    this.isDone = seen < most && !isCut
    return spent
  }

  /** What fits may be rare: more rows are read at a time the longer it takes to fill the room. */
  protected chunkFor(room: number, effort: number): number {
    this.#chunk = Math.max(Math.min(room, 2000), this.#chunk * 2)
    // Effort is no whole number, as SQLite wants its limits.
    return Math.max(1, Math.floor(Math.min(this.#chunk, 4000, effort)))
  }

  protected filled(): void {
    this.#chunk = 0
  }
}

/** Rows of one stream, or of all, along the starts. */
export class ScanSource extends Walk {
  readonly #reading: Reading

  constructor(reading: Reading, range: Range, stream?: number) {
    super(range, stream)
    this.#reading = reading
  }

  fill(sink: Sink, effort: number): number {
    const { db, shapes, test } = this.#reading
    let spent = 0
    while (!this.isDone && sink.room > 0 && spent < effort) {
      const most = this.chunkFor(sink.room, effort - spent)
      spent += seekEffort
      spent += this.walk(db, columnsWith(shapes.mostNames), most, effort - spent, row => {
        if (sink.room === 0) return false
        if (test(row)) sink.add(row)
        return true
      })
    }
    if (sink.room === 0) this.filled()
    return spent
  }
}

/** One row by its place; undefined when it is gone. */
export const rowAt = ({ db, shapes }: Reading, { stream, startMs, id }: GeoAfter): PointRow | undefined => {
  const columns = columnsWith(shapes.mostNames)
  return db.get(`SELECT ${columns} FROM points WHERE stream = ? AND start = ? AND id = ?`, stream, startMs, id) as PointRow | undefined
}

/** Rows of many streams along the starts: the index tells which rows are theirs, and only those are read. */
export class PickingSource extends Walk {
  readonly #reading: Reading
  readonly #streams: ReadonlySet<number>

  constructor(reading: Reading, range: Range, streams: ReadonlySet<number>) {
    super(range, undefined)
    this.#reading = reading
    this.#streams = streams
  }

  fill(sink: Sink, effort: number): number {
    const { db, test } = this.#reading
    let spent = 0
    while (!this.isDone && sink.room > 0 && spent < effort) {
      const found: GeoAfter[] = []
      const { room } = sink
      const most = this.chunkFor(room, effort - spent)
      spent += seekEffort
      spent +=
        keyEffort *
        this.walk(db, 'stream, start, id', most, most, ([stream, startMs, id]) => {
          if (found.length === room) return false
          if (this.#streams.has(stream as number)) found.push({ stream: stream as number, startMs: startMs as number, id: id as number })
          return true
        })
      for (const place of found) {
        const row = rowAt(this.#reading, place)
        if (row && test(row)) sink.add(row)
        spent += seekEffort + (row ? textEffort * textLengthOf(row) : 0)
      }
    }
    if (sink.room === 0) this.filled()
    return spent
  }
}

/** Rows whose places are known, in their order. */
export class HitsSource implements Source {
  readonly #reading: Reading
  readonly #hits: readonly GeoAfter[]
  #next = 0

  constructor(reading: Reading, hits: readonly GeoAfter[]) {
    this.#reading = reading
    this.#hits = hits
  }

  get isDone(): boolean {
    return this.#next >= this.#hits.length
  }

  fill(sink: Sink, effort: number): number {
    let spent = 0
    for (; this.#next < this.#hits.length && sink.room > 0 && spent < effort; this.#next += 1) {
      const row = rowAt(this.#reading, this.#hits[this.#next] as GeoAfter)
      if (row && this.#reading.test(row)) sink.add(row)
      spent += seekEffort + (row ? textEffort * textLengthOf(row) : 0)
    }
    return spent
  }
}
