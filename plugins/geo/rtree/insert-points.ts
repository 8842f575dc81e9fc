import type { GeoBox } from 'pounce/sdk/geo'
import type { Connection } from 'pounce/sdk/sqlite'
import { cells, cellsEach, type PackedPoints } from './packed-points.ts'
import { type Placed, PlaceIds } from './place-ids.ts'
import { valueColumns } from './schema.ts'
import { type Kept, ShapeIds } from './shape-ids.ts'
import type { StreamChanges } from './stream-changes.ts'

const dayMs = 86_400_000
const marks = Array.from({ length: 7 + valueColumns + 2 }, () => '?').join(', ')
const noValues: readonly null[] = Array.from({ length: valueColumns }, () => null)

/** What the one connection that writes remembers of places and shapes. */
export interface Books {
  readonly places: PlaceIds
  readonly shapes: ShapeIds
}

export const openBooks = (db: Connection, placesPerStream: number): Books => ({
  places: new PlaceIds(db, placesPerStream),
  shapes: new ShapeIds(db),
})

/** Inserts points in the open transaction. The answer has 1 for each that is new, 0 for one whose id was there. */
export const insertPoints = (db: Connection, books: Books, packed: PackedPoints, changes: StreamChanges): Uint8Array => {
  const { count, numbers, values, geometries, shapes } = packed
  const kept: (Kept | undefined)[] = []
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
    kept[shapeAt] ??= books.shapes.keep(shape)
    const { shape: shapeId, isBare, rest } = kept[shapeAt] as Kept
    const besides = isBare ? textOf(shape.names, own, rest) : rest
    const text = geometries[number(cells.geometry)] as string
    const placed = books.places.place(stream, text)
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
      besides,
      geometry,
    )
    note(db, changes, { id, stream, start, span, placed })
    changes.properties(stream, shapeId, besides, 1)
  }
  return isNew
}

/** All properties of a point as JSON text, for one whose numbers have no columns. */
const textOf = (names: readonly string[], values: Float64Array, rest: string | null): string | null => {
  const numbers = names.map((name, at) => `${JSON.stringify(name)}:${JSON.stringify(values[at])}`)
  if (numbers.length === 0) return rest
  return `{${numbers.join(',')}${rest === null ? '' : `,${rest.slice(1, -1)}`}}`
}

interface New {
  readonly id: number
  readonly stream: number
  readonly start: number
  readonly span: number | null
  readonly placed: Placed
}

const note = (db: Connection, changes: StreamChanges, { id, stream, start, span, placed }: New): void => {
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
