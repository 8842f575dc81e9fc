/** Called with a row from byte `start` to before `end`, and its number of cells. */
type FoundRow = (start: number, end: number, cells: number) => void

const quote = 34
const feed = 10
const carriage = 13
/** A longer quoted text is considered an unclosed quote. */
const maxQuotedBytes = 4_000_000
/** A longer row is reported at this length, without waiting for its end. */
const maxRowBytes = 4_000_000

/**
 * Finds the rows of a table in bytes that arrive piece by piece. Quoted texts may contain line breaks; a quote in the middle of an unquoted text is an ordinary
 * character, as in PapaParse. Empty lines are skipped.
 */
export class RowScanner {
  /** The byte offset of the current row. */
  rowStart: number
  #at: number
  #isQuoted = false
  #isFieldStart = true
  #mayReopen = false
  #isReported = false
  #last = 0
  /** Number of cells so far in the current row. */
  #cells = 1
  #delimiter: number
  #newline: number
  #hasQuotes: boolean

  /** Without `hasQuotes`, quotes are ordinary characters. */
  constructor(start: number, delimiter: string, newline: '\n' | '\r' | '\r\n', hasQuotes = true) {
    this.rowStart = start
    this.#at = start
    this.#delimiter = delimiter.charCodeAt(0)
    this.#hasQuotes = hasQuotes
    this.#newline = newline === '\r' ? carriage : feed
  }

  /** Whether a quoted text is still open. */
  get isQuoted(): boolean {
    return this.#isQuoted
  }

  /** Scans the next bytes, and reports each row that ends in them. */
  take(bytes: Uint8Array, found: FoundRow): void {
    const first = this.#at
    if (!this.#hasQuotes || (!this.#isQuoted && bytes.indexOf(quote) < 0)) this.#takePlain(bytes, first, found)
    else this.#takeQuoted(bytes, first, found)
    this.#at = first + bytes.length
    this.#last = bytes.at(-1) ?? this.#last
    if (this.#isReported || this.#at - this.rowStart <= maxRowBytes) return
    found(this.rowStart, this.#at, this.#cells)
    this.#isReported = true
  }

  /** Reports the last row, which may have no line break. */
  end(found: FoundRow): void {
    if (this.#at > this.rowStart && !this.#isReported) found(this.rowStart, this.#at, this.#cells)
    this.rowStart = this.#at
  }

  #takePlain(bytes: Uint8Array, first: number, found: FoundRow): void {
    for (let from = 0; ; ) {
      const at = bytes.indexOf(this.#newline, from)
      for (let each = from; each < (at < 0 ? bytes.length : at); each++) if (bytes[each] === this.#delimiter) this.#cells++
      if (at < 0) break
      this.#endRow(bytes, first, at, found)
      from = at + 1
    }
    const last = bytes[bytes.length - 1]
    if (last !== undefined) this.#isFieldStart = last === this.#delimiter || last === this.#newline
    this.#mayReopen = false
  }

  #endRow(bytes: Uint8Array, first: number, at: number, found: FoundRow): void {
    const start = this.rowStart
    const end = first + at + 1
    this.rowStart = end
    const length = end - start
    const isEmpty = length === 1 || (length === 2 && (at > 0 ? bytes[at - 1] : this.#last) === carriage && this.#newline === feed)
    if (!isEmpty && !this.#isReported) found(start, end, this.#cells)
    this.#isReported = false
    this.#cells = 1
  }

  #takeQuoted(bytes: Uint8Array, first: number, found: FoundRow): void {
    let isQuoted = this.#isQuoted
    let isFieldStart = this.#isFieldStart
    let mayReopen = this.#mayReopen
    for (let at = 0; at < bytes.length; at++) {
      const byte = bytes[at]
      if (isQuoted) {
        if (byte === quote) {
          isQuoted = false
          mayReopen = true
        } else if (byte === this.#newline && first + at - this.rowStart > maxQuotedBytes) {
          isQuoted = false
          this.#endRow(bytes, first, at, found)
          isFieldStart = true
        }
      } else if (byte === quote) {
        if (isFieldStart || mayReopen) isQuoted = true
        isFieldStart = false
        mayReopen = false
      } else {
        mayReopen = false
        isFieldStart = byte === this.#delimiter
        if (isFieldStart) this.#cells++
        if (byte === this.#newline) {
          this.#endRow(bytes, first, at, found)
          isFieldStart = true
        }
      }
    }
    this.#isQuoted = isQuoted
    this.#isFieldStart = isFieldStart
    this.#mayReopen = mayReopen
  }
}
