import { type Caller, GeoStore, Invalid, type Json, Streams, wire } from 'pounce/sdk'
import { type Datapoint, type Geometry, geoNumberOf } from 'pounce/sdk/geo'
import { compareText, isJsonObject, quotedCsv } from 'pounce/sdk/kit'
import type { Settings } from '../config.ts'
import { eachPage } from '../listing.ts'
import { printTime } from './point-json.ts'
import type { Answered, DatapointQuery } from './readings.ts'
import type { StreamOwner } from './stream-sensors.ts'
import type { TextPieces } from './text-pieces.ts'

type Properties = Datapoint['properties']

/** A property name, and what was found under it. */
interface Branch {
  /** A value that is not an object occurred here, or unread datapoints may have one. */
  isLeaf: boolean
  readonly inner: Map<string, Branch>
}

/** A column of properties: the path of names. */
interface Column {
  readonly path: readonly string[]
  /** There are columns for nested properties too, so this one contains only the rest. */
  readonly isRest: boolean
}

const newBranch = (): Branch => ({ isLeaf: false, inner: new Map() })

const branchAt = ({ inner }: Branch, name: string): Branch => {
  let branch = inner.get(name)
  if (!branch) {
    branch = newBranch()
    inner.set(name, branch)
  }
  return branch
}

/** Determines the columns that the properties of datapoints need. */
export class PropertyColumns {
  readonly root = newBranch()

  /** Number of top-level names. */
  get count(): number {
    return this.root.inner.size
  }

  /** Adds the shown properties of a datapoint. */
  see(properties: Properties, names?: ReadonlySet<string>): void {
    this.#see(this.root, properties, names)
  }

  #see(branch: Branch, value: Properties, names?: ReadonlySet<string>): void {
    for (const name of Object.keys(value)) {
      if (names && !names.has(name)) continue
      const inner = branchAt(branch, name)
      const below = value[name]
      if (isJsonObject(below) && Object.keys(below).length > 0) this.#see(inner, below)
      else inner.isLeaf = true
    }
  }

  /** Adds a property of datapoints that have not been read. */
  expect(name: string): void {
    branchAt(this.root, name).isLeaf = true
  }

  /** By name, parents before nested columns. */
  all(): readonly Column[] {
    return columnsOf(this.root, [])
  }
}

const columnsOf = (branch: Branch, path: readonly string[]): readonly Column[] => [
  ...(branch.isLeaf ? [{ path, isRest: branch.inner.size > 0 }] : []),
  ...[...branch.inner.keys()].sort(compareText).flatMap(name => columnsOf(branch.inner.get(name) ?? newBranch(), [...path, name])),
]

/** The part of a value without a column below its branch; undefined when nothing is left. */
const restOf = (value: Json | undefined, branch: Branch): Json | undefined => {
  if (!isJsonObject(value)) return value
  const names = Object.keys(value)
  if (names.length === 0) return value
  const rest: Record<string, Json> = {}
  for (const name of names) {
    const inner = branch.inner.get(name)
    const left = inner ? restBelow(value[name], inner) : value[name]
    if (left !== undefined) rest[name] = left
  }
  return Object.keys(rest).length > 0 ? rest : undefined
}

/** Nothing, if the branch has a column of its own for the rest. */
const restBelow = (value: Json | undefined, branch: Branch): Json | undefined => (branch.isLeaf ? undefined : restOf(value, branch))

/** The value at a path through objects. */
const valueAt = (properties: Properties, path: readonly string[]): Json | undefined => {
  let value: Json | undefined = properties
  for (const name of path) {
    if (!isJsonObject(value) || !Object.hasOwn(value, name)) return undefined
    value = value[name]
  }
  return value
}

/** The branch at a path, which exists. */
const branchOf = (root: Branch, path: readonly string[]): Branch => path.reduce(branchAt, root)

export type CsvSettings = Pick<Settings, 'csvSeparator' | 'csvHidePrefix' | 'csvIgnore'>

/** Full names of properties that the settings omit, without their prefix. */
export const omittedProperties = ({ csvSeparator, csvIgnore }: CsvSettings): ReadonlySet<string> => {
  const prefix = `properties${csvSeparator}`
  return new Set(csvIgnore.filter(name => name.startsWith(prefix)).map(name => name.slice(prefix.length)))
}

/** Columns of members that are not properties, by their `path` in JSON, without those that the settings omit. */
export const membersShown = <M extends { readonly path: string }>(
  members: readonly M[],
  { csvSeparator, csvIgnore }: CsvSettings,
): readonly M[] => members.filter(({ path }) => !csvIgnore.includes(path.replaceAll('|', csvSeparator)))

/** Columns of properties without those that the settings omit, and their headers, which differ from each other and from the `others`. */
export const propertiesShown = (
  columns: PropertyColumns,
  settings: CsvSettings,
  others: readonly string[],
): { readonly shown: readonly Column[]; readonly headers: readonly string[] } => {
  const { csvSeparator, csvHidePrefix } = settings
  const omitted = omittedProperties(settings)
  const shown = columns.all().filter(({ path }) => !omitted.has(path.join(csvSeparator)))
  const headers = csvHidePrefix
    ? shortHeaders(shown, csvSeparator, others)
    : shown.map(({ path }) => ['properties', ...path].join(csvSeparator))
  return { shown, headers: distinct(headers, others) }
}

/** A text that a spreadsheet reads as a number is not a formula. */
const plainNumber = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/

/** Texts that need no escaping. */
const harmless = /^[\w ][^"]*$/

const textCell = (text: string): string => (harmless.test(text) || plainNumber.test(text) ? `"${text}"` : quotedCsv(text))

/** A value as a CSV cell: a JSON literal, quoted; empty when there is none. */
export const csvCell = (value: Json | undefined): string => {
  if (typeof value === 'number') return String(value)
  if (value === undefined) return ''
  if (typeof value === 'string') return textCell(value)
  return typeof value === 'object' && value !== null ? quotedCsv(JSON.stringify(value)) : String(value)
}

type Cell = (properties: Datapoint['properties']) => Json | undefined

export const cellOf = (root: Branch, { path, isRest }: Column): Cell => {
  const [name] = path
  const branch = branchOf(root, path)
  if (isRest) return properties => restOf(valueAt(properties, path), branch)
  // Inherited names need the slower lookup.
  if (path.length > 1 || name === undefined || name in {}) return properties => valueAt(properties, path)
  return properties => properties[name]
}

/** Columns for members that are not properties, by their names in the JSON of a datapoint. */
interface Fixed {
  readonly path: string
  readonly header: string
  readonly print: (point: Datapoint, owner: StreamOwner) => string
}

/** A coordinate of a geometry's first position as a cell: 0 is the longitude. */
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

/** These are equal for all datapoints of a stationary stream. */
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

/** The end of a line, and the values it was generated from. */
interface Tail {
  readonly geometry: object
  readonly owner: StreamOwner
  readonly bytes: Uint8Array
}

const maxTails = 20_000

/** A table of datapoints as CSV (RFC 4180). */
export class CsvTable {
  /** The header line, with its line break. */
  readonly head: string
  readonly #before: readonly Fixed[]
  readonly #after: readonly Fixed[]
  readonly #cells: readonly Cell[]
  readonly #tails = new Map<number, Tail>()

  constructor(columns: PropertyColumns, settings: CsvSettings) {
    this.#before = membersShown(before, settings)
    this.#after = membersShown(after, settings)
    const others = [...this.#before, ...this.#after].map(({ header }) => header)
    const { shown, headers } = propertiesShown(columns, settings, others)
    this.#cells = shown.map(column => cellOf(columns.root, column))
    const all = [...this.#before.map(({ header }) => header), ...headers, ...this.#after.map(({ header }) => header)]
    this.head = `${all.map(quotedCsv).join(',')}\r\n`
  }

  /** Adds lines with their line breaks, for datapoints whose streams have owners. Optimized for millions of lines. */
  write(to: TextPieces, points: readonly Datapoint[], owners: ReadonlyMap<number, StreamOwner | undefined>): void {
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

  #tail(point: Datapoint, owner: StreamOwner): Uint8Array {
    const known = this.#tails.get(point.stream)
    if (known && known.geometry === point.geometry && known.owner === owner) return known.bytes
    const bytes = Buffer.from(`${this.#after.map(({ print }) => print(point, owner)).join(',')}\r\n`)
    if (this.#tails.size >= maxTails) this.#tails.clear()
    this.#tails.set(point.stream, { geometry: point.geometry, owner, bytes })
    return bytes
  }
}

/** The cells of `before` in one step. */
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

/** Without the leading names, unless another column has the same name. */
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

/** A name that contains the separator can equal that of a nested property. */
const distinct = (headers: readonly string[], fixed: readonly string[]): readonly string[] => {
  const usedNames = new Set(fixed)
  return headers.map(header => {
    let name = header
    for (let count = 2; usedNames.has(name); count += 1) name = `${header} (${count})`
    usedNames.add(name)
    return name
  })
}

const batchSize = 1000

const maxColumns = 5000

/** Determines the columns of a table before its datapoints are read. */
export class CsvHeaders {
  #geo: GeoStore
  #streams: Streams

  constructor(geo: GeoStore, streams: Streams) {
    this.#geo = geo
    this.#streams = streams
  }

  /**
   * A table short enough to be read in advance has the columns that occur in it. For a longer one the store supplies the property names of
   * its streams, and nested columns are those of the first datapoints; other nested values stay together in the column of their property.
   */
  async columnsOf(
    caller: Caller,
    { filter }: DatapointQuery,
    { first, isWhole }: Answered,
    names: ReadonlySet<string> | undefined,
  ): Promise<PropertyColumns> {
    const columns = new PropertyColumns()
    for (const { properties } of first) columns.see(properties, names)
    if (!isWhole) await this.#expect(columns, this.#numbers(caller, filter.streams), names)
    return columns
  }

  async #expect(
    columns: PropertyColumns,
    numbers: AsyncIterable<readonly number[]>,
    names: ReadonlySet<string> | undefined,
  ): Promise<void> {
    for await (const some of numbers)
      for (const { properties } of (await this.#geo.statistics(some)).values())
        for (const name of properties) {
          if (!names || names.has(name)) columns.expect(name)
          if (columns.count > maxColumns) throw new Invalid(`More than ${maxColumns} columns: filter by streams or attributes`)
        }
  }

  async *#numbers(caller: Caller, chosen: readonly number[] | undefined): AsyncGenerator<readonly number[]> {
    if (chosen) {
      for (let at = 0; at < chosen.length; at += batchSize) yield chosen.slice(at, at + batchSize)
      return
    }
    for await (const streams of eachPage(page => this.#streams.list(caller, {}, page), batchSize)) {
      yield streams.map(({ id }) => geoNumberOf(id))
    }
  }
}
wire(CsvHeaders, GeoStore, Streams)
