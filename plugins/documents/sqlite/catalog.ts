import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Collection, checkCollection, type Index, keysOf, sameJson, Taken } from 'pounce/sdk'
import type { Connection } from './connection.ts'
import { addEntries, keyHolder } from './entries.ts'
import { type IndexTable, indexSql, type Table, tableSql } from './table.ts'

const backfillRows = 500

const definitions = `
CREATE TABLE IF NOT EXISTS collections(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE IF NOT EXISTS indexes(
  id INTEGER PRIMARY KEY, collection INTEGER NOT NULL, name TEXT NOT NULL, definition TEXT NOT NULL,
  filled_to INTEGER, UNIQUE(collection, name));`

interface StoredIndex extends IndexTable {
  readonly id: number
  /** Row up to which documents are indexed; null once all are. */
  readonly filledTo: number | null
}

/** Which tables hold which collection, and the making, filling and dropping of index tables. */
export class Catalog {
  #connection: () => Connection
  #tables = new Map<string, Table>()
  #declared = new Set<string>()

  constructor(connection: () => Connection) {
    this.#connection = connection
  }

  /** Learns what the file holds, so that writes keep every index right, also one whose filling was interrupted. */
  load(): void {
    const db = this.#connection()
    db.exec(definitions)
    for (const [id, name] of db.all('SELECT id, name FROM collections')) this.#remember(Number(id), String(name))
  }

  /** Throws for a collection that was not declared. */
  tableOf(collection: Collection<object>): Table {
    const table = this.#tables.get(collection.name)
    if (table === undefined || !this.#declared.has(collection.name)) throw new Error(`The collection ${collection.name} was not declared`)
    return table
  }

  /** Makes what is new, drops indexes that are gone, and fills new ones a batch at a time; goes on where an earlier run stopped. */
  async declare(collection: Collection<object>): Promise<void> {
    checkCollection(collection)
    const id = this.#connection().transaction(() => this.#define(collection))
    this.#remember(id, collection.name)
    for (const index of this.#storedIndexes(id)) if (index.filledTo !== null) await this.#fill(collection.name, index)
    this.#declared.add(collection.name)
  }

  #define({ name, indexes }: Collection<object>): number {
    const db = this.#connection()
    const known = db.get('SELECT id FROM collections WHERE name = ?', name)
    const id = known ? Number(known[0]) : db.run('INSERT INTO collections(name) VALUES (?)', name)
    if (!known) db.exec(tableSql(`c${id}`))
    const stored = this.#storedIndexes(id)
    for (const index of stored) {
      if (Object.hasOwn(indexes, index.name) && sameJson(plain(indexes[index.name]), plain(index.index))) continue
      db.exec(`DROP TABLE ${index.table}`)
      db.run('DELETE FROM indexes WHERE id = ?', index.id)
    }
    const kept = new Set(this.#storedIndexes(id).map(index => index.name))
    for (const [key, index] of Object.entries(indexes)) if (!kept.has(key)) this.#makeIndex(id, key, index)
    return id
  }

  #makeIndex(collection: number, name: string, index: Index): void {
    const db = this.#connection()
    const isEmpty = db.get(`SELECT 1 FROM c${collection} LIMIT 1`) === undefined
    const sql = 'INSERT INTO indexes(collection, name, definition, filled_to) VALUES (?, ?, ?, ?)'
    const id = db.run(sql, collection, name, JSON.stringify(index), isEmpty ? null : 0)
    db.exec(indexSql(`c${collection}_i${id}`, index))
  }

  #storedIndexes(collection: number): readonly StoredIndex[] {
    const rows = this.#connection().all('SELECT id, name, definition, filled_to FROM indexes WHERE collection = ? ORDER BY id', collection)
    return rows.map(([id, name, definition, filledTo]) => ({
      id: Number(id),
      name: String(name),
      table: `c${collection}_i${id}`,
      index: JSON.parse(String(definition)) as Index,
      filledTo: filledTo === null ? null : Number(filledTo),
    }))
  }

  #remember(id: number, collection: string): void {
    const indexes = this.#storedIndexes(id).map(({ name, table, index }) => ({ name, table, index }))
    this.#tables.set(collection, { collection, table: `c${id}`, indexes })
  }

  async #fill(collection: string, stored: StoredIndex): Promise<void> {
    let from: number | null = stored.filledTo
    while (from !== null) {
      const start: number = from
      from = this.#connection().transaction(() => this.#fillBatch(collection, stored, start))
      await nextTurn()
    }
  }

  #fillBatch(collection: string, { id, name, table, index }: StoredIndex, from: number): number | null {
    const db = this.#connection()
    const documents = table.slice(0, table.indexOf('_'))
    const rows = db.all(`SELECT r, id, doc FROM ${documents} WHERE r > ? ORDER BY r LIMIT ${backfillRows}`, from)
    for (const [r, document, text] of rows) {
      for (const key of keysOf(index, JSON.parse(String(text)))) {
        const holder = index.unique ? keyHolder(db, { name, table, index }, key) : undefined
        if (holder !== undefined && holder !== document) {
          throw new Taken(name, `The index ${name} of ${collection} cannot be unique: ${holder} and ${document} share a key`)
        }
        addEntries(db, { name, table, index }, [key], String(document), Number(r))
      }
    }
    const filledTo = rows.length < backfillRows ? null : Number(rows.at(-1)?.[0])
    db.run('UPDATE indexes SET filled_to = ? WHERE id = ?', filledTo, id)
    return filledTo
  }
}

/** Definitions compare as the JSON they are stored as. */
const plain = (index: Index | undefined) => JSON.parse(JSON.stringify(index ?? null))
