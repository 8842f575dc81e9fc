import {
  columnsWith,
  idOf,
  keyCost,
  type PointRow,
  type PointSource,
  placeBefore,
  type ScanContext,
  ScanSource,
  type Sink,
  type StartRange,
  startOf,
  textCost,
  textLengthOf,
} from './scans.ts'

/** Number of rows in the first window and in later ones: some milliseconds, and a few megabytes. */
const [firstWindow, nextWindows] = [2000, 5000]
/** Maximum characters of texts in a window. */
const maxLength = 4_000_000
/** Each window seeks in every stream: with more of them, it is not worth it. */
export const maxWindowedStreams = 2000

interface WindowSql {
  readonly end: string
  rows(columns: string): string
}

const sqlFor = (isDescending: boolean): WindowSql => {
  const [beyond, upTo, order] = isDescending ? ['<', '>=', ' DESC'] : ['>', '<=', '']
  return {
    end: `SELECT start, id FROM points INDEXED BY by_start WHERE (start, id) ${beyond} (?, ?) ORDER BY start${order}, id${order} LIMIT 1 OFFSET ?`,
    rows: columns => `SELECT each_row(${columns}) FROM points
      WHERE stream IN (SELECT stream FROM streams) AND (start, id) ${beyond} (?, ?) AND (start, id) ${upTo} (?, ?)`,
  }
}

/**
 * All rows of up to `maxWindowedStreams` streams in order of start. The index supplies the end of a window; its rows are then read stream by stream, from adjacent
 * pages, and sorted: this takes half the time of finding each row of the index by its key. Continues with a scan where rows have long texts.
 */
export class WindowSource implements PointSource {
  readonly #reading: ScanContext
  readonly #range: StartRange
  readonly #last: readonly [number, number]
  readonly #sign: 1 | -1
  readonly #sql: WindowSql
  #place: readonly [number, number]
  #size = firstWindow
  #rows: PointRow[] = []
  #next = 0
  #isLast = false
  #scan: ScanSource | undefined

  constructor(reading: ScanContext, range: StartRange) {
    this.#reading = reading
    this.#range = range
    this.#sign = range.isDescending ? -1 : 1
    this.#sql = sqlFor(range.isDescending)
    this.#place = placeBefore(range)
    this.#last = placeBefore({ ...range, isDescending: !range.isDescending, after: undefined })
  }

  get isDone(): boolean {
    return this.#scan?.isDone ?? (this.#isLast && this.#next >= this.#rows.length)
  }

  fill(sink: Sink, budget: number): number {
    let spent = 0
    while (!this.isDone && sink.room > 0 && spent < budget) {
      if (this.#scan) spent += this.#scan.fill(sink, budget - spent)
      else if (this.#next < this.#rows.length) sink.add(this.#rows[this.#next++] as PointRow)
      else spent += this.#load()
    }
    return spent
  }

  #load(): number {
    const { db, shapes, test } = this.#reading
    const { untilEnd, isLast } = this.#window()
    const rows: PointRow[] = []
    let [spent, length] = [keyCost * this.#size, 0]
    db.each(this.#sql.rows(columnsWith(shapes.maxNames)), [...this.#place, ...untilEnd], row => {
      length += textLengthOf(row)
      spent += 1
      if (test(row)) rows.push(row)
      return length <= maxLength
    })
    if (length > maxLength) {
      const [startMs, id] = this.#place
      this.#scan = new ScanSource(this.#reading, { ...this.#range, after: { startMs, id, stream: 0 } })
    } else {
      this.#rows = this.#sorted(rows)
      this.#next = 0
      this.#place = untilEnd
      this.#isLast = isLast
      this.#size = nextWindows
    }
    return spent + textCost * length
  }

  /** The last position of the next window. */
  #window(): { readonly untilEnd: readonly [number, number]; readonly isLast: boolean } {
    const [startMs, id] = this.#reading.db.get(this.#sql.end, ...this.#place, this.#size - 1) ?? []
    const end = startMs === undefined ? this.#last : ([startMs as number, id as number] as const)
    const isLast = this.#sign * (end[0] - this.#last[0] || end[1] - this.#last[1]) >= 0
    return { untilEnd: isLast ? this.#last : end, isLast }
  }

  #sorted(rows: PointRow[]): PointRow[] {
    return rows.sort((one, other) => this.#sign * (startOf(one) - startOf(other) || idOf(one) - idOf(other)))
  }
}
