import { type Bytes, s } from 'pounce/sdk'
import { streamed } from 'pounce/sdk/kit'

/** The format of aggregates. */
export type BinFormat = 'json' | 'geojson' | 'csv'
export const formatParameter = { format: s.Optional(s.Unsafe<BinFormat>({ type: 'string', enum: ['json', 'geojson', 'csv'] })) }
export const mediaTypes = { json: 'application/json', geojson: 'application/geo+json' } as const

/** Number of characters sent together. */
const pieceLength = 32 * 1024

/** Joins small texts into chunks. */
export async function* inPieces(texts: AsyncIterable<string>): AsyncGenerator<string, void, undefined> {
  let piece = ''
  for await (const text of texts) {
    piece += text
    if (piece.length < pieceLength) continue
    yield piece
    piece = ''
  }
  if (piece !== '') yield piece
}

/** A JSON list of texts. */
export async function* listOf(rows: AsyncIterable<string>): AsyncGenerator<string, void, undefined> {
  let before = '['
  for await (const row of rows) {
    yield `${before}${row}`
    before = ','
  }
  yield before === '[' ? '[]' : ']'
}

/** A GeoJSON collection of texts. */
export async function* collectionOf(features: AsyncIterable<string>): AsyncGenerator<string, void, undefined> {
  yield '{ "type": "FeatureCollection", "features": '
  yield* listOf(features)
  yield ' }'
}

/** A CSV file generated while it is sent. With a promise, errors before the first line still become an error response. */
export const csvAnswer = (texts: AsyncIterable<string> | (() => Promise<AsyncIterable<string>>), filename: string): Bytes => ({
  open: async () => streamed(inPieces(typeof texts === 'function' ? await texts() : texts)),
  contentType: 'text/csv; charset=utf-8',
  filename,
})

/** JSON generated while it is sent. */
export const jsonAnswer = (texts: AsyncIterable<string>, contentType: string): Bytes => ({
  open: () => streamed(inPieces(texts)),
  contentType,
  inline: true,
})
