import type { Find } from 'pounce/sdk'
import type { Connection, Row, SqlValue } from 'pounce/sdk/sqlite'
import { keysOf, matcher } from 'pounce/sdk/store-kit'
import type { KeyRange } from './constraints.ts'
import { costOf, streamsInOrder } from './planner.ts'
import { documentText, type IndexStream, type RowPosition, rowsOf } from './stream.ts'
import { type CollectionTable, compareColumns, encode } from './table.ts'

/** The position of a scan in the order of its index. */
export interface ScanPlace {
  readonly stream: number
  readonly after: RowPosition | undefined
}

/** Part of a scan; without `next`, the last one. */
export interface ScanPart {
  readonly texts: readonly string[]
  readonly next?: ScanPlace
}

/** Entries read at a time. */
const piece = 100
/** Characters of documents after which a part of a scan ends: a document may have 10 MiB. */
export const scannedCharacters = 1024 * 1024

const compareKeys = (a: readonly unknown[], b: readonly unknown[]): number => {
  for (const [at, value] of a.entries()) {
    const difference = compareColumns(value, b[at])
    if (difference !== 0) return difference
  }
  return 0
}

const isWithin = (value: SqlValue, { lower, upper }: KeyRange): boolean => {
  const aboveLower = compareColumns(value, lower.value)
  const aboveUpper = compareColumns(value, upper.value)
  return (aboveLower > 0 || (aboveLower === 0 && lower.isIncluded)) && (aboveUpper < 0 || (aboveUpper === 0 && upper.isIncluded))
}

const holds = ({ shape, fixed }: IndexStream, key: readonly SqlValue[]): boolean =>
  fixed.every((value, at) => compareColumns(value, key[at]) === 0) &&
  (shape.bounds === undefined || isWithin(key[shape.fixed] as SqlValue, shape.bounds))

/** Of a document's entries in the streams only the first is used, so that each document is returned once. */
const isFirst = (streams: readonly IndexStream[], { shape, fixed }: IndexStream, row: Row, document: unknown): boolean => {
  if (shape.index?.index.array === undefined) return true
  const entry = [...fixed, ...row.slice(0, shape.order.length)]
  return keysOf(shape.index.index, document)
    .map(key => key.map(encode))
    .filter(key => streams.some(stream => holds(stream, key)))
    .every(key => compareKeys(entry, key) <= 0)
}

interface StreamSlice {
  readonly texts: readonly string[]
  readonly characters: number
  readonly maxCost: number
  readonly after: RowPosition | undefined
}

const readPiece = (
  db: Connection,
  table: CollectionTable,
  query: Pick<Find, 'where'>,
  streams: readonly IndexStream[],
  { stream: number, after }: ScanPlace,
  maxCharacters: number,
): StreamSlice => {
  const stream = streams[number] as IndexStream
  const fits = matcher(query.where)
  const rows = rowsOf(db, table, stream, { after, isDescending: false, limit: piece, documents: true })
  const texts: string[] = []
  let [characters, maxCost] = [0, 0]
  for (const row of rows) {
    const text = documentText(db, table, row)
    if (text === undefined) continue
    const document: unknown = JSON.parse(text)
    if (fits(document) && isFirst(streams, stream, row, document)) {
      texts.push(text)
      characters += text.length
    } else maxCost += costOf(text)
    if (characters >= maxCharacters) return { texts, characters, maxCost, after: placeOf(row) }
  }
  return { texts, characters, maxCost, after: rows.length < piece ? undefined : placeOf(rows.at(-1) as Row) }
}

const placeOf = (row: Row): RowPosition => row.slice(0, -2) as RowPosition

/** The next documents in the order of the first index; undefined when finding them takes more than this effort. */
export const scanPart = (
  db: Connection,
  table: CollectionTable,
  query: Pick<Find, 'using' | 'where'>,
  from: ScanPlace,
  maxCost: number,
): ScanPart | undefined => {
  const streams = streamsInOrder(table, query.using, query.where)
  const texts: string[] = []
  let place = from
  let left = maxCost
  let characters = scannedCharacters
  while (place.stream < streams.length) {
    const read = readPiece(db, table, query, streams, place, characters)
    texts.push(...read.texts)
    characters -= read.characters
    left -= read.maxCost
    place = read.after ? { stream: place.stream, after: read.after } : { stream: place.stream + 1, after: undefined }
    if (place.stream === streams.length) break
    if (texts.length >= piece || characters <= 0) return { texts, next: place }
    if (left <= 0) return texts.length > 0 ? { texts, next: place } : undefined
  }
  return { texts }
}
