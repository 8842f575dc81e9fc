import { type After, type Find, matcher, type Stored } from 'pounce/sdk'
import type { Connection, Row } from './connection.ts'
import { Merged } from './cursor.ts'
import { decode, encode } from './keys.ts'
import { type Plan, plansOf } from './planner.ts'
import { countRows, type Place } from './stream.ts'
import type { Table } from './table.ts'

/** How much may be read before a query is given up here and handed to a reader thread. */
export interface Budget {
  readonly rows: number
  readonly ms: number
}

export const unbounded: Budget = { rows: Number.POSITIVE_INFINITY, ms: Number.POSITIVE_INFINITY }

/** Documents and their texts, in order. */
export interface Found {
  readonly documents: readonly Stored[]
  readonly texts: readonly string[]
  readonly next?: After
}

/** Text of a row's document, which may have gone since the row was read. */
const textOf = (db: Connection, table: Table, row: Row, hasText: boolean): string | undefined => {
  if (hasText) return row.at(-1) as string
  return db.get(`SELECT doc FROM ${table.table} WHERE r = ?`, row.at(-1) as number)?.[0] as string | undefined
}

/** How many rows a walk looks at before asking whether it pays. */
const stride = 32

/** True when a walk would read more than four rows for each document of the page. */
const isSparse = (examined: number, hits: number): boolean => examined % stride === 0 && hits * 4 < examined

const readPage = (db: Connection, table: Table, plan: Plan, query: Find, budget: Budget, isWalk: boolean): Found | undefined => {
  const { streams } = plan
  const isSingle = streams.length === 1
  const fits = matcher(query.where)
  const first = plan.isOrdered ? (isSingle ? query.limit + 1 : streams.length > 24 ? 1 : 8) : 10_000
  const reading = {
    db,
    table,
    isDescending: query.sort?.order === 'descending',
    documents: isSingle && plan.isOrdered,
    first,
    most: Math.max(first, 256),
  }
  const merged = new Merged(streams, reading, placeOf(query.after))
  const documents: Stored[] = []
  const texts: string[] = []
  const start = performance.now()
  for (let examined = 0; ; examined++) {
    if (examined >= budget.rows || (isWalk && examined > 0 && isSparse(examined, texts.length))) return undefined
    if (examined % stride === stride - 1 && performance.now() - start > budget.ms) return undefined
    const row = merged.next()
    if (row === undefined) return { documents, texts }
    const text = textOf(db, table, row, reading.documents)
    if (text === undefined) continue
    const document = JSON.parse(text) as Stored
    if (!fits(document)) continue
    documents.push(document)
    if (texts.push(text) === query.limit) return merged.isEnd ? { documents, texts } : { documents, texts, next: afterOf(row, query) }
  }
}

const placeOf = (after: After | undefined): Place | undefined =>
  after && [...after.slice(0, -1).map(value => encode(value)), after.at(-1) as string]

const afterOf = (row: Row, { sort }: Find): After => (sort ? [decode(row[0]), row[1] as string] : [row[0] as string])

/** True when streams that must be sorted first are short enough for that. */
const areShort = (db: Connection, table: Table, { streams }: Plan, { rows }: Budget): boolean => {
  let left = rows
  for (const stream of streams) {
    left -= countRows(db, table, stream, left + 1)
    if (left < 0) return false
  }
  return true
}

/** A page of documents; undefined when finding it takes more than the budget allows. */
export const findPage = (db: Connection, table: Table, query: Find, budget: Budget): Found | undefined => {
  const { walk, main } = plansOf(table, query.using, query.where, { sort: query.sort, isOrderFree: false })
  const walked = walk && readPage(db, table, walk, query, { rows: query.limit * 4, ms: budget.ms }, true)
  if (walked) return walked
  if (!main.isOrdered && budget.rows < Number.POSITIVE_INFINITY && !areShort(db, table, main, budget)) return undefined
  return readPage(db, table, main, query, budget, false)
}
