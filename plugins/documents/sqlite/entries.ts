import type { Connection } from 'pounce/sdk/sqlite'
import { compareScalars, type Key } from 'pounce/sdk/store-kit'
import { columnsOf, encode, type IndexTable } from './table.ts'

interface Statements {
  readonly add: string
  readonly remove: string
  readonly holder: string
}

const statementCache = new Map<string, Statements>()

const statementsOf = ({ table, index }: IndexTable): Statements => {
  const memo = `${table}/${index.on.length}`
  let statements = statementCache.get(memo)
  if (statements === undefined) {
    const columns = columnsOf(index)
    const equal = columns.map(column => `${column} = ?`).join(' AND ')
    statements = {
      add: `INSERT OR IGNORE INTO ${table}(${columns.join(', ')}, id, r) VALUES (${columns.map(() => '?').join(', ')}, ?, ?)`,
      remove: `DELETE FROM ${table} WHERE ${equal} AND id = ?`,
      holder: `SELECT id FROM ${table} WHERE ${equal} LIMIT 1`,
    }
    statementCache.set(memo, statements)
  }
  return statements
}

/** Adds a document's entries to an index table; existing ones are left unchanged. */
export const addEntries = (db: Connection, to: IndexTable, keys: readonly Key[], id: string, row: number): void => {
  const { add } = statementsOf(to)
  for (const key of keys) db.run(add, ...key.map(encode), id, row)
}

/** Removes a document's entries from an index table. */
export const removeEntries = (db: Connection, from: IndexTable, keys: readonly Key[], id: string): void => {
  const { remove } = statementsOf(from)
  for (const key of keys) db.run(remove, ...key.map(encode), id)
}

/** The ID of a document with the key; undefined for a key with a null part, which is never taken. */
export const keyHolder = (db: Connection, index: IndexTable, key: Key): string | undefined => {
  if (key.includes(null)) return undefined
  const row = db.get(statementsOf(index).holder, ...key.map(encode))
  return row === undefined ? undefined : String(row[0])
}

/** True for keys with the same values. */
export const sameKey = (a: Key, b: Key): boolean => a.every((value, at) => compareScalars(value, b[at] ?? null) === 0)
