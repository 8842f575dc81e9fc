import type { Datapoint, GeoAfter, GeoAttribute, GeoFilter, Geometry } from 'pounce/sdk/geo'
import { hasAttribute, intersects, overlapsMonths } from 'pounce/sdk/geo'
import type { Cell, Connection } from 'pounce/sdk/sqlite'
import type { ShapeCache } from './place-cache.ts'
import { valueColumns } from './schema.ts'

/** A row of `points` as read: the cells of `at`, then as many numbers as the longest shape has names. */
export type PointRow = readonly Cell[]

export const at = { stream: 0, start: 1, id: 2, span: 3, created: 4, place: 5, shape: 6, rest: 7, geometry: 8, values: 9 } as const

const fixed = 'stream, start, id, span, created, place, shape, rest, geometry'

const lists = Array.from({ length: valueColumns + 1 }, (_, count) =>
  [fixed, ...Array.from({ length: count }, (_, column) => `v${column}`)].join(', '),
)

/** The columns of a row with this many numeric values. */
export const columnsWith = (values: number): string => lists[values] as string

export const startOf = (row: PointRow): number => row[at.start] as number

export const idOf = (row: PointRow): number => row[at.id] as number

export const streamOf = (row: PointRow): number => row[at.stream] as number

/** Number of characters in the text cells of a row. */
export const textLengthOf = (row: PointRow): number => {
  const [rest, geometry] = [row[at.rest], row[at.geometry]]
  return (typeof rest === 'string' ? rest.length : 0) + (typeof geometry === 'string' ? geometry.length : 0)
}

/** Receives rows in order. */
export interface Sink {
  /** How many more rows it accepts; callers must not add more. */
  readonly room: number
  add(row: PointRow): void
}

/** Rows in order, read in bounded steps so that other work can run in between. */
export interface PointSource {
  readonly isDone: boolean
  /** Adds matching rows to the sink, until it is full or about `effort` rows have been read. Returns the effort spent, in rows. */
  fill(sink: Sink, budget: number): number
}

/** The starting position, the direction, and the range of start times. */
export interface StartRange {
  readonly isDescending: boolean
  readonly fromMs: number
  readonly untilMs: number
  readonly after: GeoAfter | undefined
}

/** Cost of a seek, in rows. */
export const seekCost = 5

/** Cost of reading a key of an index, in rows. */
export const keyCost = 0.25

/** Cost of reading a character of a text cell, in rows. */
export const textCost = 0.01

/** Decides whether a row matches. */
type RowTest = (row: PointRow) => boolean

/** Common to all sources. */
export interface ScanContext {
  readonly db: Connection
  readonly shapes: ShapeCache
  readonly test: RowTest
}

/** Greater than any ID. */
const beyond = 2 ** 53

/** The position before the first point of a range, by start and ID. */
export const placeBefore = ({ isDescending, fromMs, untilMs, after }: StartRange): readonly [number, number] => {
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

/** Iterates over one stream or all streams, in order of start. */
abstract class Walk implements PointSource {
  isDone = false
  protected readonly range: StartRange
  protected readonly stream: number | undefined
  #start: number
  #id: number
  #chunk = 0

  constructor(range: StartRange, stream: number | undefined) {
    this.range = range
    this.stream = stream
    ;[this.#start, this.#id] = placeBefore(range)
  }

  abstract fill(sink: Sink, budget: number): number

  /** Continues reading, up to `limit` rows or about `effort`. `step` returns false when it has no room for the row, which is then read again by the next call. */
  protected walk(db: Connection, columns: string, limit: number, budget: number, step: (row: PointRow) => boolean): number {
    const { isDescending, fromMs, untilMs } = this.range
    const stream = this.stream === undefined ? [] : [this.stream]
    const values = [...stream, this.#start, this.#id, isDescending ? fromMs : untilMs, limit]
    let [seen, spent] = [0, 0]
    let isCut = false
    db.each(sqlOf(columns, isDescending, this.stream !== undefined), values, row => {
      isCut = spent >= budget || !step(row)
      if (isCut) return false
      seen += 1
      spent += 1 + textCost * textLengthOf(row)
      this.#start = startOf(row)
      this.#id = idOf(row)
      return true
    })
    this.isDone = seen < limit && !isCut
    return spent
  }

  /** Matches may be rare: chunks grow until the sink is full. */
  protected chunkFor(room: number, budget: number): number {
    this.#chunk = Math.max(Math.min(room, 2000), this.#chunk * 2)
    // The effort may be fractional, but LIMIT requires an integer.
    return Math.max(1, Math.floor(Math.min(this.#chunk, 4000, budget)))
  }

  protected filled(): void {
    this.#chunk = 0
  }
}

/** Rows of one stream, or of all, in order of start. */
export class ScanSource extends Walk {
  readonly #reading: ScanContext

  constructor(reading: ScanContext, range: StartRange, stream?: number) {
    super(range, stream)
    this.#reading = reading
  }

  fill(sink: Sink, budget: number): number {
    const { db, shapes, test } = this.#reading
    let spent = 0
    while (!this.isDone && sink.room > 0 && spent < budget) {
      const limit = this.chunkFor(sink.room, budget - spent)
      spent += seekCost
      spent += this.walk(db, columnsWith(shapes.maxNames), limit, budget - spent, row => {
        if (sink.room === 0) return false
        if (test(row)) sink.add(row)
        return true
      })
    }
    if (sink.room === 0) this.filled()
    return spent
  }
}

/** One row by its position; undefined when it has been removed. */
export const rowAt = ({ db, shapes }: ScanContext, { stream, startMs, id }: GeoAfter): PointRow | undefined => {
  const columns = columnsWith(shapes.maxNames)
  return db.get(`SELECT ${columns} FROM points WHERE stream = ? AND start = ? AND id = ?`, stream, startMs, id) as PointRow | undefined
}

/** Rows of many streams in order of start: the index is scanned, and only the rows of these streams are read. */
export class PickingSource extends Walk {
  readonly #reading: ScanContext
  readonly #streams: ReadonlySet<number>

  constructor(reading: ScanContext, range: StartRange, streams: ReadonlySet<number>) {
    super(range, undefined)
    this.#reading = reading
    this.#streams = streams
  }

  fill(sink: Sink, budget: number): number {
    const { db, test } = this.#reading
    let spent = 0
    while (!this.isDone && sink.room > 0 && spent < budget) {
      const found: GeoAfter[] = []
      const { room } = sink
      const limit = this.chunkFor(room, budget - spent)
      spent += seekCost
      spent +=
        keyCost *
        this.walk(db, 'stream, start, id', limit, limit, ([stream, startMs, id]) => {
          if (found.length === room) return false
          if (this.#streams.has(stream as number)) found.push({ stream: stream as number, startMs: startMs as number, id: id as number })
          return true
        })
      for (const place of found) {
        const row = rowAt(this.#reading, place)
        if (row && test(row)) sink.add(row)
        spent += seekCost + (row ? textCost * textLengthOf(row) : 0)
      }
    }
    if (sink.room === 0) this.filled()
    return spent
  }
}

/** Rows at known positions, in the given order. */
export class HitsSource implements PointSource {
  readonly #reading: ScanContext
  readonly #hits: readonly GeoAfter[]
  #next = 0

  constructor(reading: ScanContext, hits: readonly GeoAfter[]) {
    this.#reading = reading
    this.#hits = hits
  }

  get isDone(): boolean {
    return this.#next >= this.#hits.length
  }

  fill(sink: Sink, budget: number): number {
    let spent = 0
    for (; this.#next < this.#hits.length && sink.room > 0 && spent < budget; this.#next += 1) {
      const row = rowAt(this.#reading, this.#hits[this.#next] as GeoAfter)
      if (row && this.#reading.test(row)) sink.add(row)
      spent += seekCost + (row ? textCost * textLengthOf(row) : 0)
    }
    return spent
  }
}

type Properties = Datapoint['properties']

/** The conditions tested on each row. `places` are the places within the areas. */
interface Tested {
  readonly filter: GeoFilter
  readonly places: ReadonlySet<number> | undefined
}

const endOf = (row: PointRow): number | null => {
  const span = row[at.span] as number | null
  return span === null ? null : startOf(row) + span
}

/** Returns the test of a filter for rows. Conditions that the filter does not have cost nothing. */
export const rowTest = ({ filter, places }: Tested, shapes: ShapeCache): RowTest => {
  const tests = [...timeTests(filter)]
  const { areas, attributes } = filter
  if (areas && places) {
    tests.push(row => {
      const own = row[at.geometry]
      if (typeof own !== 'string') return places.has(row[at.place] as number)
      const geometry = JSON.parse(own) as Geometry
      return areas.some(area => intersects(geometry, area))
    })
  }
  if (attributes) tests.push(attributeTest(attributes, shapes))
  const [only, ...more] = tests
  if (only === undefined) return () => true
  return more.length === 0 ? only : row => tests.every(test => test(row))
}

function* timeTests({ fromMs, beforeMs, untilMs, months }: GeoFilter): Iterable<RowTest> {
  if (beforeMs !== undefined) yield row => startOf(row) < beforeMs
  if (fromMs !== undefined) yield row => startOf(row) >= fromMs
  if (untilMs !== undefined) {
    yield row => {
      const endMs = endOf(row)
      return endMs !== null && endMs <= untilMs
    }
  }
  if (months) yield row => overlapsMonths({ startMs: startOf(row), endMs: endOf(row) }, months)
}

/** A test by attributes, prepared once per shape, since for some shapes every point matches. */
const attributeTest = (attributes: readonly GeoAttribute[], shapes: ShapeCache): RowTest => {
  const tests: (RowTest | undefined)[] = []
  return row => {
    const shape = row[at.shape] as number
    tests[shape] ??= shapeTest(attributes, shapes.get(shape).names, shapes.get(shape).others)
    return tests[shape](row)
  }
}

const shapeTest = (attributes: readonly GeoAttribute[], names: readonly string[], others: Properties): RowTest => {
  const numbers: (readonly [column: number, value: number])[] = []
  for (const attribute of attributes) {
    const column = names.indexOf(attribute.key)
    if (column < 0 ? hasAttribute(others, attribute) : attribute.contains === undefined) return () => true
    if (column >= 0 && typeof attribute.contains === 'number') numbers.push([at.values + column, attribute.contains])
  }
  const inText = attributes.filter(({ key }) => !names.includes(key))
  return row => {
    if (numbers.some(([cell, value]) => row[cell] === value)) return true
    const rest = row[at.rest]
    if (typeof rest !== 'string' || inText.length === 0) return false
    const own = JSON.parse(rest) as Properties
    return inText.some(attribute => hasAttribute(own, attribute))
  }
}
