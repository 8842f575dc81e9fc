import { cells, cellsEach, type PackedPoints, type PointShape } from './packed-points.ts'
import type { PlaceCache, ShapeCache } from './place-cache.ts'
import { at, type PointRow, type Sink, textLengthOf } from './scans.ts'
import { valueColumns } from './schema.ts'

/** Maximum characters of texts per piece, except for its last row. */
const maxLength = 4_000_000

/** Initial capacity: most pages are short. */
const fewRows = 64

/** Packs rows of points for their reader, piece by piece. */
export class PieceBuilder implements Sink {
  readonly #shapes: ShapeCache
  readonly #places: PlaceCache
  readonly #size: number
  /** Indexes of places and shapes in the series. */
  readonly #placeAt = new Map<number, number>()
  readonly #shapeAt = new Map<number, number>()
  #numbers: Float64Array
  #values: Float64Array
  #count = 0
  #valueCount = 0
  #geometries: string[] = []
  #newShapes: PointShape[] = []
  #own: string[] = []
  #length = 0

  constructor(shapes: ShapeCache, places: PlaceCache, size: number) {
    this.#shapes = shapes
    this.#places = places
    this.#size = size
    const rows = Math.min(size, fewRows)
    this.#numbers = new Float64Array(rows * cellsEach)
    this.#values = new Float64Array(rows * valueColumns)
  }

  get room(): number {
    return this.#length > maxLength ? 0 : this.#size - this.#count
  }

  add(row: PointRow): void {
    this.#length += textLengthOf(row)
    const geometry = this.#geometryAt(row)
    if (geometry === undefined) return
    const start = row[at.start] as number
    const span = row[at.span] as number | null
    const shape = row[at.shape] as number
    const rest = row[at.rest] as string | null
    const base = this.#count * cellsEach
    if (base === this.#numbers.length) this.#grow()
    const numbers = this.#numbers
    numbers[base + cells.id] = row[at.id] as number
    numbers[base + cells.stream] = row[at.stream] as number
    numbers[base + cells.start] = start
    numbers[base + cells.end] = span === null ? Number.NaN : start + span
    numbers[base + cells.created] = row[at.created] as number
    numbers[base + cells.geometry] = geometry
    numbers[base + cells.shape] = this.#shapeIndex(shape)
    numbers[base + cells.rest] = rest === null ? -1 : this.#own.push(rest) - 1
    const names = this.#shapes.get(shape).names.length
    for (let column = 0; column < names; column += 1) this.#values[this.#valueCount++] = row[at.values + column] as number
    this.#count += 1
  }

  #grow(): void {
    const rows = Math.min(this.#size, 4 * this.#count)
    const [numbers, values] = [new Float64Array(rows * cellsEach), new Float64Array(rows * valueColumns)]
    numbers.set(this.#numbers)
    values.set(this.#values)
    this.#numbers = numbers
    this.#values = values
  }

  /** Undefined for a place that was deleted together with its points. */
  #geometryAt(row: PointRow): number | undefined {
    const own = row[at.geometry] as string | null
    if (own !== null) return -this.#own.push(own)
    const place = row[at.place] as number
    const known = this.#placeAt.get(place)
    if (known !== undefined) return known
    const text = this.#places.geometry(place)?.text
    if (text === undefined) return undefined
    const number = this.#placeAt.size
    this.#placeAt.set(place, number)
    this.#geometries.push(text)
    this.#length += text.length
    return number
  }

  #shapeIndex(shape: number): number {
    const known = this.#shapeAt.get(shape)
    if (known !== undefined) return known
    const number = this.#shapeAt.size
    this.#shapeAt.set(shape, number)
    const { names, rest } = this.#shapes.get(shape)
    this.#newShapes.push({ names, rest })
    return number
  }

  get count(): number {
    return this.#count
  }

  /** What was added since the last piece. */
  take(): PackedPoints {
    const piece = {
      count: this.#count,
      numbers: this.#numbers.slice(0, this.#count * cellsEach),
      values: this.#values.slice(0, this.#valueCount),
      geometries: this.#geometries,
      shapes: this.#newShapes,
      own: this.#own,
    }
    this.#count = 0
    this.#valueCount = 0
    this.#geometries = []
    this.#newShapes = []
    this.#own = []
    this.#length = 0
    return piece
  }
}
