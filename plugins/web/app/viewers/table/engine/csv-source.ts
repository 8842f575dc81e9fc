import { encodingOf } from '../../lib/encoding.ts'
import { nextTurn } from '../../lib/next-turn.ts'
import { type Dialect, type DialectChoice, dialectOf, longestOf, parsed, typesOf } from './dialect.ts'
import { isGzip, type UnpackedCut, unpackedOf } from './gzip.ts'
import { RowScanner } from './row-scanner.ts'
import {
  type Cell,
  maxCoveredBytes,
  type ReadBytes,
  type TableColumn,
  type TableProgress,
  type TextSource,
  unnamedColumn,
} from './table-source.ts'

const sampleBytes = 65_536
const pieceBytes = 4_000_000
/** Longer rows are truncated. */
const maxRowBytes = 1_000_000
const maxColumns = 10_000
/** Rows per recorded position in the part of the file that is not kept in memory. */
const rowsPerMark = 256
const maxMarkBytes = 2_000_000
const blockBytes = 1_000_000

/** Byte offsets of rows. */
class Offsets {
  #values = new Uint32Array(4096)
  length = 0

  push(value: number): void {
    if (this.length === this.#values.length) {
      const larger = new Uint32Array(this.length * 2)
      larger.set(this.#values)
      this.#values = larger
    }
    this.#values[this.length++] = value
  }

  at(index: number): number {
    return this.#values[index] ?? 0
  }
}

interface Mark {
  readonly row: number
  readonly start: number
  end: number
}

/** A delimited text file. Its beginning is kept in memory; for the rest, only the position of every 256th row. */
export class CsvSource implements TextSource {
  readonly decimal: '.' | ','
  readonly dialect: Dialect
  /** For a compressed file that is shown only in part. */
  readonly cut: UnpackedCut | undefined
  #columns: readonly TableColumn[]
  #isWide = false
  #read: ReadBytes
  #sizeBytes: number
  #buffer: Uint8Array
  #keptBytes: number
  #bufferLength = 0
  #position: number
  #scanner: RowScanner
  #starts = new Offsets()
  #keptRows = 0
  #keptEnd = 0
  #rows = 0
  #longRows = 0
  #marks: Mark[] = []
  #cache = new Map<Mark, readonly (readonly string[])[]>()
  #isEnded = false
  #recoded: ((bytes: Uint8Array, isLast: boolean) => Uint8Array) | undefined
  #textOf: (bytes: Uint8Array) => string
  #reading: Promise<void> = Promise.resolve()
  /** Bytes before the table: a byte order mark and comment lines. */
  #headerBytes: number
  #skipped = 0
  /** Whether the file is longer than what is kept in memory. */
  #isKeptFull = false

  /** Up to `keptBytes` of the file are kept in memory. */
  static async open(read: ReadBytes, sizeBytes: number, dialectChoice: DialectChoice, keptBytes = maxCoveredBytes): Promise<CsvSource> {
    const sample = await read(0, Math.min(sizeBytes, sampleBytes))
    if (!isGzip(sample)) return new CsvSource(read, sizeBytes, sample, dialectChoice, keptBytes)
    const { bytes, cut } = await unpackedOf(read, sizeBytes, keptBytes)
    return new CsvSource(
      async (start, end) => bytes.slice(start, end),
      bytes.length,
      bytes.subarray(0, sampleBytes),
      dialectChoice,
      keptBytes,
      cut,
    )
  }

  private constructor(
    read: ReadBytes,
    sizeBytes: number,
    sample: Uint8Array,
    dialectChoice: DialectChoice,
    keptBytes: number,
    cut?: UnpackedCut,
  ) {
    this.cut = cut
    this.#keptBytes = keptBytes
    const encoding = dialectChoice.encoding ?? encodingOf(sample)
    const text = new TextDecoder(encoding).decode(sample, { stream: true })
    const { dialect, rows, preambleLength, isHeaderCommented, decimal } = dialectOf(text, encoding, dialectChoice)
    this.#read = read
    this.#sizeBytes = sizeBytes
    this.dialect = dialect
    this.decimal = decimal
    const widest = Math.max(1, ...rows.slice(0, 200).map(({ length }) => length))
    this.#isWide = widest > maxColumns
    const count = Math.min(maxColumns, widest)
    const [head = []] = rows
    const types = typesOf(dialect.hasHeader ? rows.slice(1, 500) : rows.slice(0, 500), count, decimal)
    const longest = longestOf(rows.slice(dialect.hasHeader ? 1 : 0, 100), count)
    this.#columns = types.map((type, at) => {
      const name = dialect.hasHeader ? (head[at] ?? '').trim() : ''
      return { name: isHeaderCommented && at === 0 ? name.replace(/^#\s*/, '') : name, type, longest: longest[at] ?? 0 }
    })
    // UTF-16 is converted to UTF-8, so that rows are found in the same way.
    const isWideText = encoding.startsWith('utf-16')
    if (isWideText) {
      const wide = new TextDecoder(encoding)
      this.#recoded = (bytes, isLast) => new TextEncoder().encode(wide.decode(bytes, { stream: !isLast }))
    }
    const decoder = new TextDecoder(isWideText ? 'utf-8' : encoding)
    this.#textOf = bytes => decoder.decode(bytes)
    const hasMark = sample[0] === 0xef && sample[1] === 0xbb && sample[2] === 0xbf
    this.#position = hasMark && encoding === 'utf-8' ? 3 : 0
    const preamble = encoding === 'windows-1252' ? preambleLength : new TextEncoder().encode(text.slice(0, preambleLength)).length
    this.#headerBytes = preamble + (isWideText ? 0 : this.#position)
    if (isWideText) this.#skipped = preamble
    else this.#position = this.#headerBytes
    this.#buffer = new Uint8Array(Math.min(keptBytes, sizeBytes * (isWideText ? 2 : 1)) + 4)
    this.#scanner = new RowScanner(0, dialect.delimiter, dialect.newline)
  }

  /** Columns of the first rows, then unnamed ones of rows with more cells. */
  get columns(): readonly TableColumn[] {
    return this.#columns
  }

  /** Whether there are more columns than are shown. */
  get isWide(): boolean {
    return this.#isWide
  }

  get progress(): TableProgress {
    const header = this.dialect.hasHeader ? 1 : 0
    return {
      rows: Math.max(0, this.#rows - header),
      isComplete: this.#isEnded,
      coveredRows: Math.max(0, this.#keptRows - header),
      isCovered: this.#isEnded || this.#isKeptFull,
      isCoverPartial: this.#isKeptFull,
      columns: this.#columns.length,
      longRows: this.#longRows,
      readBytes: Math.min(this.#position, this.#sizeBytes),
      sizeBytes: this.#sizeBytes,
    }
  }

  async readOn(until: 'more' | 'covered' | 'all', isWanted: () => boolean): Promise<void> {
    let isFirst = true
    const isEnough = (): boolean =>
      this.#isEnded || (until === 'more' && !isFirst) || (until === 'covered' && this.#isKeptFull) || !isWanted()
    // One at a time: pieces must arrive in order.
    const before = this.#reading
    const reading = (async () => {
      await before.catch(() => undefined)
      while (!isEnough()) {
        isFirst = false
        await this.#readPiece()
        await nextTurn()
      }
    })()
    this.#reading = reading
    await reading
  }

  async #readPiece(): Promise<void> {
    const end = Math.min(this.#sizeBytes, this.#position + (this.#rows === 0 && this.#bufferLength === 0 ? 1_000_000 : pieceBytes))
    const raw = this.#position < end ? await this.#read(this.#position, end) : new Uint8Array()
    const isLast = raw.length === 0 || this.#position + raw.length >= this.#sizeBytes
    this.#position += raw.length
    const bytes = this.#recoded?.(raw, isLast) ?? raw
    this.#take(bytes.subarray(this.#skipped))
    this.#skipped = 0
    if (!isLast) return
    this.#endRows()
    this.#isEnded = true
  }

  /** An unclosed quote is treated as a character, so that the rows after it are rows. */
  #endRows(): void {
    const found = (...row: [number, number, number]): void => this.#foundRow(...row)
    if (this.#scanner.isQuoted && !this.#isKeptFull) {
      const { rowStart } = this.#scanner
      this.#scanner = new RowScanner(rowStart, this.dialect.delimiter, this.dialect.newline, false)
      this.#scanner.take(this.#buffer.subarray(rowStart, this.#bufferLength), found)
    }
    this.#scanner.end(found)
  }

  #take(bytes: Uint8Array): void {
    const room = this.#isKeptFull ? 0 : Math.min(bytes.length, this.#keptBytes - this.#bufferLength)
    if (room > 0) {
      this.#buffer.set(bytes.subarray(0, room), this.#bufferLength)
      this.#bufferLength += room
      this.#scanner.take(bytes.subarray(0, room), (...row) => this.#foundRow(...row))
    }
    if (room === bytes.length) return
    this.#isKeptFull = true
    // In UTF-16, positions after the kept part are unknown, so reading stops.
    if (this.#recoded) this.#isEnded = true
    else this.#scanner.take(bytes.subarray(room), (...row) => this.#foundRow(...row))
  }

  #foundRow(start: number, end: number, cells: number): void {
    if (cells > this.#columns.length) this.#widen(cells)
    if (end <= this.#keptBytes && !this.#isKeptFull) {
      this.#starts.push(start)
      this.#keptRows++
      this.#keptEnd = end
    } else {
      const last = this.#marks.at(-1)
      if (!last || this.#rows - last.row >= rowsPerMark || end - last.start > maxMarkBytes)
        this.#marks.push({ row: this.#rows, start, end })
      else last.end = end
    }
    this.#rows++
    if (end - start > maxRowBytes) this.#longRows++
  }

  #widen(cells: number): void {
    this.#isWide ||= cells > maxColumns
    const more = Math.min(maxColumns, cells) - this.#columns.length
    if (more > 0) this.#columns = [...this.#columns, ...Array.from({ length: more }, () => unnamedColumn)]
  }

  async rows(numbers: readonly number[], firstColumn: number, endColumn: number): Promise<readonly (readonly Cell[])[]> {
    const header = this.dialect.hasHeader ? 1 : 0
    const found: (readonly Cell[])[] = []
    for (let at = 0; at < numbers.length; ) {
      const row = (numbers[at] ?? 0) + header
      if (row >= this.#keptRows) {
        found.push((await this.#distantRow(row)).slice(firstColumn, endColumn))
        at++
        continue
      }
      let count = 1
      while (numbers[at + count] === row - header + count && row + count < this.#keptRows && count < 500) count++
      for (const cells of this.#keptText(row, row + count)) found.push(cells.slice(firstColumn, endColumn))
      at += count
    }
    return found
  }

  #endOf(row: number): number {
    return row + 1 < this.#keptRows ? this.#starts.at(row + 1) : this.#keptEnd
  }

  /** Kept rows, from `first` to before `end`. */
  #keptText(first: number, end: number): readonly (readonly string[])[] {
    const start = this.#starts.at(first)
    const stop = this.#endOf(end - 1)
    if (stop - start <= maxRowBytes || end - first > 1) {
      const isShort = stop - start <= maxRowBytes * 4
      const rows = isShort ? this.#parsed(this.#buffer.subarray(start, stop)) : []
      if (rows.length === end - first) return rows
      // If a row is malformed, each is parsed separately.
      if (end - first > 1) return Array.from({ length: end - first }, (_, at) => this.#keptText(first + at, first + at + 1)[0] ?? [])
      return [rows[0] ?? []]
    }
    return [this.#parsed(this.#buffer.subarray(start, start + maxRowBytes))[0] ?? []]
  }

  #parsed(bytes: Uint8Array): string[][] {
    return parsed(this.#textOf(bytes), this.dialect.delimiter, this.dialect.newline)
  }

  async #distantRow(row: number): Promise<readonly string[]> {
    let low = 0
    let high = this.#marks.length - 1
    while (low < high) {
      const middle = Math.ceil((low + high) / 2)
      if ((this.#marks[middle]?.row ?? 0) <= row) low = middle
      else high = middle - 1
    }
    const mark = this.#marks[low]
    if (!mark) return []
    let rows = this.#cache.get(mark)
    if (!rows) {
      const from = mark.start + this.#headerBytes
      rows = this.#parsed(await this.#read(from, Math.min(mark.end + this.#headerBytes, from + maxMarkBytes)))
      this.#cache.set(mark, rows)
      const [oldest] = this.#cache.keys()
      if (this.#cache.size > 40 && oldest) this.#cache.delete(oldest)
    }
    return rows[row - mark.row] ?? []
  }

  findText(lowerCase: string, visit: (row: number) => void, isWanted: () => boolean): Promise<void> | undefined {
    // These may be quoted within a cell, or are not part of it.
    const { delimiter } = this.dialect
    const isWithinCells = !/["\r\n]/.test(lowerCase) && !lowerCase.includes(delimiter) && lowerCase.trim() === lowerCase
    // Columns that are not shown must not be searched.
    return isWithinCells && !this.#isWide ? this.#findText(lowerCase, visit, isWanted) : undefined
  }

  async #findText(lowerCase: string, visit: (row: number) => void, isWanted: () => boolean): Promise<void> {
    const header = this.dialect.hasHeader ? 1 : 0
    for (let first = header; first < this.#keptRows; ) {
      const start = this.#starts.at(first)
      let end = first + 1
      while (end < this.#keptRows && this.#endOf(end) - start <= blockBytes) end++
      this.#findInBlock(first, end, lowerCase, row => visit(row - header))
      first = end
      await nextTurn()
      if (!isWanted()) return
    }
  }

  #findInBlock(first: number, end: number, lowerCase: string, visit: (row: number) => void): void {
    const start = this.#starts.at(first)
    const bytes = this.#buffer.subarray(start, this.#endOf(end - 1))
    const text = this.#textOf(bytes).toLocaleLowerCase()
    if (!text.includes(lowerCase)) return
    if (text.length !== bytes.length) {
      // Positions in the text differ from those in the bytes.
      for (let row = first; row < end; row++) if (this.#rowText(row).toLocaleLowerCase().includes(lowerCase)) visit(row)
      return
    }
    let row = first
    for (let at = text.indexOf(lowerCase); at >= 0; ) {
      while (this.#endOf(row) - start <= at) row++
      // Only the part shown of a row that is too long is searched.
      if (at - (this.#starts.at(row) - start) + lowerCase.length <= maxRowBytes) visit(row)
      at = text.indexOf(lowerCase, this.#endOf(row) - start)
    }
  }

  #rowText(row: number): string {
    const start = this.#starts.at(row)
    return this.#textOf(this.#buffer.subarray(start, Math.min(this.#endOf(row), start + maxRowBytes)))
  }

  async scan(
    columns: readonly number[],
    visit: (firstRow: number, values: readonly (readonly Cell[])[]) => void,
    isWanted: () => boolean,
  ): Promise<void> {
    const header = this.dialect.hasHeader ? 1 : 0
    for (let first = header; first < this.#keptRows; ) {
      let end = first + 1
      const start = this.#starts.at(first)
      while (end < this.#keptRows && end - first < 20_000 && this.#endOf(end) - start <= blockBytes) end++
      const rows = this.#keptText(first, end)
      visit(
        first - header,
        columns.map(column => rows.map(row => row[column] ?? '')),
      )
      first = end
      await nextTurn()
      if (!isWanted()) return
    }
  }
}
