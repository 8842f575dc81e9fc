import type { Connection, Row, SqlValue } from 'pounce/sdk/sqlite'
import type { KeyRange } from './constraints.ts'
import { type CollectionTable, compareColumns, type IndexTable } from './table.ts'

/** What the streams of one index in one query have in common; they share their prepared statements. */
export interface StreamShape {
  /** Undefined for the documents by ID. */
  readonly index: IndexTable | undefined
  /** How many of the leading columns have a fixed value. */
  readonly fixed: number
  /** Bounds of the column after the fixed ones. */
  readonly bounds: KeyRange | undefined
  /** Columns that the rows are sorted by, before the ID. */
  readonly order: readonly number[]
  /** True when a document can have several entries in a stream. */
  readonly repeats: boolean
}

/** Entries of one index whose leading columns have these values. Rows are `[...order columns, id, r]`. */
export interface IndexStream {
  readonly shape: StreamShape
  readonly fixed: readonly SqlValue[]
}

/** Where to continue: the order columns and the ID of the last row. */
export type RowPosition = readonly SqlValue[]

/** The conditions and columns of a statement, in addition to those of its shape. */
interface Variant {
  readonly lower: boolean
  readonly upper: boolean
  readonly after: boolean
  readonly isDescending: boolean
  readonly documents: boolean
}

/** What to read of a stream. */
export interface StreamSlice {
  readonly after: RowPosition | undefined
  readonly isDescending: boolean
  readonly limit: number
  /** Each row ends with the document's text, or null where that is large: a batch then contains large texts only when they are needed. */
  readonly documents: boolean
}

/** With a bare parameter, SQLite would prepare the statement again at each call (measured: 5 µs each), since it inspects the value of a limit. */
const bound = '?+0'

/** Order columns without a fixed value: those that statements compare and sort by. */
const freeColumns = ({ order, fixed }: StreamShape): readonly number[] => order.filter(column => column >= fixed)

const conditions = (shape: StreamShape, { lower, upper, after, isDescending }: Omit<Variant, 'documents'>): string => {
  const clauses = Array.from({ length: shape.fixed }, (_, at) => `x.k${at} = ?`)
  if (lower) clauses.push(`x.k${shape.fixed} ${shape.bounds?.lower.isIncluded ? '>=' : '>'} ?`)
  if (upper) clauses.push(`x.k${shape.fixed} ${shape.bounds?.upper.isIncluded ? '<=' : '<'} ?`)
  if (after) {
    const columns = [...freeColumns(shape).map(column => `x.k${column}`), 'x.id']
    clauses.push(`(${columns.join(', ')}) ${isDescending ? '<' : '>'} (${columns.map(() => '?').join(', ')})`)
  }
  return clauses.length > 0 ? ` WHERE ${clauses.join(' AND ')}` : ''
}

/** True when rows of different entries may be equal because the distinguishing columns are not selected. */
const isFolded = ({ repeats, index, fixed, order }: StreamShape): boolean =>
  repeats && index !== undefined && order.length < index.index.on.length - fixed

/** Maximum size of a text that is read with its row, in bytes. */
const largeText = 64 * 1024

/** The column where it is small, otherwise null. SQLite gets the byte length of a text without reading it. */
export const smallText = (column: string): string => `CASE WHEN octet_length(${column}) <= ${largeText} THEN ${column} END`

const writeSql = (table: CollectionTable, shape: StreamShape, variant: Variant): string => {
  const { index, order } = shape
  const wanted = [...order.map(column => `x.k${column}`), 'x.id', 'x.r']
  if (variant.documents) wanted.push(smallText(index ? 'd.doc' : 'x.doc'))
  const join = variant.documents && index ? ` CROSS JOIN ${table.table} d ON d.r = x.r` : ''
  const direction = variant.isDescending ? ' DESC' : ''
  const ordered = [...freeColumns(shape).map(column => `x.k${column}${direction}`), `x.id${direction}`]
  return (
    `SELECT ${isFolded(shape) ? 'DISTINCT ' : ''}${wanted.join(', ')} FROM ${index?.table ?? table.table} x${join}` +
    `${conditions(shape, variant)} ORDER BY ${ordered.join(', ')} LIMIT ${bound}`
  )
}

const written = new WeakMap<StreamShape, Map<number, string>>()

const sqlOf = (table: CollectionTable, shape: StreamShape, variant: Variant): string => {
  const { lower, upper, after, isDescending, documents } = variant
  const key = Number(lower) + 2 * Number(upper) + 4 * Number(after) + 8 * Number(isDescending) + 16 * Number(documents)
  let variants = written.get(shape)
  if (variants === undefined) {
    variants = new Map()
    written.set(shape, variants)
  }
  let sql = variants.get(key)
  if (sql === undefined) {
    sql = writeSql(table, shape, variant)
    variants.set(key, sql)
  }
  return sql
}

/** Compares a stream's fixed order columns with a position: all of its rows are before it, after it, or equal to it in these columns. */
const lie = ({ shape, fixed }: IndexStream, after: RowPosition, isDescending: boolean): 'before' | 'level' | 'beyond' => {
  for (const [at, column] of shape.order.entries()) {
    if (column >= shape.fixed) return 'level'
    const difference = compareColumns(fixed[column], after[at])
    if (difference !== 0) return difference > 0 === isDescending ? 'before' : 'beyond'
  }
  return 'level'
}

/** The next rows of a stream, at most `limit`. */
export const rowsOf = (
  db: Connection,
  table: CollectionTable,
  stream: IndexStream,
  { after, isDescending, limit, documents }: StreamSlice,
): readonly Row[] => {
  const { shape, fixed } = stream
  const lies = after && shape.fixed > 0 ? lie(stream, after, isDescending) : 'level'
  if (lies === 'before') return []
  const place = lies === 'level' ? after : undefined
  const values = [...fixed]
  let lower = false
  let upper = false
  if (shape.bounds) {
    // SQLite seeks by one condition for each bound, so a bound that the position implies is left out.
    const reached = place && shape.order[0] === shape.fixed ? place[0] : undefined
    lower = reached === undefined || isDescending || compareColumns(reached, shape.bounds.lower.value) < 0
    upper = reached === undefined || !isDescending || compareColumns(reached, shape.bounds.upper.value) > 0
    if (lower) values.push(shape.bounds.lower.value)
    if (upper) values.push(shape.bounds.upper.value)
  }
  if (place) values.push(...place.filter((_, at) => at === shape.order.length || (shape.order[at] ?? 0) >= shape.fixed))
  values.push(limit)
  const sql = sqlOf(table, shape, { lower, upper, after: place !== undefined, isDescending, documents })
  if (limit > 1) return db.all(sql, ...values)
  const row = db.get(sql, ...values)
  return row ? [row] : []
}

/** The document of a row that was read with documents; undefined when it has been deleted since. */
export const documentText = (db: Connection, table: CollectionTable, row: Row): string | undefined => {
  const text = row.at(-1) as string | null
  return text ?? textAt(db, table, row.at(-2) as number)
}

/** The document at a row number of the table; undefined when it has been deleted. */
export const textAt = (db: Connection, table: CollectionTable, at: number): string | undefined =>
  db.get(`SELECT doc FROM ${table.table} WHERE r = ?`, at)?.[0] as string | undefined

/** Number of entries of a stream, up to a limit. */
export const countRows = (db: Connection, table: CollectionTable, { shape, fixed }: IndexStream, upTo: number): number => {
  const bounds = shape.bounds ? [shape.bounds.lower.value, shape.bounds.upper.value] : []
  const isBounded = bounds.length > 0
  const where = conditions(shape, { lower: isBounded, upper: isBounded, after: false, isDescending: false })
  const sql = `SELECT count(*) FROM (SELECT 1 FROM ${shape.index?.table ?? table.table} x${where} LIMIT ${bound})`
  return Number(db.get(sql, ...fixed, ...bounds, upTo)?.[0])
}

/** The row at a position of a stream, starting at 1; undefined when it has fewer. SQLite skips entries without reading their documents. */
export const rowAt = (
  db: Connection,
  table: CollectionTable,
  { shape, fixed }: IndexStream,
  { position, isDescending }: { readonly position: number; readonly isDescending: boolean },
): Row | undefined => {
  const bounds = shape.bounds ? [shape.bounds.lower.value, shape.bounds.upper.value] : []
  const isBounded = bounds.length > 0
  const sql = sqlOf(table, shape, { lower: isBounded, upper: isBounded, after: false, isDescending, documents: false })
  return db.get(`${sql} OFFSET ?+0`, ...fixed, ...bounds, 1, position - 1)
}
