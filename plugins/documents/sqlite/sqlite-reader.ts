import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Collection, checkFind, type Find, indexesOf, type Page, type Stored } from 'pounce/sdk'
import { type Count, countFitting } from './counting.ts'
import type { Database } from './database.ts'
import { findPage } from './page.ts'
import type { ReaderThread } from './reader-thread.ts'
import { type ScanPlace, scanPart } from './scanning.ts'
import type { SqliteCatalog } from './sqlite-catalog.ts'

/** How many documents a scan reads at a time. */
const scanned = 200

const parse = <T>(text: string): T & Stored => JSON.parse(text) as T & Stored

/** Answers reads here as long as they are short, and by the reader thread when they turn out not to be. */
export class SqliteReader {
  #database: Database
  #catalog: SqliteCatalog
  #thread: ReaderThread
  #effort: number

  constructor(database: Database, catalog: SqliteCatalog, thread: ReaderThread, effort: number) {
    this.#database = database
    this.#catalog = catalog
    this.#thread = thread
    this.#effort = effort
  }

  get<T extends object>(from: Collection<T>, id: string): (T & Stored) | undefined {
    const { table } = this.#catalog.tableOf(from)
    const row = this.#database.use(db => db.get(`SELECT doc FROM ${table} WHERE id = ?`, id))
    return row && parse<T>(row[0] as string)
  }

  getMany<T extends object>(from: Collection<T>, ids: readonly string[]): ReadonlyMap<string, T & Stored> {
    if (ids.length > 1000) throw new RangeError('At most 1,000 documents per request')
    const { table } = this.#catalog.tableOf(from)
    const sql = `SELECT d.id, d.doc FROM json_each(?) j CROSS JOIN ${table} d ON d.id = j.value`
    const rows = this.#database.use(db => db.all(sql, JSON.stringify(ids)))
    return new Map(rows.map(([id, text]) => [id as string, parse<T>(text as string)]))
  }

  async find<T extends object>(from: Collection<T>, query: Find): Promise<Page<T & Stored>> {
    checkFind(from, query)
    const table = this.#catalog.tableOf(from)
    const here = this.#database.use(db => findPage(db, table, query, this.#effort))
    if (here) return pageOf(here.documents as readonly (T & Stored)[], here.next)
    const { texts, next } = await this.#thread.run({ kind: 'find', table, find: query })
    return pageOf(
      texts.map(text => parse<T>(text)),
      next,
    )
  }

  async count<T extends object>(from: Collection<T>, query: Count): Promise<number> {
    const table = this.#catalog.tableOf(from)
    if (!Number.isInteger(query.upTo) || query.upTo < 1) throw new RangeError('The limit of a count must be a whole number of at least 1')
    return (
      this.#database.use(db => countFitting(db, table, query, this.#effort)) ??
      (await this.#thread.run({ kind: 'count', table, count: query }))
    )
  }

  async *scan<T extends object>(from: Collection<T>, query: Omit<Find, 'limit' | 'after'>): AsyncGenerator<T & Stored> {
    if (query.sort) {
      yield* this.#sorted(from, query)
      return
    }
    const table = this.#catalog.tableOf(from)
    const { using, where } = query
    indexesOf(from, using)
    const scan = where === undefined ? { using } : { using, where }
    let place: ScanPlace | undefined = { stream: 0, after: undefined }
    while (place !== undefined) {
      const start: ScanPlace = place
      const part: { readonly texts: readonly string[]; readonly next?: ScanPlace } =
        this.#database.use(db => scanPart(db, table, scan, start, this.#effort)) ??
        (await this.#thread.run({ kind: 'scan', table, scan, from: start }))
      for (const text of part.texts) yield parse<T>(text)
      place = part.next
      await nextTurn()
    }
  }

  async *walk<T extends object>(from: Collection<T>, after = ''): AsyncGenerator<T & Stored> {
    const { table } = this.#catalog.tableOf(from)
    const sql = `SELECT id, doc FROM ${table} WHERE id > ? ORDER BY id LIMIT ${scanned}`
    for (let last: string | undefined = after; last !== undefined; ) {
      const from: string = last
      const rows = this.#database.use(db => db.all(sql, from))
      for (const [, text] of rows) yield parse<T>(text as string)
      last = rows.length < scanned ? undefined : (rows.at(-1)?.[0] as string)
      await nextTurn()
    }
  }

  async *#sorted<T extends object>(from: Collection<T>, query: Omit<Find, 'limit' | 'after'>): AsyncGenerator<T & Stored> {
    let page = await this.find(from, { ...query, limit: scanned })
    yield* page.items
    while (page.next) {
      await nextTurn()
      page = await this.find(from, { ...query, limit: scanned, after: page.next })
      yield* page.items
    }
  }
}

const pageOf = <T>(items: readonly T[], next: Page<T>['next']): Page<T> => (next ? { items, next } : { items })
