import type { Json } from 'pounce/sdk'
import type { Datapoint, Geometry } from 'pounce/sdk/geo'
import { valueColumns } from './schema.ts'

/** Names of the numeric properties stored in columns, in order, and the JSON text of the object of all others; '' when there are none. */
export interface PointShape {
  readonly names: readonly string[]
  readonly rest: string
}

/** Numbers of each point in `numbers`, in this order. NaN means no end. */
export const cells = { id: 0, stream: 1, start: 2, end: 3, created: 4, geometry: 5, shape: 6, rest: 7 } as const
export const cellsEach = 8

/**
 * Points as transferred between threads: a few arrays and strings instead of many objects. `geometry` and `shape` are indexes into
 * `geometries` and `shapes`; each piece of a series contains those that are new. A `geometry` below 0 is `own[-1 - geometry]`;
 * a `rest` of 0 or more is the text `own[rest]`, which then replaces that of the shape. `values` has the numbers of each point in the order of its shape.
 */
export interface PackedPoints {
  readonly count: number
  readonly numbers: Float64Array
  readonly values: Float64Array
  readonly geometries: readonly string[]
  readonly shapes: readonly PointShape[]
  readonly own: readonly string[]
}

/** What can be transferred instead of copied. */
export const buffersOf = ({ numbers, values }: PackedPoints): ArrayBuffer[] => [numbers.buffer as ArrayBuffer, values.buffer as ArrayBuffer]

/** Longer names have no columns. */
const maxNameLength = 100

/** Packs points that pass `checkDatapoint`; each piece is self-contained. */
export const packPoints = (points: readonly Datapoint[]): PackedPoints => {
  const numbers = new Float64Array(points.length * cellsEach)
  const values: number[] = []
  const geometries = new NumberedValues<string>()
  const shapes = new NumberedValues<PointShape>()
  for (const [at, { id, stream, startMs, endMs, createdMs, geometry, properties }] of points.entries()) {
    const text = JSON.stringify(geometry)
    const shape = shapeOf(properties, values)
    const key = `${shape.names.length}\0${shape.names.join('\0')}\0${shape.rest}`
    const row = [id, stream, startMs, endMs ?? Number.NaN, createdMs, geometries.numberOf(text, text), shapes.numberOf(key, shape), -1]
    numbers.set(row, at * cellsEach)
  }
  return { count: points.length, numbers, values: Float64Array.from(values), geometries: geometries.all, shapes: shapes.all, own: [] }
}

/** Assigns numbers from 0 on to distinct values. */
class NumberedValues<T> {
  readonly all: T[] = []
  readonly #numbers = new Map<string, number>()

  numberOf(key: string, value: T): number {
    let number = this.#numbers.get(key)
    if (number === undefined) {
      number = this.all.push(value) - 1
      this.#numbers.set(key, number)
    }
    return number
  }
}

/** The properties besides numbers in columns, whose values are appended. Only JSON handles the name `__proto__` safely. */
const shapeOf = (properties: Datapoint['properties'], values: number[]): PointShape => {
  const names: string[] = []
  let rest = ''
  for (const name of Object.keys(properties)) {
    const value = properties[name]
    if (typeof value === 'number' && names.length < valueColumns && name.length <= maxNameLength && name !== '__proto__') {
      names.push(name)
      values.push(value)
    } else rest += `${rest === '' ? '{' : ','}${JSON.stringify(name)}:${JSON.stringify(value)}`
  }
  return { names, rest: rest === '' ? '' : `${rest}}` }
}

type Properties = Datapoint['properties']
type Growing = { [key: string]: Json }
const noNames: Properties = {}

/** A shape with its text parsed. */
export interface ReadShape extends PointShape {
  readonly others: Properties
}

export const readShape = ({ names, rest }: PointShape): ReadShape => ({
  names,
  rest,
  others: rest === '' ? noNames : (JSON.parse(rest) as Properties),
})

/**
 * Points are copies of this. With literals, V8 learns that some of them outlive its young generation, and allocates
 * all of them in the old one: reading 444,000 then left 110 MB there. This also takes a tenth less time.
 */
const blank: Datapoint = {
  ...{ id: 0, stream: 0, startMs: 0, endMs: null, createdMs: 0 },
  ...{ geometry: { type: 'Point', coordinates: [] }, properties: noNames },
}

/** Reads a series of pieces. Points share common parts, which must not be modified. */
export class Unpacker {
  readonly #geometries: Geometry[] = []
  readonly #shapes: ReadShape[] = []

  unpack({ count, numbers, values, geometries, shapes, own }: PackedPoints): readonly Datapoint[] {
    for (const text of geometries) this.#geometries.push(JSON.parse(text) as Geometry)
    for (const shape of shapes) this.#shapes.push(readShape(shape))
    const points = new Array<Datapoint>(count)
    let value = 0
    for (let at = 0, cell = 0; at < count; at += 1, cell += cellsEach) {
      const shape = this.#shapes[numbers[cell + cells.shape] as number] as ReadShape
      const rest = numbers[cell + cells.rest] as number
      const properties: Growing = rest < 0 ? { ...shape.others } : (JSON.parse(own[rest] as string) as Growing)
      for (const name of shape.names) properties[name] = values[value++] as number
      const geometry = numbers[cell + cells.geometry] as number
      const endMs = numbers[cell + cells.end] as number
      const point: { -readonly [K in keyof Datapoint]: Datapoint[K] } = { ...blank }
      point.id = numbers[cell + cells.id] as number
      point.stream = numbers[cell + cells.stream] as number
      point.startMs = numbers[cell + cells.start] as number
      point.endMs = Number.isNaN(endMs) ? null : endMs
      point.createdMs = numbers[cell + cells.created] as number
      point.geometry = geometry < 0 ? (JSON.parse(own[-1 - geometry] as string) as Geometry) : (this.#geometries[geometry] as Geometry)
      point.properties = properties
      points[at] = point
    }
    return points
  }
}
