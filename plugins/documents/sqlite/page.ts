import { type After, type Find, matcher, type Stored } from 'pounce/sdk'
import type { Connection, Row } from 'pounce/sdk/sqlite'
import { MergedCursor } from './cursor.ts'
import { effortOf } from './effort.ts'
import { decode, encode } from './keys.ts'
import { type Plan, plansOf } from './planner.ts'
import { countRows, documentText, type Place, textAt } from './stream.ts'
import type { Table } from './table.ts'

/** Documents and their texts, in order. */
export interface Found {
  readonly documents: readonly Stored[]
  readonly texts: readonly string[]
  readonly next?: After
}

/** The most effort that a walk is worth, see `effortOf`. */
const mostWalked = 1000

/** How many rows a walk looks at before asking whether it pays. */
const stride = 32

/** A document that is looked at costs as much as the heads of so many streams. */
const headsPerRow = 2.5

/** True when going on along the order would cost more than merging so many streams. */
const isSparse = (examined: number, hits: number, wanted: number, streams: number): boolean =>
  examined % stride === 0 && examined * (wanted - hits) * headsPerRow > hits * streams

/** How many rows of each stream are read at first: of very many streams few are needed beyond their head. */
const headOf = ({ streams, isOrdered }: Plan, limit: number): number => {
  if (!isOrdered) return 10_000
  return streams.length === 1 ? limit + 1 : streams.length > 24 ? 1 : 8
}

/** `insteadOf`: how many streams would have to be merged otherwise; what is found is given up when those cost less. */
const readPage = (db: Connection, table: Table, plan: Plan, query: Find, effort: number, insteadOf = 0): Found | undefined => {
  const fits = matcher(query.where)
  const first = headOf(plan, query.limit)
  const hasText = plan.streams.length === 1 && plan.isOrdered
  const isDescending = query.sort?.order === 'descending'
  const reading = { db, table, isDescending, documents: hasText, first, most: Math.max(first, 256) }
  const merged = new MergedCursor(plan.streams, reading, placeOf(query.after))
  const documents: Stored[] = []
  const texts: string[] = []
  let left = effort
  let characters = query.maxCharacters ?? Number.POSITIVE_INFINITY
  let patience = insteadOf > 0 ? Number.POSITIVE_INFINITY : (query.patience ?? Number.POSITIVE_INFINITY)
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
      left -= effortOf(text)
      if (--patience <= 0) return merged.isEnd ? { documents, texts } : { documents, texts, next: afterOf(row, query) }
    }
    if (insteadOf > 0 && isSparse(examined, texts.length, query.limit, insteadOf)) return undefined
  }
  return undefined
}

const placeOf = (after: After | undefined): Place | undefined =>
  after && [...after.slice(0, -1).map(value => encode(value)), after.at(-1) as string]

const afterOf = (row: Row, { sort }: Find): After => (sort ? [decode(row[0]), row[1] as string] : [row[0] as string])

/** True when streams that must be sorted first are short enough for that. */
const areShort = (db: Connection, table: Table, { streams }: Plan, effort: number): boolean => {
  let left = effort
  for (const stream of streams) {
    left -= countRows(db, table, stream, left + 1)
    if (left < 0) return false
  }
  return true
}

/** A page of documents; undefined when finding it takes more than this effort, see `effortOf`. */
export const findPage = (db: Connection, table: Table, query: Find, effort: number): Found | undefined => {
  const { walk, main } = plansOf(table, query.using, query.where, { sort: query.sort, isOrderFree: false })
  const streams = main.streams.length
  // What has to be sorted first is worth a longer walk, how long nobody knows.
  const instead = main.isOrdered ? streams : query.limit * 10
  const walked = walk && readPage(db, table, walk, query, Math.max(query.limit * 4, Math.min(streams, mostWalked)), instead)
  if (walked) return walked
  if (streams > effort) return undefined
  if (!main.isOrdered && Number.isFinite(effort) && !areShort(db, table, main, effort)) return undefined
  return readPage(db, table, main, query, effort)
}
