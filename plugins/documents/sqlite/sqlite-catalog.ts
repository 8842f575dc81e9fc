import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Collection, Taken } from 'pounce/sdk'
import type { Connection } from 'pounce/sdk/sqlite'
import { checkCollection, type Index, keysOf, sameJson } from 'pounce/sdk/store-kit'
import type { Database } from './database.ts'
import { addEntries, keyHolder } from './entries.ts'
import { type CollectionTable, type IndexTable, indexSql, tableSql } from './table.ts'

const backfillRows = 500

const definitions = `
CREATE TABLE IF NOT EXISTS collections(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE IF NOT EXISTS indexes(
  id INTEGER PRIMARY KEY AUTOINCREMENT, collection INTEGER NOT NULL, name TEXT NOT NULL, definition TEXT NOT NULL,
  filled_to INTEGER, UNIQUE(collection, name));`

interface StoredIndex extends IndexTable {
  readonly id: number
  /** The table with the collection's documents. */
  readonly documents: string
  /** Row up to which documents are indexed; null once all are. */
  readonly filledTo: number | null
}

interface StoredTable extends CollectionTable {
  readonly indexes: readonly StoredIndex[]
}

/** Maps collections to tables; creates, fills and drops index tables. */
export class SqliteCatalog {
  #database: Database
  /** With every index, including those still being filled. */
  #written = new Map<string, CollectionTable>()
  /** With complete indexes only. */
  #read = new Map<string, CollectionTable>()

  constructor(database: Database) {
    this.#database = database
  }

  /** Creates the tables used by this class. */
  load(): void {
    this.#database.use(db => db.transaction(() => db.exec(definitions)))
  }

  /** Throws for a collection that was not declared. */
  tableOf({ name }: Collection<object>): CollectionTable {
    const table = this.#read.get(name)
    if (table === undefined) throw new Error(`Collection ${name} is not declared`)
    return table
  }

  /** The table with every index that a change must update. */
  forWriting(collection: Collection<object>): CollectionTable {
    return this.#written.get(collection.name) ?? this.tableOf(collection)
  }

  /**
   * Creates new indexes, drops those no longer declared, and fills new ones in batches; continues where an earlier run stopped.
   * Throws `Taken` for a new unique index over documents that share a key.
   */
  async declare(collections: readonly Collection<object>[]): Promise<void> {
    for (const collection of collections) checkCollection(collection)
    const stored = this.#database.use(db => db.transaction(() => define(db, collections)))
    for (const table of stored) {
      this.#written.set(table.collection, table)
      const complete = table.indexes.filter(index => index.filledTo === null)
      if (this.#read.has(table.collection)) this.#read.set(table.collection, { ...table, indexes: complete })
    }
    for (const table of stored) {
      for (const index of table.indexes) await this.#fill(table.collection, index)
      this.#read.set(table.collection, table)
    }
  }

  async #fill(collection: string, index: StoredIndex): Promise<void> {
    for (let from = index.filledTo; from !== null; ) {
      const start: number = from
      from = this.#database.use(db => db.transaction(() => fillBatch(db, collection, index, start)))
      await nextTurn()
    }
  }
}

/**
 * Creates the tables of new collections and indexes; drops those of indexes that were removed or changed. All tables are created and dropped at
 * the end, because SQLite recompiles each statement after its schema has changed.
 */
const define = (db: Connection, collections: readonly Collection<object>[]): readonly StoredTable[] => {
  const ids = new Map(db.all('SELECT name, id FROM collections').map(([name, id]) => [String(name), Number(id)]))
  const stored = Map.groupBy(storedIndexes(db), ({ documents }) => documents)
  const sql: string[] = []
  const tables = collections.map(({ name, indexes }) => {
    const known = ids.get(name)
    const id = known ?? db.insert('INSERT INTO collections(name) VALUES (?)', name)
    const table = `c${id}`
    if (known === undefined) sql.push(tableSql(table))
    const isUnchanged = (one: StoredIndex): boolean => Object.hasOwn(indexes, one.name) && isSame(indexes[one.name], one.index)
    const { kept = [], gone = [] } = Object.groupBy(stored.get(table) ?? [], one => (isUnchanged(one) ? 'kept' : 'gone'))
    sql.push(...gone.map(one => dropIndex(db, one)))
    const missing = Object.entries(indexes).filter(([key]) => !kept.some(one => one.name === key))
    const isEmpty = known === undefined || (missing.length > 0 && db.get(`SELECT 1 FROM ${table} LIMIT 1`) === undefined)
    const added = missing.map(([key, index]) => addIndex(db, id, key, index, isEmpty))
    sql.push(...added.map(one => indexSql(one.table, one.index)))
    return { collection: name, table, indexes: [...kept, ...added] }
  })
  db.exec(sql.join(';'))
  return tables
}

/** Definitions are compared as the JSON that they are stored as. */
const isSame = (a: Index | undefined, b: Index): boolean =>
  a !== undefined && sameJson(JSON.parse(JSON.stringify(a)), JSON.parse(JSON.stringify(b)))

/** Returns a function that drops the index's table. */
const dropIndex = (db: Connection, { id, table }: StoredIndex): string => {
  db.run('DELETE FROM indexes WHERE id = ?', id)
  return `DROP TABLE ${table}`
}

/** Only an index of an empty collection is complete at once. */
const addIndex = (db: Connection, collection: number, name: string, index: Index, isEmpty: boolean): StoredIndex => {
  const filledTo = isEmpty ? null : 0
  const sql = 'INSERT INTO indexes(collection, name, definition, filled_to) VALUES (?, ?, ?, ?)'
  const id = db.insert(sql, collection, name, JSON.stringify(index), filledTo)
  return storedIndex(id, collection, name, index, filledTo)
}

const storedIndexes = (db: Connection): readonly StoredIndex[] =>
  db
    .all('SELECT id, collection, name, definition, filled_to FROM indexes ORDER BY id')
    .map(([id, collection, name, definition, filledTo]) =>
      storedIndex(
        Number(id),
        Number(collection),
        String(name),
        JSON.parse(String(definition)) as Index,
        filledTo === null ? null : Number(filledTo),
      ),
    )

const storedIndex = (id: number, collection: number, name: string, index: Index, filledTo: number | null): StoredIndex => ({
  id,
  name,
  table: `c${collection}_i${id}`,
  documents: `c${collection}`,
  index,
  filledTo,
})

/** Indexes the next documents; returns the row to continue from, or null at the end. */
const fillBatch = (db: Connection, collection: string, index: StoredIndex, from: number): number | null => {
  const rows = db.all(`SELECT r, id, doc FROM ${index.documents} WHERE r > ? ORDER BY r LIMIT ${backfillRows}`, from)
  for (const [row, document, text] of rows) {
    const keys = keysOf(index.index, JSON.parse(String(text)))
    const holder = index.index.unique && keys[0] ? keyHolder(db, index, keys[0]) : undefined
    if (holder !== undefined && holder !== document) {
      throw new Taken(index.name, `The index ${index.name} of ${collection} cannot be unique: ${holder} and ${document} share a key`)
    }
    addEntries(db, index, keys, String(document), Number(row))
  }
  const filledTo = rows.length < backfillRows ? null : Number(rows.at(-1)?.[0])
  db.run('UPDATE indexes SET filled_to = ? WHERE id = ?', filledTo, index.id)
  return filledTo
}
