import { csvText, type Datapoint, type Json } from 'pounce/sdk'
import type { Settings } from '../config.ts'
import { type Branch, branchOf, type Column, type PropertyColumns, restOf, valueAt } from './csv-columns.ts'
import type { Owner } from './owners.ts'
import { printTime } from './print-time.ts'

type CsvSettings = Pick<Settings, 'csvSeparator' | 'csvHidePrefix' | 'csvIgnore'>

/** A text that a spreadsheet reads as a number is no formula. */
const plainNumber = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/
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

type Cell = (properties: Datapoint['properties']) => string

const cellOf = (root: Branch, { path, isRest }: Column): Cell => {
  const [name] = path
  const branch = branchOf(root, path)
  if (isRest) return properties => csvCell(restOf(valueAt(properties, path), branch))
  if (path.length > 1 || name === undefined) return properties => csvCell(valueAt(properties, path))
  return properties => csvCell(Object.hasOwn(properties, name) ? properties[name] : undefined)
}

/** Columns of what is no property, by the names they have in the JSON of a datapoint. */
interface Fixed {
  readonly path: string
  readonly header: string
  readonly print: (point: Datapoint, owner: Owner) => string
}

const place = ({ geometry }: Datapoint, at: number): string => {
  let found: unknown = geometry
  while (typeof found === 'object' && found !== null && !Array.isArray(found)) {
    const { coordinates, geometries } = found as { readonly coordinates?: unknown; readonly geometries?: readonly unknown[] }
    found = geometries ? geometries[0] : coordinates
  }
  while (Array.isArray(found) && Array.isArray(found[0])) found = found[0]
  const number = Array.isArray(found) ? found[at] : undefined
  return typeof number === 'number' ? String(number) : ''
}

const before: readonly Fixed[] = [
  { path: 'id', header: 'id', print: ({ id }) => String(id) },
  { path: 'created', header: 'created', print: ({ createdMs }) => `"${printTime(createdMs)}"` },
  { path: 'start_time', header: 'start_time', print: ({ startMs }) => `"${printTime(startMs)}"` },
  { path: 'end_time', header: 'end_time', print: ({ endMs }) => (endMs === null ? 'null' : `"${printTime(endMs)}"`) },
]
const after: readonly Fixed[] = [
  { path: 'type', header: 'type', print: () => '"Feature"' },
  { path: 'geometry|type', header: 'geometry|type', print: ({ geometry }) => `"${geometry.type}"` },
  { path: 'geometry|coordinates', header: 'longitude', print: point => place(point, 0) },
  { path: 'geometry|coordinates', header: 'latitude', print: point => place(point, 1) },
  { path: 'geometry|coordinates', header: 'altitude', print: point => place(point, 2) },
  { path: 'stream_id', header: 'stream_id', print: ({ stream }) => `"${stream}"` },
  { path: 'sensor_id', header: 'sensor_id', print: (_, { sensor }) => `"${sensor}"` },
  { path: 'sensor_name', header: 'sensor_name', print: (_, { sensorName }) => textCell(sensorName) },
]

/** A table of datapoints as CSV (RFC 4180). */
export class CsvTable {
  /** The first line, with its end. */
  readonly head: string
  readonly #before: readonly Fixed[]
  readonly #after: readonly Fixed[]
  readonly #cells: readonly Cell[]

  constructor(columns: PropertyColumns, { csvSeparator, csvHidePrefix, csvIgnore }: CsvSettings) {
    const ignored = new Set(csvIgnore)
    const named = ({ path }: Fixed): boolean => !ignored.has(path.replaceAll('|', csvSeparator))
    const joined = ({ path }: Column): string => ['properties', ...path].join(csvSeparator)
    const shown = columns.all().filter(column => !ignored.has(joined(column)))
    this.#before = before.filter(named)
    this.#after = after.filter(named)
    this.#cells = shown.map(column => cellOf(columns.root, column))
    const fixed = [...this.#before, ...this.#after].map(({ header }) => header)
    const headers = csvHidePrefix ? shortHeaders(shown, csvSeparator, fixed) : shown.map(joined)
    const all = [...this.#before.map(({ header }) => header), ...headers, ...this.#after.map(({ header }) => header)]
    this.head = `${all.map(csvText).join(',')}\r\n`
  }

  /** A line with its end. */
  line(point: Datapoint, owner: Owner): string {
    let line = ''
    for (const { print } of this.#before) line += `${print(point, owner)},`
    const { properties } = point
    for (const cell of this.#cells) line += `${cell(properties)},`
    for (const { print } of this.#after) line += `${print(point, owner)},`
    return `${line.slice(0, -1)}\r\n`
  }
}

/** Without what leads to it, unless another column has that name as well. */
const shortHeaders = (columns: readonly Column[], separator: string, fixed: readonly string[]): readonly string[] => {
  const counts = new Map(fixed.map(header => [header, 1]))
  for (const { path } of columns) counts.set(path.at(-1) ?? '', (counts.get(path.at(-1) ?? '') ?? 0) + 1)
  return columns.map(({ path }) => {
    const last = path.at(-1) ?? ''
    if (counts.get(last) === 1) return last
    const whole = path.join(separator)
    return fixed.includes(whole) ? ['properties', ...path].join(separator) : whole
  })
}
