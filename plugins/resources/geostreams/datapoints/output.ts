import { Readable } from 'node:stream'
import { type Bytes, youngGarbage } from 'pounce/sdk'
import type { CsvTable } from './csv-table.ts'
import { DatapointPrinter } from './datapoint-json.ts'
import type { Piece } from './readings.ts'

/** Shorter pieces wait for the next one. */
const worthSending = 16 * 1024

/** Words around and between datapoints. */
const frames = {
  json: ['[', ',', ']'],
  geojson: ['{ "type": "FeatureCollection", "features": [', ',', '] }'],
} as const

/** Such buffers lie outside of the heap, so V8 would let many pile up. */
const bufferOf = (text: string): Buffer => {
  const buffer = Buffer.from(text)
  youngGarbage.passed(buffer.length)
  return buffer
}

async function* jsonText(pieces: AsyncIterable<Piece>, format: keyof typeof frames, names: ReadonlySet<string> | undefined) {
  const [begin, between, end] = frames[format]
  const printer = new DatapointPrinter(names)
  let text: string = begin
  let isFirst = true
  for await (const { points, owners } of pieces) {
    for (const point of points) {
      const owner = owners.get(point.stream)
      if (!owner) continue
      text += (isFirst ? '' : between) + printer.print(point, owner)
      isFirst = false
    }
    if (text.length < worthSending) continue
    yield bufferOf(text)
    text = ''
  }
  yield bufferOf(text + end)
}

async function* csvLines(pieces: AsyncIterable<Piece>, table: CsvTable) {
  let text = table.head
  for await (const { points, owners } of pieces) {
    text += table.lines(points, owners)
    if (text.length < worthSending) continue
    yield bufferOf(text)
    text = ''
  }
  if (text !== '') yield bufferOf(text)
}

const streamed = (text: AsyncIterable<Buffer>): Readable => Readable.from(text, { objectMode: true, highWaterMark: 2 })

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
  open: () => Readable.from([Buffer.from(JSON.stringify(value))]),
})
