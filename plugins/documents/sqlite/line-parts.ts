import { betweenLines, type Find, type Lines } from 'pounce/sdk'
import type { Connection } from 'pounce/sdk/sqlite'
import { RowFormatter } from './row-formatter.ts'
import { type ScanPlace, scanPart } from './scanning.ts'
import type { Table } from './table.ts'

/** Some of the documents to be written as lines: those of some rows, or the next of a scan. Only a reader thread is asked for it. */
export interface LineQuery {
  readonly kind: 'lines'
  /** The same for all parts of a report, so that what was learned of its documents serves again. */
  readonly report: string
  readonly lines: Lines
  readonly table: Table
  /** The tables of the collections that lines point at, by name. */
  readonly others: Readonly<Record<string, string>>
  readonly of:
    | { readonly after: number; readonly upTo: number }
    | { readonly scan: Pick<Find, 'using' | 'where'>; readonly from: ScanPlace }
}

/** Lines in UTF-8; without `next` the last of a scan. */
export interface LinePart {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly next?: ScanPlace
}

/** Parts of a scan that make one part of lines. */
const scanParts = 4
/** Reports whose makers are kept. */
const mostReports = 8

const makers = new WeakMap<Connection, Map<string, RowFormatter>>()

const makerOf = (db: Connection, { report, lines, others }: LineQuery): RowFormatter => {
  const known = makers.get(db) ?? new Map<string, RowFormatter>()
  makers.set(db, known)
  const found = (collection: string, id: string): unknown => {
    const row = db.get(`SELECT doc FROM ${others[collection]} WHERE id = ?`, id)
    return row && JSON.parse(row[0] as string)
  }
  const maker = known.get(report) ?? new RowFormatter(lines, found)
  known.delete(report)
  known.set(report, maker)
  for (const oldest of known.keys()) if (known.size > mostReports) known.delete(oldest)
  return maker
}

const textsOf = (db: Connection, { table, of }: LineQuery): { readonly texts: readonly string[]; readonly next?: ScanPlace } => {
  if ('upTo' in of) {
    const rows = db.all(`SELECT doc FROM ${table.table} WHERE r > ? AND r <= ? ORDER BY r`, of.after, of.upTo)
    return { texts: rows.map(row => row[0] as string) }
  }
  const texts: string[] = []
  let next: ScanPlace | undefined = of.from
  for (let part = 0; part < scanParts && next !== undefined; part++) {
    const found = scanPart(db, table, of.scan, next, Number.POSITIVE_INFINITY)
    if (found) texts.push(...found.texts)
    next = found?.next
  }
  return next ? { texts, next } : { texts }
}

/** Writes some of the documents as lines. */
export const linePart = (db: Connection, query: LineQuery): LinePart => {
  const { texts, next } = textsOf(db, query)
  const maker = makerOf(db, query)
  const between = betweenLines(query.lines.format)
  let lines = ''
  for (const text of texts) lines += lines === '' ? maker.line(text) : between + maker.line(text)
  const bytes = new TextEncoder().encode(lines)
  return next ? { bytes, next } : { bytes }
}
