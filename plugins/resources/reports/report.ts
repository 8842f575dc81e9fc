import { type Bytes, betweenLines, csvText, type Lines, printLine, type Shown, streamed } from 'pounce/sdk'
import { inBatches } from './batches.ts'

export type Format = Lines['format']

/** A table on its way to a client. */
export interface Report {
  /** Of the file, without extension. */
  readonly name: string
  readonly columns: readonly string[]
  /** The names of columns are quoted as well. */
  readonly hasQuotedHead?: boolean
  /** Lines in pieces, without anything between the pieces. */
  lines(format: Format): AsyncIterable<Uint8Array>
}

/** Rows as pieces of lines. */
export async function* linesFrom(
  format: Format,
  columns: readonly string[],
  rows: AsyncIterable<readonly Shown[]>,
): AsyncGenerator<Uint8Array> {
  for await (const some of inBatches(rows)) yield Buffer.from(some.map(row => printLine(format, columns, row)).join(betweenLines(format)))
}

async function* whole(report: Report, format: Format): AsyncGenerator<Uint8Array> {
  const head = report.hasQuotedHead ? report.columns.map(csvText) : report.columns
  yield Buffer.from(format === 'csv' ? `${head.join(',')}\r\n` : '[\n')
  const between = Buffer.from(betweenLines(format))
  let isFirst = true
  for await (const piece of report.lines(format)) {
    yield isFirst ? piece : Buffer.concat([between, piece])
    isFirst = false
  }
  if (format === 'json') yield Buffer.from('\n]\n')
  else if (!isFirst) yield between
}

/** A report as a file to save. It is made while it is sent, as fast as the client takes it. */
export const reportBytes = (report: Report, format: Format): Bytes => ({
  contentType: format === 'csv' ? 'text/csv; charset=utf-8' : 'application/json',
  filename: `${report.name}.${format}`,
  open: () => streamed(whole(report, format)),
})
