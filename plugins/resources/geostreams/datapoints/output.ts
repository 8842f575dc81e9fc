import { type Bytes, streamed } from 'pounce/sdk'
import type { CsvTable } from './csv-table.ts'
import { DatapointPrinter } from './datapoint-json.ts'
import type { Piece } from './readings.ts'
import { TextPieces } from './text-pieces.ts'

/** Words around and between datapoints. */
const frames = {
  json: ['[', ',', ']'],
  geojson: ['{ "type": "FeatureCollection", "features": [', ',', '] }'],
} as const

async function* jsonText(pieces: AsyncIterable<Piece>, format: keyof typeof frames, names: ReadonlySet<string> | undefined) {
  const [begin, between, end] = frames[format]
  const printer = new DatapointPrinter(names)
  const text = new TextPieces()
  text.add(begin)
  let isFirst = true
  for await (const { points, owners } of pieces) {
    for (const point of points) {
      const owner = owners.get(point.stream)
      if (!owner) continue
      text.add((isFirst ? '' : between) + printer.print(point, owner))
      isFirst = false
    }
    yield* text.take()
  }
  text.add(end)
  yield* text.take(true)
}

async function* csvLines(pieces: AsyncIterable<Piece>, table: CsvTable) {
  const text = new TextPieces()
  text.add(table.head)
  for await (const { points, owners } of pieces) {
    table.write(text, points, owners)
    yield* text.take()
  }
  yield* text.take(true)
}

/** Datapoints as an array, or as a FeatureCollection, made while it is sent. */
export const jsonBytes = (pieces: AsyncIterable<Piece>, format: 'json' | 'geojson', names: ReadonlySet<string> | undefined): Bytes => ({
  contentType: format === 'json' ? 'application/json' : 'application/geo+json',
  inline: true,
  open: () => streamed(jsonText(pieces, format, names)),
})

/** Datapoints as a table to save, made while it is sent. */
export const csvBytes = (pieces: AsyncIterable<Piece>, table: () => Promise<CsvTable>): Bytes => ({
  contentType: 'text/csv; charset=utf-8',
  filename: 'datapoints.csv',
  open: async () => streamed(csvLines(pieces, await table())),
})

/** A short answer that is there already. */
export const wholeBytes = (value: unknown): Bytes => ({
  contentType: 'application/json',
  inline: true,
  open: () => streamed([Buffer.from(JSON.stringify(value))]),
})
