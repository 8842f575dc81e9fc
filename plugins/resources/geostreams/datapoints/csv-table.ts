import { csvText, type Datapoint, type Geometry, type Json } from 'pounce/sdk'
import type { Settings } from '../config.ts'
import { type Branch, branchOf, type Column, type PropertyColumns, restOf, valueAt } from './csv-columns.ts'
import { printTime } from './print-time.ts'
import type { Owner } from './stream-sensors.ts'
import type { TextPieces } from './text-pieces.ts'

type CsvSettings = Pick<Settings, 'csvSeparator' | 'csvHidePrefix' | 'csvIgnore'>

/** A text that a spreadsheet reads as a number is no formula. */
const plainNumber = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/
/** Texts that need no second look. */
const harmless = /^[\w ][^"]*$/

const textCell = (text: string): string => (harmless.test(text) || plainNumber.test(text) ? `"${text}"` : csvText(text))

/** A value as a cell: a JSON literal, with quotes as CSV has them; nothing when there is none. */
export const csvCell = (value: Json | undefined): string => {
  if (typeof value === 'number') return String(value)
  if (value === undefined) return ''
  if (typeof value === 'string') return textCell(value)
  return typeof value === 'object' && value !== null ? csvText(JSON.stringify(value)) : String(value)
}

type Cell = (properties: Datapoint['properties']) => Json | undefined

const cellOf = (root: Branch, { path, isRest }: Column): Cell => {
  const [name] = path
  const branch = branchOf(root, path)
  if (isRest) return properties => restOf(valueAt(properties, path), branch)
  // What every object inherits is asked for the longer way.
  if (path.length > 1 || name === undefined || name in {}) return properties => valueAt(properties, path)
  return properties => properties[name]
}

/** Columns of what is no property, by the names they have in the JSON of a datapoint. */
interface Fixed {
  readonly path: string
  readonly header: string
  readonly print: (point: Datapoint, owner: Owner) => string
}

/** A number of a geometry's first position as a cell: 0 is the longitude. */
export const coordinateOf = (geometry: Geometry, at: number): string => {
  let found: unknown = geometry
  while (typeof found === 'object' && found !== null && !Array.isArray(found)) {
    const { coordinates, geometries } = found as { readonly coordinates?: unknown; readonly geometries?: readonly unknown[] }
    found = geometries ? geometries[0] : coordinates
  }
  while (Array.isArray(found) && Array.isArray(found[0])) found = found[0]
  const number = Array.isArray(found) ? found[at] : undefined
  return typeof number === 'number' ? String(number) : ''
}

const fixed = {
  id: { path: 'id', header: 'id', print: ({ id }) => String(id) },
  created: { path: 'created', header: 'created', print: ({ createdMs }) => `"${printTime(createdMs)}"` },
  start: { path: 'start_time', header: 'start_time', print: ({ startMs }) => `"${printTime(startMs)}"` },
  end: { path: 'end_time', header: 'end_time', print: ({ endMs }) => (endMs === null ? 'null' : `"${printTime(endMs)}"`) },
} as const satisfies Record<string, Fixed>
const before: readonly Fixed[] = Object.values(fixed)
/** These are the same for all datapoints of a stream that stays where it is. */
const after: readonly Fixed[] = [
  { path: 'type', header: 'type', print: () => '"Feature"' },
  { path: 'geometry|type', header: 'geometry|type', print: ({ geometry }) => `"${geometry.type}"` },
  { path: 'geometry|coordinates', header: 'longitude', print: ({ geometry }) => coordinateOf(geometry, 0) },
  { path: 'geometry|coordinates', header: 'latitude', print: ({ geometry }) => coordinateOf(geometry, 1) },
  { path: 'geometry|coordinates', header: 'altitude', print: ({ geometry }) => coordinateOf(geometry, 2) },
  { path: 'stream_id', header: 'stream_id', print: ({ stream }) => `"${stream}"` },
  { path: 'sensor_id', header: 'sensor_id', print: (_, { sensor }) => `"${sensor}"` },
  { path: 'sensor_name', header: 'sensor_name', print: (_, { sensorName }) => textCell(sensorName) },
]

/** The end of a line, and what it was made of. */
interface Tail {
  readonly geometry: object
  readonly owner: Owner
  readonly bytes: Uint8Array
}
const mostTails = 20_000

/** A table of datapoints as CSV (RFC 4180). */
export class CsvTable {
  /** The first line, with its end. */
  readonly head: string
  readonly #before: readonly Fixed[]
  readonly #after: readonly Fixed[]
  readonly #cells: readonly Cell[]
  readonly #tails = new Map<number, Tail>()

  constructor(columns: PropertyColumns, { csvSeparator, csvHidePrefix, csvIgnore }: CsvSettings) {
    const ignored = new Set(csvIgnore)
    const named = ({ path }: Fixed): boolean => !ignored.has(path.replaceAll('|', csvSeparator))
    const joined = ({ path }: Column): string => ['properties', ...path].join(csvSeparator)
    const shown = columns.all().filter(column => !ignored.has(joined(column)))
    this.#before = before.filter(named)
    this.#after = after.filter(named)
    this.#cells = shown.map(column => cellOf(columns.root, column))
    const others = [...this.#before, ...this.#after].map(({ header }) => header)
    const headers = csvHidePrefix ? shortHeaders(shown, csvSeparator, others) : shown.map(joined)
    const all = [...this.#before.map(({ header }) => header), ...headers, ...this.#after.map(({ header }) => header)]
    this.head = `${all.map(csvText).join(',')}\r\n`
  }

  /** Adds lines with their ends, of those whose streams have owners. Made for millions of lines. */
  write(to: TextPieces, points: readonly Datapoint[], owners: ReadonlyMap<number, Owner | undefined>): void {
    const isPlain = this.#before.length === before.length
    for (const point of points) {
      const owner = owners.get(point.stream)
      if (!owner) continue
      if (isPlain) writeBegin(to, point)
      else for (const { print } of this.#before) to.add(`${print(point, owner)},`)
      const { properties } = point
      for (const cell of this.#cells) {
        const value = cell(properties)
        if (typeof value === 'number') to.addNumber(value)
        else if (value !== undefined) to.add(csvCell(value))
        to.add(',')
      }
      to.addBytes(this.#tail(point, owner))
    }
  }

  #tail(point: Datapoint, owner: Owner): Uint8Array {
    const known = this.#tails.get(point.stream)
    if (known && known.geometry === point.geometry && known.owner === owner) return known.bytes
    const bytes = Buffer.from(`${this.#after.map(({ print }) => print(point, owner)).join(',')}\r\n`)
    if (this.#tails.size >= mostTails) this.#tails.clear()
    this.#tails.set(point.stream, { geometry: point.geometry, owner, bytes })
    return bytes
  }
}

/** The cells of `before` in one go. */
const writeBegin = (to: TextPieces, { id, createdMs, startMs, endMs }: Datapoint): void => {
  to.addNumber(id)
  to.add(',"')
  to.addTime(createdMs)
  to.add('","')
  to.addTime(startMs)
  if (endMs === null) {
    to.add('",null,')
    return
  }
  to.add('","')
  to.addTime(endMs)
  to.add('",')
}

/** Without what leads to it, unless another column has that name as well. */
export const shortHeaders = (columns: readonly Column[], separator: string, fixed: readonly string[]): readonly string[] => {
  const counts = new Map(fixed.map(header => [header, 1]))
  for (const { path } of columns) counts.set(path.at(-1) ?? '', (counts.get(path.at(-1) ?? '') ?? 0) + 1)
  return columns.map(({ path }) => {
    const last = path.at(-1) ?? ''
    if (counts.get(last) === 1) return last
    const whole = path.join(separator)
    return fixed.includes(whole) ? ['properties', ...path].join(separator) : whole
  })
}
