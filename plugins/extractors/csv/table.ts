import { pipeline } from 'node:stream/promises'
import { type CsvError, parse } from 'csv-parse'
import type { ExtractorInput } from 'pounce/sdk'
import { ColumnSummary, isData } from './column-summary.ts'
import { type Dialect, decoded } from './dialect.ts'

const maxRowBytes = 1 << 20
const maxColumns = 1000
const maxProblems = 5
const previewRows = 20
const maxNameLength = 200

/** The result of one pass over a table. */
export class ParsedTable {
  readonly columns: ColumnSummary[] = []
  /** Rows in the order of the table, without the heading; at most 20. */
  readonly firstRows: string[][] = []
  readonly problems: string[] = []
  hasHeader = false
  columnCount = 0
  rows = 0
  raggedRows = 0
  brokenRows = 0
  isComplete = true

  /** Adds the next row; the first one determines the columns. */
  add(row: string[], decimalComma: boolean): void {
    if (this.columnCount === 0) {
      this.#begin(row, decimalComma)
      if (this.hasHeader) return
    }
    this.rows++
    if (row.length !== this.columnCount) this.raggedRows++
    if (this.firstRows.length < previewRows) this.firstRows.push(row)
    for (const [at, column] of this.columns.entries()) column.add(row[at] ?? '')
  }

  #begin(row: string[], decimalComma: boolean): void {
    this.columnCount = row.length
    this.hasHeader = row.some(cell => cell.trim() !== '') && !row.some(isData)
    for (const [at, cell] of row.slice(0, maxColumns).entries()) {
      const name = this.hasHeader ? cell.trim().slice(0, maxNameLength) : ''
      this.columns.push(new ColumnSummary(name || `column ${at + 1}`, decimalComma))
    }
  }
}

/** Reads a table of any length. Malformed rows are skipped and counted; an endless row stops the reading. */
export async function readTable(input: ExtractorInput, dialect: Dialect): Promise<ParsedTable> {
  const table = new ParsedTable()
  const stop = new AbortController()
  const decimalComma = dialect.delimiter === ';'
  const parser = parse({
    delimiter: dialect.delimiter,
    bom: true,
    relax_column_count: true,
    relax_quotes: true,
    skip_empty_lines: true,
    skip_records_with_error: true,
    max_record_size: maxRowBytes,
    ...(dialect.hasComments && { comment: '#', comment_no_infix: true }),
  })
  const faults: CsvError[] = []
  parser.on('skip', (error: CsvError) => {
    table.brokenRows++
    if (faults.length < maxProblems) faults.push(error)
    if (error.code === 'CSV_MAX_RECORD_SIZE') stop.abort()
  })
  const signal = AbortSignal.any([input.signal, stop.signal])
  const collect = async (rows: AsyncIterable<string[]>) => {
    for await (const row of rows) {
      table.add(row, decimalComma)
      if (table.rows % 1_000_000 === 0 && table.rows > 0) input.progress(`${table.rows / 1_000_000} million rows read`)
    }
  }
  try {
    await pipeline(decoded(input.path, dialect.encoding, signal), parser, collect, { signal })
  } catch (error) {
    input.signal.throwIfAborted()
    if (!stop.signal.aborted) throw error
    table.isComplete = false
  }
  for (const error of faults) table.problems.push(describe(error, await lineOf(error, input, dialect)))
  return table
}

const feed = 10
const carriage = 13

/** The line where a malformed row begins: the parser counts lines within quotation marks twice where they end with CR and LF. */
async function lineOf(error: CsvError, { path, signal }: ExtractorInput, { encoding }: Dialect): Promise<number> {
  let left = Number(error['bytes'])
  let line = 1
  let last = 0
  for await (const text of decoded(path, encoding, signal)) {
    const bytes = Buffer.from(text)
    for (let at = 0; at < bytes.length; at++) {
      const byte = bytes[at] ?? 0
      const isBreak = byte === feed || byte === carriage
      // Empty lines are not rows.
      if (at >= left && !isBreak) return line
      if (byte === carriage || (byte === feed && last !== carriage)) line++
      last = byte
    }
    left -= bytes.length
  }
  return line
}

function describe(error: CsvError, line: number): string {
  if (error.code === 'CSV_MAX_RECORD_SIZE') return `line ${line}: a row is longer than 1 MiB; a quotation mark may not be closed`
  if (error.code === 'CSV_QUOTE_NOT_CLOSED') return `line ${line}: a quotation mark is not closed before the end of the file`
  return `line ${line}: ${error.message.slice(0, 200)}`
}
