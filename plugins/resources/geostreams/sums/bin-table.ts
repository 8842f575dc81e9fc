import { csvCell } from '../datapoints/csv-table.ts'
import { type Aggregate, type BinEntry, figuresOf, meanOf } from './bin-entry.ts'
import type { SensorPart } from './selected-sensors.ts'

/** Entries of one property of one sensor. */
export interface BinRows {
  readonly part: SensorPart
  readonly property: string
  readonly entries: readonly BinEntry[]
}

const columns = ['sensor_name', 'sensor_id', 'property', 'label', 'date', 'depth', 'depth_code', 'average', 'count']

/** A table of bins as CSV, a line for each, with the figures that were asked for at its end. */
export async function* binTable(rows: AsyncIterable<BinRows>, wanted: readonly Aggregate[]): AsyncGenerator<string, void, undefined> {
  yield `${[...columns, ...wanted.filter(name => name !== 'count')].map(csvCell).join()}\r\n`
  for await (const { part, property, entries } of rows) yield entries.map(entry => lineOf(part, property, entry, wanted)).join('')
}

const lineOf = (part: SensorPart, property: string, entry: BinEntry, wanted: readonly Aggregate[]): string => {
  const { time, depth, depthCode, array = [], count } = entry
  const isOfNumbers = count > 0
  const { count: _told, ...figures } = isOfNumbers ? figuresOf(entry, wanted) : {}
  const cells = [part.name, String(part.id), property, time.label, new Date(time.dateMs).toISOString(), depth, depthCode]
  const numbers = isOfNumbers ? [meanOf(entry), count, ...Object.values(figures)] : [undefined, array.length]
  return `${[...cells, ...numbers].map(cell => csvCell(cell ?? undefined)).join()}\r\n`
}
