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
  /** The table of the collection's documents. */
  readonly documents: string
  /** Row up to which documents are indexed; null once all are. */
  readonly filledTo: number | null
}

interface StoredTable extends CollectionTable {
  readonly indexes: readonly StoredIndex[]
}

/** Which tables hold which collection, and the making, filling and dropping of index tables. */
export class SqliteCatalog {
  #database: Database
  /** With every index, also those that are still being filled. */
  #written = new Map<string, CollectionTable>()
  /** With the indexes that are complete. */
  #read = new Map<string, CollectionTable>()

  constructor(database: Database) {
    this.#database = database
  }

  /** Makes the tables that this class works with. */
  load(): void {
    this.#database.use(db => db.transaction(() => db.exec(definitions)))
  }

  /** Throws for a collection that was not declared. */
  tableOf({ name }: Collection<object>): CollectionTable {
    const table = this.#read.get(name)
    if (table === undefined) throw new Error(`Collection ${name} is not declared`)
    return table
  }

  /** The table with every index that a change must keep right. */
  forWriting(collection: Collection<object>): CollectionTable {
    return this.#written.get(collection.name) ?? this.tableOf(collection)
  }

  /**
   * Makes what is new, drops indexes that are gone, and fills new ones a batch at a time; continues where an earlier run stopped.
   * Throws `Taken` for a new unique index over documents that share a key.
   */
  async declare(collections: readonly Collection<object>[]): Promise<void> {
    for (const collection of collections) checkCollection(collection)
    const stored = this.#database.use(db => db.transaction(() => collections.map(collection => define(db, collection))))
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

/** Makes a collection's table and the index tables that are new; drops those that are gone or defined otherwise. */
const define = (db: Connection, { name, indexes }: Collection<object>): StoredTable => {
  const known = db.get('SELECT id FROM collections WHERE name = ?', name)
  const id = known ? Number(known[0]) : db.insert('INSERT INTO collections(name) VALUES (?)', name)
  if (!known) db.exec(tableSql(`c${id}`))
  const kept = new Set<string>()
  for (const index of storedIndexes(db, id)) {
    if (Object.hasOwn(indexes, index.name) && isSame(indexes[index.name], index.index)) kept.add(index.name)
    else dropIndex(db, index)
  }
  for (const [key, index] of Object.entries(indexes)) if (!kept.has(key)) makeIndex(db, id, key, index)
  return { collection: name, table: `c${id}`, indexes: storedIndexes(db, id) }
}

/** Definitions compare as the JSON they are stored as. */
const isSame = (a: Index | undefined, b: Index): boolean =>
  a !== undefined && sameJson(JSON.parse(JSON.stringify(a)), JSON.parse(JSON.stringify(b)))

const dropIndex = (db: Connection, { id, table }: StoredIndex): void => {
  db.exec(`DROP TABLE ${table}`)
  db.run('DELETE FROM indexes WHERE id = ?', id)
}

const makeIndex = (db: Connection, collection: number, name: string, index: Index): void => {
  const isEmpty = db.get(`SELECT 1 FROM c${collection} LIMIT 1`) === undefined
  const sql = 'INSERT INTO indexes(collection, name, definition, filled_to) VALUES (?, ?, ?, ?)'
  const id = db.insert(sql, collection, name, JSON.stringify(index), isEmpty ? null : 0)
  db.exec(indexSql(`c${collection}_i${id}`, index))
}

const storedIndexes = (db: Connection, collection: number): readonly StoredIndex[] =>
  db
    .all('SELECT id, name, definition, filled_to FROM indexes WHERE collection = ? ORDER BY id', collection)
    .map(([id, name, definition, filledTo]) => ({
      id: Number(id),
      name: String(name),
      table: `c${collection}_i${id}`,
      documents: `c${collection}`,
      index: JSON.parse(String(definition)) as Index,
      filledTo: filledTo === null ? null : Number(filledTo),
    }))

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
