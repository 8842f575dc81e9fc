import { hash } from 'node:crypto'
import type { Geometry } from 'pounce/sdk/geo'
import { boxAround, type GeoBox, positionsOf } from 'pounce/sdk/geo'
import type { Connection } from 'pounce/sdk/sqlite'
import { cells, cellsEach, type PackedPoints, type PointShape } from './packed-points.ts'
import { valueColumns } from './schema.ts'
import type { StreamChanges } from './stream-changes.ts'

/** Maximum number of streams whose places are cached. */
const maxStreams = 20_000

/** A place of a stream, or the box of a geometry stored with its point only. */
type PointPlace = { readonly place: number } | { readonly place: undefined; readonly box: GeoBox }

const keyOf = (geometry: string): string => (geometry.length <= 64 ? geometry : hash('sha256', geometry, 'base64'))

/** IDs of places, for the writing connection. Discard it when a transaction is rolled back. */
class PlaceIds {
  readonly #db: Connection
  readonly #maxPlaces: number
  readonly #streams = new Map<number, Map<string, number>>()

  /** Points of a stream beyond `maxPlaces` store their own geometries. */
  constructor(db: Connection, maxPlaces: number) {
    this.#db = db
    this.#maxPlaces = maxPlaces
  }

  place(stream: number, text: string): PointPlace {
    const known = this.#of(stream)
    const key = keyOf(text)
    const place = known.get(key)
    if (place !== undefined) return { place }
    const geometry = JSON.parse(text) as Geometry
    const box = boxAround(positionsOf(geometry))
    if (known.size >= this.#maxPlaces) return { place: undefined, box }
    const id = this.#db.insert(
      'INSERT INTO places (stream, key, geometry, is_point, west, south, east, north) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
      ...[stream, key, text, Number(geometry.type === 'Point'), ...box],
    )
    known.set(key, id)
    return { place: id }
  }

  forget(stream: number): void {
    this.#streams.delete(stream)
  }

  #of(stream: number): Map<string, number> {
    let known = this.#streams.get(stream)
    if (known === undefined) {
      if (this.#streams.size >= maxStreams) this.#streams.clear()
      const rows = this.#db.all('SELECT key, id FROM places WHERE stream = ?', stream)
      known = new Map(rows.map(([key, id]) => [String(key), Number(id)]))
      this.#streams.set(stream, known)
    }
    return known
  }
}

/** The shape of points without numbers in columns. */
const bareShape = 1

/** More are not stored; the properties are then stored with each point. */
const maxShapes = 10_000

/** For the same names: a text that differs from point to point is not a shape. */
const maxOfNames = 256

const maxRestLength = 1000

/** How a point is stored: its shape, and its own properties. */
interface StoredShape {
  readonly shape: number
  readonly isBare: boolean
  readonly rest: string | null
}

/** IDs of shapes, for the writing connection. Discard it when a transaction is rolled back. */
class ShapeIds {
  readonly #db: Connection
  readonly #known = new Map<string, number>()
  readonly #perNames = new Map<string, number>()

  constructor(db: Connection) {
    this.#db = db
    for (const [id, names, rest] of db.all('SELECT id, names, rest FROM shapes')) this.#note(String(names), String(rest), Number(id))
  }

  /** A shape that the point shares with others if there is room for it. */
  keep({ names, rest }: PointShape): StoredShape {
    const text = JSON.stringify(names)
    const whole = this.#idOf(text, rest)
    if (whole !== undefined) return { shape: whole, isBare: false, rest: null }
    const ofNames = this.#idOf(text, '')
    if (ofNames !== undefined) return { shape: ofNames, isBare: false, rest }
    return { shape: bareShape, isBare: true, rest: rest === '' ? null : rest }
  }

  #idOf(names: string, rest: string): number | undefined {
    const known = this.#known.get(`${names} ${rest}`)
    if (known !== undefined) return known
    if (this.#known.size >= maxShapes || rest.length > maxRestLength) return undefined
    if (rest !== '' && (this.#perNames.get(names) ?? 0) >= maxOfNames) return undefined
    const id = this.#db.insert('INSERT INTO shapes (names, rest) VALUES (?, ?)', names, rest)
    this.#note(names, rest, id)
    return id
  }

  #note(names: string, rest: string, id: number): void {
    this.#known.set(`${names} ${rest}`, id)
    this.#perNames.set(names, (this.#perNames.get(names) ?? 0) + 1)
  }
}

const dayMs = 86_400_000

const marks = Array.from({ length: 7 + valueColumns + 2 }, () => '?').join(', ')

const noValues: readonly null[] = Array.from({ length: valueColumns }, () => null)

/** Places and shapes cached by the writing connection. */
export interface WriteCaches {
  readonly places: PlaceIds
  readonly shapes: ShapeIds
}

export const openWriteCaches = (db: Connection, placesPerStream: number): WriteCaches => ({
  places: new PlaceIds(db, placesPerStream),
  shapes: new ShapeIds(db),
})

/** Inserts points in the open transaction. The result has 1 for each new point, 0 for one whose ID existed. */
export const insertPoints = (db: Connection, caches: WriteCaches, packed: PackedPoints, changes: StreamChanges): Uint8Array => {
  const { count, numbers, values, geometries, shapes } = packed
  const stored: (StoredShape | undefined)[] = []
  const isNew = new Uint8Array(count)
  let at = 0
  for (let point = 0, cell = 0; point < count; point += 1, cell += cellsEach) {
    const number = (of: number): number => numbers[cell + of] as number
    const shapeAt = number(cells.shape)
    const shape = shapes[shapeAt] as PackedPoints['shapes'][number]
    const own = values.subarray(at, at + shape.names.length)
    at += own.length
    const [id, stream, start, end] = [number(cells.id), number(cells.stream), number(cells.start), number(cells.end)]
    isNew[point] = db.run('INSERT OR IGNORE INTO ids VALUES (?, ?, ?)', id, stream, start)
    if (isNew[point] === 0) continue
    stored[shapeAt] ??= caches.shapes.keep(shape)
    const { shape: shapeId, isBare, rest } = stored[shapeAt] as StoredShape
    const ownProperties = isBare ? textOf(shape.names, own, rest) : rest
    const text = geometries[number(cells.geometry)] as string
    const placed = caches.places.place(stream, text)
    const span = Number.isNaN(end) ? null : end - start
    const columns = isBare || own.length === 0 ? noValues : [...own, ...noValues.slice(own.length)]
    const [place, geometry] = placed.place === undefined ? [null, text] : [placed.place, null]
    db.run(
      `INSERT INTO points VALUES (${marks})`,
      stream,
      start,
      id,
      span,
      number(cells.created),
      place,
      shapeId,
      ...columns,
      ownProperties,
      geometry,
    )
    note(db, changes, { id, stream, start, span, placed })
    changes.properties(stream, shapeId, ownProperties, 1)
  }
  return isNew
}

/** All properties of a point as JSON text, for one whose numbers have no columns. */
const textOf = (names: readonly string[], values: Float64Array, rest: string | null): string | null => {
  const numbers = names.map((name, at) => `${JSON.stringify(name)}:${JSON.stringify(values[at])}`)
  if (numbers.length === 0) return rest
  return `{${numbers.join(',')}${rest === null ? '' : `,${rest.slice(1, -1)}`}}`
}

interface NewPoint {
  readonly id: number
  readonly stream: number
  readonly start: number
  readonly span: number | null
  readonly placed: PointPlace
}

const note = (db: Connection, changes: StreamChanges, { id, stream, start, span, placed }: NewPoint): void => {
  if (placed.place !== undefined) {
    changes.came(stream, start, span, undefined)
    changes.place(stream, placed.place, 1)
    return
  }
  const [west, south, east, north]: GeoBox = placed.box
  changes.came(stream, start, span, placed.box)
  const days = [start / dayMs, (start + (span ?? 0)) / dayMs]
  db.run('INSERT INTO moving VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)', id, west, east, south, north, ...days, stream, start)
}
