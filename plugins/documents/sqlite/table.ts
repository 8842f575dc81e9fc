import type { Index } from 'pounce/sdk'

/** An index as stored: a table `(k0 … kn, id, r)` ordered by its columns, one row per entry; `r` is the document's row. */
export interface IndexTable {
  readonly name: string
  readonly table: string
  readonly index: Index
}

/** A collection as stored: a table `(r, id, doc)` and those of its indexes. Plain data, so that a reader thread can be told. */
export interface Table {
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
