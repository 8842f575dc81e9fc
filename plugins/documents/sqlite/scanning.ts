import { compareScalars, type Find, type Key, keysOf, matcher, namesOf } from 'pounce/sdk'
import type { Connection, Row } from './connection.ts'
import type { Bounds } from './constraints.ts'
import { effortOf } from './effort.ts'
import { decode } from './keys.ts'
import { plansOf } from './planner.ts'
import { type Place, rowsOf, type Stream } from './stream.ts'
import type { Table } from './table.ts'

/** Where a scan in the order of its index stands. */
export interface ScanPlace {
  readonly stream: number
  readonly after: Place | undefined
}

/** Part of a scan; without `next` it was the last. */
export interface ScanPart {
  readonly texts: readonly string[]
  readonly next?: ScanPlace
}

/** Entries read at a time. */
const piece = 100

const compareKeys = (a: Key, b: Key): number => {
  for (const [at, value] of a.entries()) {
    const difference = compareScalars(value, b[at] ?? null)
    if (difference !== 0) return difference
  }
  return 0
}

const isWithin = (key: Key, at: number, { lower, upper }: Bounds): boolean => {
  const value = key[at] ?? null
  const aboveLower = compareScalars(value, decode(lower.value))
  const belowUpper =
    upper.value instanceof Uint8Array && upper.value.length === 0
      ? typeof value === 'boolean'
        ? 1
        : -1
      : compareScalars(value, decode(upper.value))
  return (aboveLower > 0 || (aboveLower === 0 && lower.isIncluded)) && (belowUpper < 0 || (belowUpper === 0 && upper.isIncluded))
}

const holds = (stream: Stream, key: Key): boolean =>
  stream.fixed.every((value, at) => compareScalars(decode(value), key[at] ?? null) === 0) &&
  (stream.bounds === undefined || isWithin(key, stream.fixed.length, stream.bounds))

/** Of the entries that a document has in the streams the first one stands for it, so that it comes once. */
const isFirst = (streams: readonly Stream[], stream: Stream, row: Row, document: unknown): boolean => {
  if (stream.index?.index.array === undefined) return true
  const entry: Key = [...stream.fixed.map(decode), ...row.slice(0, stream.order.length).map(decode)]
  const others = keysOf(stream.index.index, document).filter(key => streams.some(candidate => holds(candidate, key)))
  return others.every(key => compareKeys(entry, key) <= 0)
}

interface Piece {
  readonly texts: readonly string[]
  readonly effort: number
  readonly after: Place | undefined
}

const readPiece = (
  db: Connection,
  table: Table,
  query: Pick<Find, 'where'>,
  streams: readonly Stream[],
  { stream: number, after }: ScanPlace,
): Piece => {
  const stream = streams[number] as Stream
  const fits = matcher(query.where)
  const rows = rowsOf(db, table, stream, { after, isDescending: false, limit: piece, documents: true })
  const texts: string[] = []
  let effort = 0
  for (const row of rows) {
    const text = row.at(-1) as string
    const document: unknown = JSON.parse(text)
    if (fits(document) && isFirst(streams, stream, row, document)) texts.push(text)
    else effort += effortOf(text)
  }
  return { texts, effort, after: rows.length < piece ? undefined : (rows.at(-1)?.slice(0, -2) as Place) }
}

/** The next documents in the order of the first index; undefined when finding any takes more than this effort. */
export const scanPart = (
  db: Connection,
  table: Table,
  query: Pick<Find, 'using' | 'where'>,
  from: ScanPlace,
  effort: number,
): ScanPart | undefined => {
  const first = namesOf(query.using)[0] as string
  const { streams } = plansOf(table, first, query.where, { sort: undefined, isOrderFree: true }).main
  const texts: string[] = []
  let place = from
  let left = effort
  while (place.stream < streams.length) {
    const read = readPiece(db, table, query, streams, place)
    texts.push(...read.texts)
    left -= read.effort
    place = read.after ? { stream: place.stream, after: read.after } : { stream: place.stream + 1, after: undefined }
    if (place.stream === streams.length) break
    if (texts.length >= piece) return { texts, next: place }
    if (left <= 0) return texts.length > 0 ? { texts, next: place } : undefined
  }
  return { texts }
}
