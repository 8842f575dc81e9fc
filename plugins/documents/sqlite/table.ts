import { compareText } from 'pounce/sdk/kit'
import type { SqlValue } from 'pounce/sdk/sqlite'
import type { Index, Scalar } from 'pounce/sdk/store-kit'

/** An index as stored: a table `(k0 … kn, id, r)` ordered by its columns, one row per entry; `r` is the document's row. */
export interface IndexTable {
  readonly name: string
  readonly table: string
  readonly index: Index
}

/** A collection as stored: a table `(r, id, doc)` and those of its indexes. Plain data, so that it can be sent to a reader thread. */
export interface CollectionTable {
  readonly collection: string
  readonly table: string
  readonly indexes: readonly IndexTable[]
}

/** Columns of an index table, without id and r. */
export const columnsOf = (index: Index): readonly string[] => index.on.map((_, at) => `k${at}`)

/** The definition of a collection's table. */
export const tableSql = (table: string): string =>
  `CREATE TABLE ${table}(r INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, doc TEXT NOT NULL)`

/** The definition of an index's table; keys are unique together with the id, so it needs no row ids of its own. */
export const indexSql = (table: string, index: Index): string => {
  const columns = columnsOf(index).join(', ')
  return `CREATE TABLE ${table}(${columns}, id TEXT NOT NULL, r INTEGER NOT NULL, PRIMARY KEY(${columns}, id)) WITHOUT ROWID`
}

const booleans = [new Uint8Array([0]), new Uint8Array([1])] as const

/**
 * A scalar as a column of an index table. SQLite orders numbers, then text by its bytes, then blobs, which is the order of
 * `compareScalars` once null is minus infinity (JSON has none) and a boolean is a blob. SQL's own NULL equals nothing, not even itself.
 */
export const encode = (value: Scalar): SqlValue => {
  if (value === null) return Number.NEGATIVE_INFINITY
  return typeof value === 'boolean' ? booleans[value ? 1 : 0] : value
}

/** The scalar that `encode` took. */
export const decode = (column: unknown): Scalar => {
  if (column === Number.NEGATIVE_INFINITY) return null
  return column instanceof Uint8Array ? column[0] === 1 : (column as Scalar)
}

const rankOf = (column: unknown): number => (typeof column === 'number' ? 0 : typeof column === 'string' ? 1 : 2)

const compareBytes = (a: Uint8Array, b: Uint8Array): number => a.length - b.length || (a[0] ?? 0) - (b[0] ?? 0)

/** The order that SQLite gives columns made by `encode`, and the empty blob that ends the texts. */
export const compareColumns = (a: unknown, b: unknown): number => {
  if (typeof a === 'string' && typeof b === 'string') return compareText(a, b)
  if (typeof a === 'number' && typeof b === 'number') return a === b ? 0 : a - b
  return a instanceof Uint8Array && b instanceof Uint8Array ? compareBytes(a, b) : rankOf(a) - rankOf(b)
}
