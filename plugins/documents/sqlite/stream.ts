import type { Connection, Row, SqlValue } from './connection.ts'
import type { Bounds } from './constraints.ts'
import type { IndexTable, Table } from './table.ts'

/**
 * Entries of one index whose first columns have fixed values; without an index, the documents by id.
 * Rows are `[...order columns, id, r]`.
 */
export interface Stream {
  readonly index: IndexTable | undefined
  readonly fixed: readonly SqlValue[]
  /** Of the column behind the fixed ones. */
  readonly bounds: Bounds | undefined
  /** Columns the rows are ordered by, before the id. */
  readonly order: readonly number[]
  /** True when a document can have several entries in the stream. */
  readonly repeats: boolean
}

/** Where to go on: the order columns and the id of the last row. */
export type Place = readonly SqlValue[]

interface Clause {
  readonly sql: string
  readonly values: readonly SqlValue[]
}

const before = (a: SqlValue, b: SqlValue): boolean => rank(a) < rank(b) || (rank(a) === rank(b) && less(a, b))

const rank = (value: SqlValue): number => (typeof value === 'number' ? 0 : typeof value === 'string' ? 1 : 2)

const less = (a: SqlValue, b: SqlValue): boolean => {
  if (typeof a === 'number' && typeof b === 'number') return a < b
  return Buffer.compare(Buffer.from(a as string), Buffer.from(b as string)) < 0
}

const fixedClauses = (stream: Stream): readonly Clause[] => stream.fixed.map((value, at) => ({ sql: `x.k${at} = ?`, values: [value] }))

/** One end of the stretch is left out when the place to go on from implies it: SQLite seeks by one condition per end. */
const boundClauses = (stream: Stream, after: Place | undefined, isDescending: boolean): readonly Clause[] => {
  if (stream.bounds === undefined) return []
  const column = `x.k${stream.fixed.length}`
  const { lower, upper } = stream.bounds
  const reached = after && stream.order[0] === stream.fixed.length ? after[0] : undefined
  const clauses: Clause[] = []
  if (reached === undefined || isDescending || before(reached, lower.value)) {
    clauses.push({ sql: `${column} ${lower.isIncluded ? '>=' : '>'} ?`, values: [lower.value] })
  }
  if (reached === undefined || !isDescending || before(upper.value, reached)) {
    clauses.push({ sql: `${column} ${upper.isIncluded ? '<=' : '<'} ?`, values: [upper.value] })
  }
  return clauses
}

/** Rows beyond a place. Undefined: none can be. Order columns that are fixed need no condition of their own. */
const afterClause = (stream: Stream, after: Place, isDescending: boolean): Clause | undefined => {
  const columns: string[] = []
  const values: SqlValue[] = []
  for (const [at, column] of stream.order.entries()) {
    const fixed = stream.fixed[column]
    const reached = after[at] as SqlValue
    if (fixed === undefined) {
      columns.push(`x.k${column}`)
      values.push(reached)
    } else if (before(fixed, reached) || before(reached, fixed)) {
      return before(fixed, reached) === isDescending ? { sql: '', values: [] } : undefined
    }
  }
  columns.push('x.id')
  values.push(after.at(-1) as SqlValue)
  const sign = isDescending ? '<' : '>'
  const sql = columns.length === 1 ? `x.id ${sign} ?` : `(${columns.join(', ')}) ${sign} (${columns.map(() => '?').join(', ')})`
  return { sql, values }
}

/** True when rows of different entries look alike because the columns that tell them apart are not asked for. */
const isFolded = ({ repeats, index, fixed, order }: Stream): boolean =>
  repeats && index !== undefined && order.length < index.index.on.length - fixed.length

/** The next rows of a stream, at most `limit`; with `documents` each row ends with the document's text. */
export const rowsOf = (
  db: Connection,
  table: Table,
  stream: Stream,
  { after, isDescending, limit, documents }: { after: Place | undefined; isDescending: boolean; limit: number; documents: boolean },
): readonly Row[] => {
  const clauses = [...fixedClauses(stream), ...boundClauses(stream, after, isDescending)]
  if (after !== undefined) {
    const clause = afterClause(stream, after, isDescending)
    if (clause === undefined) return []
    if (clause.sql !== '') clauses.push(clause)
  }
  const source = stream.index?.table ?? table.table
  const direction = isDescending ? ' DESC' : ''
  const columns = stream.order.map(column => `x.k${column}`)
  const ordered = [...stream.order.filter(column => stream.fixed[column] === undefined).map(column => `x.k${column}`), 'x.id']
  const wanted = [...columns, 'x.id', 'x.r']
  const join = documents && stream.index ? ` CROSS JOIN ${table.table} d ON d.r = x.r` : ''
  if (documents) wanted.push(stream.index ? 'd.doc' : 'x.doc')
  const where = clauses.length > 0 ? ` WHERE ${clauses.map(clause => clause.sql).join(' AND ')}` : ''
  const sql =
    `SELECT ${isFolded(stream) ? 'DISTINCT ' : ''}${wanted.join(', ')} FROM ${source} x${join}${where}` +
    ` ORDER BY ${ordered.map(column => column + direction).join(', ')} LIMIT ?`
  return db.all(sql, ...clauses.flatMap(clause => clause.values), limit)
}

/** How many entries a stream has, up to a number. */
export const countRows = (db: Connection, table: Table, stream: Stream, upTo: number): number => {
  const clauses = [...fixedClauses(stream), ...boundClauses(stream, undefined, false)]
  const where = clauses.length > 0 ? ` WHERE ${clauses.map(clause => clause.sql).join(' AND ')}` : ''
  const sql = `SELECT count(*) FROM (SELECT 1 FROM ${stream.index?.table ?? table.table} x${where} LIMIT ?)`
  return Number(db.get(sql, ...clauses.flatMap(clause => clause.values), upTo)?.[0])
}
