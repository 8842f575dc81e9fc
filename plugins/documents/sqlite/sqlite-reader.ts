import { setImmediate as nextTurn } from 'node:timers/promises'
import type { After, Collection, Find, Page, Stored } from 'pounce/sdk'
import { Mutex } from 'pounce/sdk/kit'
import type { Connection, Row } from 'pounce/sdk/sqlite'
import { checkFind, checkSeek, deepFreeze, indexesOf, matcher } from 'pounce/sdk/store-kit'
import { MergedCursor } from './cursor.ts'
import type { Database } from './database.ts'
import { costOf, plansOf, type QueryPlan } from './planner.ts'
import type { ReaderThread } from './reader-thread.ts'
import { type ScanPlace, scannedCharacters, scanPart } from './scanning.ts'
import type { SqliteCatalog } from './sqlite-catalog.ts'
import { countRows, documentText, type RowPosition, rowAt, rowsOf, smallText, textAt } from './stream.ts'
import { type CollectionTable, decode, encode } from './table.ts'

/** Documents and their texts, in order. */
interface Found {
  readonly documents: readonly Stored[]
  readonly texts: readonly string[]
  readonly next?: After
}

/** Maximum effort of a walk, see `effortOf`. */
const maxWalked = 1000

/** Rows that a scan reads before its cost is assessed. */
const stride = 32

/** Reading a document costs as much as the heads of this many streams. */
const headsPerRow = 2.5

/** True when continuing along the order would cost more than merging this many streams. */
const isSparse = (examined: number, hits: number, wanted: number, streams: number): boolean =>
  examined % stride === 0 && examined * (wanted - hits) * headsPerRow > hits * streams

/** Initial batch size for each stream: of very many streams little is needed beyond the heads. */
const headOf = ({ streams, isOrdered }: QueryPlan, limit: number): number => {
  if (!isOrdered) return 10_000
  return streams.length === 1 ? limit + 1 : streams.length > 24 ? 1 : 8
}

/** `insteadOf`: how many streams would otherwise have to be merged; the walk is abandoned when that costs less. */
const readPage = (
  db: Connection,
  table: CollectionTable,
  plan: QueryPlan,
  query: Find,
  maxCost: number,
  insteadOf = 0,
): Found | undefined => {
  const fits = matcher(query.where)
  const first = headOf(plan, query.limit)
  const hasText = plan.streams.length === 1 && plan.isOrdered
  const isDescending = query.sort?.order === 'descending'
  const reading = { db, table, isDescending, documents: hasText, first, maxSize: Math.max(first, 256) }
  const merged = new MergedCursor(plan.streams, reading, placeOf(query.after))
  const documents: Stored[] = []
  const texts: string[] = []
  let left = maxCost
  let characters = query.maxCharacters ?? Number.POSITIVE_INFINITY
  let maxScanned = insteadOf > 0 ? Number.POSITIVE_INFINITY : (query.maxScanned ?? Number.POSITIVE_INFINITY)
  for (let examined = 1; left > 0; examined++) {
    const row = merged.next()
    if (row === undefined) return { documents, texts }
    const text = hasText ? documentText(db, table, row) : textAt(db, table, row.at(-1) as number)
    if (text === undefined) continue
    const document = JSON.parse(text) as Stored
    if (fits(document)) {
      documents.push(document)
      characters -= text.length
      if (texts.push(text) === query.limit || characters <= 0)
        return merged.isEnd ? { documents, texts } : { documents, texts, next: afterOf(row, query) }
    } else {
      left -= costOf(text)
      if (--maxScanned <= 0) return merged.isEnd ? { documents, texts } : { documents, texts, next: afterOf(row, query) }
    }
    if (insteadOf > 0 && isSparse(examined, texts.length, query.limit, insteadOf)) return undefined
  }
  return undefined
}

const placeOf = (after: After | undefined): RowPosition | undefined =>
  after && [...after.slice(0, -1).map(value => encode(value)), after.at(-1) as string]

const afterOf = (row: Row, { sort }: Pick<Find, 'sort'>): After => (sort ? [decode(row[0]), row[1] as string] : [row[0] as string])

/** True when streams that must be sorted first are short enough for that. */
const areShort = (db: Connection, table: CollectionTable, { streams }: QueryPlan, maxCost: number): boolean => {
  let left = maxCost
  for (const stream of streams) {
    left -= countRows(db, table, stream, left + 1)
    if (left < 0) return false
  }
  return true
}

/** A page of documents; undefined when finding it takes more than this effort, see `effortOf`. */
export const findPage = (db: Connection, table: CollectionTable, query: Find, maxCost: number): Found | undefined => {
  const { walk, main } = plansOf(table, query.using, query.where, { sort: query.sort, isOrderFree: false })
  const streams = main.streams.length
  // Where results must be sorted first, a longer scan of unknown length is worthwhile.
  const instead = main.isOrdered ? streams : query.limit * 10
  const walked = walk && readPage(db, table, walk, query, Math.max(query.limit * 4, Math.min(streams, maxWalked)), instead)
  if (walked) return walked
  if (streams > maxCost) return undefined
  if (!main.isOrdered && Number.isFinite(maxCost) && !areShort(db, table, main, maxCost)) return undefined
  return readPage(db, table, main, query, maxCost)
}

/** Arguments of `seek`. */
export type Seek = Pick<Find, 'using' | 'where' | 'sort'> & { readonly position: number }

/** Index entries are counted this many times faster than documents are read. */
const entriesPerRow = 10

/** The position of a match; null when there are fewer, undefined when finding it takes more than this effort, see `effortOf`. */
export const seekPlace = (db: Connection, table: CollectionTable, query: Seek, maxCost: number): After | null | undefined => {
  const { using, where, sort, position } = query
  const { main } = plansOf(table, using, where, { sort, isOrderFree: false })
  if (!main.isExact || !main.isOrdered) throw new Error(`No index of ${table.collection} answers this query alone and in order`)
  if (position > maxCost * entriesPerRow || main.streams.length > maxCost) return undefined
  const isDescending = sort?.order === 'descending'
  const [only] = main.streams
  let row: Row | undefined
  if (main.streams.length === 1 && only && !only.shape.repeats) row = rowAt(db, table, only, { position, isDescending })
  else {
    const merged = new MergedCursor(main.streams, { db, table, isDescending, documents: false, first: 64, maxSize: 4096 }, undefined)
    for (let left = position; left > 0; left--) {
      row = merged.next()
      if (row === undefined) break
    }
  }
  return row ? afterOf(row, query) : null
}

/** Arguments of `count`. */
export type Count = Pick<Find, 'using' | 'where'> & { readonly upTo: number }

/** Number of matching documents, up to `upTo`; undefined when counting them takes more than this effort, see `effortOf`. */
export const countFitting = (
  db: Connection,
  table: CollectionTable,
  { using, where, upTo }: Count,
  maxCost: number,
): number | undefined => {
  const { main } = plansOf(table, using, where, { sort: undefined, isOrderFree: true })
  const [only] = main.streams
  if (main.isExact && main.streams.length === 1 && only && !only.shape.repeats) {
    return upTo > maxCost * entriesPerRow ? undefined : countRows(db, table, only, upTo)
  }
  const fits = matcher(where)
  const seen = new Set<number>()
  const mayRepeat = main.streams.length > 1 || only?.shape.repeats === true
  let count = 0
  let left = maxCost
  for (const stream of main.streams) {
    let after: RowPosition | undefined
    do {
      const limit = 200
      const rows = rowsOf(db, table, stream, { after, isDescending: false, limit, documents: true })
      for (const row of rows) {
        const id = row.at(-2) as number
        if (seen.has(id)) continue
        if (mayRepeat) seen.add(id)
        if (left <= 0) return undefined
        const text = documentText(db, table, row)
        if (text === undefined) continue
        left -= costOf(text)
        if (fits(JSON.parse(text)) && ++count === upTo) return count
      }
      after = rows.length < limit ? undefined : (rows.at(-1)?.slice(0, -2) as RowPosition)
    } while (after !== undefined)
  }
  return count
}

/** Batch size of a scan, in documents. */
const scanned = 200

/** A part of a scan that is not the last one has fewer documents than this if they are large. */
const fewDocuments = 50

/** Characters of documents cached in each of two generations. */
const maxKept = 1_000_000
/** Longer documents are not cached. */
const maxKeptText = 8_000

/** The text of a document until the next read; after that the parsed document, frozen and shared by all readers. */
interface Recent {
  kept: string | Stored
  readonly characters: number
}

type Generation = Map<string, Map<string, Recent>>

/**
 * Recently read documents, by table and ID. This process is the only writer of the file, and drops a document in the
 * transaction that changes it. An old-generation entry that is not read is dropped when the young generation is full.
 */
export class RecentDocuments {
  #young: Generation = new Map()
  #old: Generation = new Map()
  #characters = 0

  get(table: string, id: string): Stored | undefined {
    let found = this.#young.get(table)?.get(id)
    if (!found) {
      found = this.#old.get(table)?.get(id)
      if (!found) return undefined
      this.#add(table, id, found)
    }
    if (typeof found.kept !== 'string') return found.kept
    const document = deepFreeze(parse(found.kept))
    found.kept = document
    return document
  }

  keep(table: string, id: string, text: string): void {
    if (text.length <= maxKeptText) this.#add(table, id, { kept: text, characters: text.length })
  }

  /**
   * Caches the result of a durable change, undefined for a deleted document: the next request or an event consumer mostly reads it at once.
   * Not for collections whose documents are never read by ID, such as logs.
   */
  written(table: string, id: string, text: string | undefined): void {
    // An earlier change of the same transaction may have added an entry.
    this.forget(table, id)
    if (text !== undefined && (this.#young.has(table) || this.#old.has(table))) this.keep(table, id, text)
  }

  forget(table: string, id: string): void {
    this.#young.get(table)?.delete(id)
    this.#old.get(table)?.delete(id)
  }

  #add(table: string, id: string, document: Recent): void {
    const known = this.#young.get(table)
    if (known) known.set(id, document)
    else this.#young.set(table, new Map([[id, document]]))
    this.#characters += document.characters
    if (this.#characters < maxKept) return
    this.#old = this.#young
    this.#young = new Map()
    this.#characters = 0
  }
}

const parse = <T>(text: string): T & Stored => JSON.parse(text) as T & Stored

/** Runs short reads here; those that turn out to be long are passed to the reader thread. */
export class SqliteReader {
  #database: Database
  #catalog: SqliteCatalog
  #thread: ReaderThread
  #recent: RecentDocuments
  #maxCost: number
  readonly #turns = new Mutex()

  constructor(database: Database, catalog: SqliteCatalog, thread: ReaderThread, recent: RecentDocuments, maxCost: number) {
    this.#recent = recent
    this.#database = database
    this.#catalog = catalog
    this.#thread = thread
    this.#maxCost = maxCost
  }

  get<T extends object>(from: Collection<T>, id: string): (T & Stored) | undefined {
    const { table } = this.#catalog.tableOf(from)
    const known = this.#recent.get(table, id)
    if (known !== undefined) return known as T & Stored
    const row = this.#database.use(db => db.get(`SELECT doc FROM ${table} WHERE id = ?`, id))
    if (!row) return undefined
    const text = row[0] as string
    this.#recent.keep(table, id, text)
    return parse<T>(text)
  }

  getMany<T extends object>(from: Collection<T>, ids: readonly string[]): ReadonlyMap<string, T & Stored> {
    if (ids.length > 1000) throw new RangeError('At most 1,000 documents per request')
    const [only] = ids
    if (only !== undefined && ids.length === 1) {
      const found = this.get(from, only)
      return new Map(found ? [[only, found]] : [])
    }
    const { table } = this.#catalog.tableOf(from)
    const found = new Map(ids.map(id => [id, this.#recent.get(table, id) as (T & Stored) | undefined]))
    const unknown = [...found].flatMap(([id, document]) => (document ? [] : [id]))
    if (unknown.length > 0) {
      const sql = `SELECT d.id, d.doc FROM json_each(?) j CROSS JOIN ${table} d ON d.id = j.value`
      for (const [id, text] of this.#database.use(db => db.all(sql, JSON.stringify(unknown))) as readonly [string, string][]) {
        this.#recent.keep(table, id, text)
        found.set(id, parse<T>(text))
      }
    }
    return new Map([...found].flatMap(([id, document]) => (document ? [[id, document] as const] : [])))
  }

  async find<T extends object>(from: Collection<T>, query: Find): Promise<Page<T & Stored>> {
    checkFind(from, query)
    const table = this.#catalog.tableOf(from)
    const here = this.#database.use(db => findPage(db, table, query, this.#maxCost))
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
      this.#database.use(db => countFitting(db, table, query, this.#maxCost)) ??
      (await this.#thread.run({ kind: 'count', table, count: query }))
    )
  }

  async seek<T extends object>(from: Collection<T>, query: Seek): Promise<After | undefined> {
    checkSeek(from, query)
    const table = this.#catalog.tableOf(from)
    const here = this.#database.use(db => seekPlace(db, table, query, this.#maxCost))
    return (here === undefined ? await this.#thread.run({ kind: 'seek', table, seek: query }) : here) ?? undefined
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
        this.#database.use(db => scanPart(db, table, scan, start, this.#maxCost)) ??
        (await this.#thread.run({ kind: 'scan', table, scan, from: start }))
      for (const text of part.texts) yield parse<T>(text)
      place = part.next
      await this.#pause(place !== undefined && part.texts.length < fewDocuments)
    }
  }

  async *walk<T extends object>(from: Collection<T>, after = ''): AsyncGenerator<T & Stored> {
    const table = this.#catalog.tableOf(from)
    const sql = `SELECT id, r, ${smallText('doc')} FROM ${table.table} WHERE id > ? ORDER BY id LIMIT ${scanned}`
    for (let last: string | undefined = after; last !== undefined; ) {
      const from: string = last
      const rows = this.#database.use(db => db.all(sql, from))
      for (const row of rows) {
        const text = this.#database.use(db => documentText(db, table, row))
        if (text !== undefined) yield parse<T>(text)
      }
      last = rows.length < scanned ? undefined : (rows.at(-1)?.[0] as string)
      await nextTurn()
    }
  }

  /** Between the parts of a scan. Of several scans with large documents one continues per turn of the event loop. */
  #pause(isLarge: boolean): Promise<void> {
    return isLarge ? this.#turns.use(() => nextTurn()) : nextTurn()
  }

  async *#sorted<T extends object>(from: Collection<T>, query: Omit<Find, 'limit' | 'after'>): AsyncGenerator<T & Stored> {
    const whole = { ...query, limit: scanned, maxCharacters: scannedCharacters }
    let page = await this.find(from, whole)
    yield* page.items
    while (page.next) {
      await this.#pause(page.items.length < fewDocuments)
      page = await this.find(from, { ...whole, after: page.next })
      yield* page.items
    }
  }
}

const pageOf = <T>(items: readonly T[], next: Page<T>['next']): Page<T> => (next ? { items, next } : { items })
