import type { Datapoint, GeoBin, GeoBinning, Geometry, Json } from 'pounce/sdk'
import { altitudeOf, spansOf, type TimeSpan } from 'pounce/sdk/geo'
import type { PlaceCache } from './place-cache.ts'
import { at, type PointRow, startOf } from './rows.ts'
import type { ShapeCache } from './shape-cache.ts'
import type { Sink } from './source.ts'
import { byCodePoint } from './statistics.ts'

type Growing = { -readonly [K in keyof GeoBin]: GeoBin[K] }
type Properties = Datapoint['properties']

/** The bins of one span, depth and group, by property. */
interface Bucket {
  readonly span: TimeSpan
  readonly depth: number | null
  readonly group: readonly (string | null)[]
  readonly byName: Map<string, Growing>
  /** The bins of the columns of a shape, in their order; undefined of those that are not wanted. */
  readonly byShape: (readonly (Growing | undefined)[])[]
}

const textOf = (value: Json | undefined): string | null => {
  if (typeof value === 'string') return value
  return typeof value === 'number' || typeof value === 'boolean' ? JSON.stringify(value) : null
}

/** Null first, texts by code point. */
const compareTexts = (one: string | null, other: string | null): number => {
  if (one === null || other === null) return Number(one !== null) - Number(other !== null)
  return one === other ? 0 : byCodePoint(one, other)
}

const compareBins = (one: GeoBin, other: GeoBin): number => {
  const groups = (): number =>
    one.group.map((text, index) => compareTexts(text, other.group[index] ?? null)).find(order => order !== 0) ?? 0
  return compareTexts(one.property, other.property) || one.fromMs - other.fromMs || (one.depth ?? 0) - (other.depth ?? 0) || groups()
}

/** Sums up rows of one stream. */
export class BinSums implements Sink {
  readonly room = Number.POSITIVE_INFINITY
  readonly #stream: number
  readonly #binning: GeoBinning
  readonly #shapes: ShapeCache
  readonly #places: PlaceCache
  readonly #wanted: ReadonlySet<string> | undefined
  readonly #groupBy: readonly string[]
  readonly #buckets = new Map<string, Bucket>()
  #bins: Growing[] = []
  #lastStart = Number.NEGATIVE_INFINITY
  #span: TimeSpan | undefined
  #last: Bucket | undefined

  constructor(stream: number, binning: GeoBinning, { shapes, places }: { readonly shapes: ShapeCache; readonly places: PlaceCache }) {
    this.#stream = stream
    this.#binning = binning
    this.#shapes = shapes
    this.#places = places
    this.#wanted = binning.properties && new Set(binning.properties)
    this.#groupBy = binning.groupBy ?? []
  }

  /** How many bins there are. */
  get size(): number {
    return this.#bins.length
  }

  add(row: PointRow): void {
    const start = startOf(row)
    this.#lastStart = start
    const span = row[at.span] as number | null
    const end = span === null ? start : start + span
    const depth = this.#depthOf(row)
    const { time } = this.#binning
    if (time !== 'all' && this.#span && start >= this.#span.fromMs && start < this.#span.toMs && end <= this.#span.toMs) {
      this.#enter(this.#span, depth, row)
      return
    }
    for (const each of spansOf(start, span === null ? null : end, time)) {
      this.#enter(each, depth, row)
      this.#span = each
      this.#last = undefined
    }
  }

  /** Whoever groups by nothing mostly enters the bucket of the row before. */
  #enter(span: TimeSpan, depth: number | null, row: PointRow): void {
    const isPlain = this.#groupBy.length === 0 && this.#binning.time !== 'all'
    const isLast = isPlain && span === this.#span && this.#last?.depth === depth
    const bucket = (isLast && this.#last) || this.#bucketOf(span, depth, this.#groupOf(row))
    if (isPlain) this.#last = bucket
    const shapeId = row[at.shape] as number
    const shape = this.#shapes.get(shapeId)
    bucket.byShape[shapeId] ??= shape.names.map(name => (this.#isWanted(name) ? this.#binOf(bucket, name) : undefined))
    const bins = bucket.byShape[shapeId]
    for (let column = 0; column < bins.length; column += 1) {
      const bin = bins[column]
      if (bin) sum(bin, row[at.values + column] as number, span)
    }
    const rest = row[at.rest]
    const others = typeof rest === 'string' ? (JSON.parse(rest) as Properties) : shape.others
    for (const name of Object.keys(others)) {
      const value = others[name]
      if (typeof value === 'number' && this.#isWanted(name)) sum(this.#binOf(bucket, name), value, span)
    }
  }

  #isWanted(name: string): boolean {
    return this.#wanted === undefined || this.#wanted.has(name)
  }

  #depthOf(row: PointRow): number | null {
    const { depthMetres } = this.#binning
    if (depthMetres === undefined) return null
    const own = row[at.geometry]
    const altitude =
      typeof own === 'string' ? altitudeOf(JSON.parse(own) as Geometry) : (this.#places.geometry(row[at.place] as number)?.altitude ?? 0)
    return depthMetres * Math.ceil(altitude / depthMetres) + 0
  }

  #groupOf(row: PointRow): readonly (string | null)[] {
    if (this.#groupBy.length === 0) return []
    const shape = this.#shapes.get(row[at.shape] as number)
    const rest = row[at.rest]
    const others = typeof rest === 'string' ? (JSON.parse(rest) as Properties) : shape.others
    return this.#groupBy.map(name => {
      const column = shape.names.indexOf(name)
      if (column >= 0) return textOf(row[at.values + column] as number)
      return textOf(Object.hasOwn(others, name) ? others[name] : undefined)
    })
  }

  #bucketOf(span: TimeSpan, depth: number | null, group: readonly (string | null)[]): Bucket {
    const key = `${this.#binning.time === 'all' ? '' : span.fromMs} ${depth} ${group.length === 0 ? '' : JSON.stringify(group)}`
    let bucket = this.#buckets.get(key)
    if (bucket === undefined) {
      bucket = { span, depth, group, byName: new Map(), byShape: [] }
      this.#buckets.set(key, bucket)
    }
    return bucket
  }

  #binOf({ span, depth, group, byName }: Bucket, property: string): Growing {
    let bin = byName.get(property)
    if (bin === undefined) {
      const none = { count: 0, sum: 0, min: Number.POSITIVE_INFINITY, max: Number.NEGATIVE_INFINITY }
      const isAll = this.#binning.time === 'all'
      const [fromMs, toMs] = isAll ? [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY] : [span.fromMs, span.toMs]
      bin = { stream: this.#stream, property, fromMs, toMs, depth, group, ...none }
      byName.set(property, bin)
      this.#bins.push(bin)
    }
    return bin
  }

  /** Takes out bins that no later row can enter, in order; rows have come by start. */
  takeFinished(): readonly GeoBin[] {
    if (this.#binning.time === 'all') return []
    const [finished, open] = [this.#bins.filter(bin => bin.toMs <= this.#lastStart), this.#bins.filter(bin => bin.toMs > this.#lastStart)]
    this.#bins = open
    for (const [key, { span }] of this.#buckets) if (span.toMs <= this.#lastStart) this.#buckets.delete(key)
    return finished.sort(compareBins)
  }

  /** All bins, in order. */
  sorted(): readonly GeoBin[] {
    return this.#bins.sort(compareBins)
  }
}

const sum = (bin: Growing, value: number, { fromMs, toMs }: TimeSpan): void => {
  bin.count += 1
  bin.sum += value
  if (value < bin.min) bin.min = value
  if (value > bin.max) bin.max = value
  if (fromMs < bin.fromMs) bin.fromMs = fromMs
  if (toMs > bin.toMs) bin.toMs = toMs
}
