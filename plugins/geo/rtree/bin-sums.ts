import type { Json } from 'pounce/sdk'
import type { Datapoint, GeoBin, GeoBinning, Geometry } from 'pounce/sdk/geo'
import { altitudeOf, BinLimit, spansOf, type TimeSpan } from 'pounce/sdk/geo'
import type { PlaceCache, ShapeCache } from './place-cache.ts'
import { type Known, perStream, planFor, type StreamRows } from './plan.ts'
import { at, type PointRow, type PointSource, type Sink, type StartRange, startOf } from './scans.ts'
import { longBounds, pieceSize, type Slices, sliceEffort } from './slices.ts'
import { byCodePoint, namesOf } from './statistics.ts'
import type { GeoReadRequest } from './thread-requests.ts'

type MutableBin = { -readonly [K in keyof GeoBin]: GeoBin[K] }

type Properties = Datapoint['properties']

/** The bins of one span, depth and group, by property. */
interface Bucket {
  readonly span: TimeSpan
  readonly depth: number | null
  readonly group: readonly (string | null)[]
  readonly byName: Map<string, MutableBin>
  readonly byShape: Map<number, ShapeBins>
}

/** The bins of a shape's columns, in order; undefined for those not requested. */
interface ShapeBins {
  readonly columns: readonly (MutableBin | undefined)[]
  /** False if all numbers of rows without texts of their own are in columns. */
  readonly hasOthers: boolean
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

/** Aggregates rows of one stream. */
class BinSums implements Sink {
  readonly #stream: number
  readonly #binning: GeoBinning
  readonly #shapes: ShapeCache
  readonly #places: PlaceCache
  readonly #wanted: ReadonlySet<string> | undefined
  readonly #groupBy: readonly string[]
  readonly #limit: BinLimit
  readonly #buckets = new Map<string, Bucket>()
  #bins: MutableBin[] = []
  #lastStart = Number.NEGATIVE_INFINITY
  #span: TimeSpan | undefined
  #last: Bucket | undefined
  #lastShape = -1
  #lastBins: ShapeBins | undefined
  #further = 0
  #turnFurther = 0
  #textLength = 0

  constructor(stream: number, binning: GeoBinning, { shapes, places }: Pick<Known, 'shapes' | 'places'>, limit: BinLimit) {
    this.#stream = stream
    this.#binning = binning
    this.#shapes = shapes
    this.#places = places
    this.#wanted = binning.properties && new Set(binning.properties)
    this.#groupBy = binning.groupBy ?? []
    this.#limit = limit
  }

  /** Rows cost more when they fall into many bins. */
  get room(): number {
    return this.#turnFurther < sliceEffort ? Number.POSITIVE_INFINITY : 0
  }

  /** Numbers added to bins after their first. */
  get further(): number {
    return this.#further
  }

  /** How many were added since the last call. */
  newSlice(): number {
    const count = this.#turnFurther
    this.#turnFurther = 0
    return count
  }

  /** Number of bins. */
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
    for (const [index, each] of spansOf(start, span === null ? null : end, time).entries()) {
      const entered = this.#enter(each, depth, row)
      if (index > 0) this.#count(entered)
      this.#span = each
      this.#last = undefined
    }
  }

  #count(further: number): void {
    this.#limit.take(further)
    this.#further += further
    this.#turnFurther += further + 1
  }

  /** When rows are not grouped, they mostly fall into the bucket of the previous row. Returns how many numbers were added. */
  #enter(span: TimeSpan, depth: number | null, row: PointRow): number {
    const isPlain = this.#groupBy.length === 0 && this.#binning.time !== 'all'
    const isLast = isPlain && span === this.#span && this.#last?.depth === depth
    const bucket = (isLast && this.#last) || this.#bucketOf(span, depth, this.#groupOf(row))
    const shapeId = row[at.shape] as number
    const isKnown = bucket === this.#last && shapeId === this.#lastShape && this.#lastBins
    const { columns, hasOthers } = isKnown || this.#binsOf(bucket, shapeId)
    let entered = 0
    for (let column = 0; column < columns.length; column += 1) {
      const bin = columns[column]
      if (!bin) continue
      sum(bin, row[at.values + column] as number, span)
      entered += 1
    }
    const rest = row[at.rest]
    if (!hasOthers && rest === null) return entered
    const others = typeof rest === 'string' ? (JSON.parse(rest) as Properties) : this.#shapes.get(shapeId).others
    for (const name of Object.keys(others)) {
      const value = others[name]
      if (typeof value !== 'number' || !this.#isWanted(name)) continue
      sum(this.#binOf(bucket, name), value, span)
      entered += 1
    }
    return entered
  }

  #binsOf(bucket: Bucket, shapeId: number): ShapeBins {
    let bins = bucket.byShape.get(shapeId)
    if (bins === undefined) {
      const { names, others } = this.#shapes.get(shapeId)
      const columns = names.map(name => (this.#isWanted(name) ? this.#binOf(bucket, name) : undefined))
      bins = { columns, hasOthers: Object.values(others).some(value => typeof value === 'number') }
      bucket.byShape.set(shapeId, bins)
    }
    this.#last = bucket
    this.#lastShape = shapeId
    this.#lastBins = bins
    return bins
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
      bucket = { span, depth, group, byName: new Map(), byShape: new Map() }
      const length = lengthOf(group)
      this.#textLength += length
      this.#limit.hold(length)
      this.#buckets.set(key, bucket)
    }
    return bucket
  }

  #binOf({ span, depth, group, byName }: Bucket, property: string): MutableBin {
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

  /** Removes bins that no later row can fall into, in order; rows arrive sorted by start. */
  takeFinished(): readonly GeoBin[] {
    if (this.#binning.time === 'all') return []
    const [finished, open] = [this.#bins.filter(bin => bin.toMs <= this.#lastStart), this.#bins.filter(bin => bin.toMs > this.#lastStart)]
    this.#bins = open
    for (const [key, { span, group }] of this.#buckets) {
      if (span.toMs > this.#lastStart) continue
      this.#buckets.delete(key)
      this.#release(lengthOf(group))
    }
    return finished.sort(compareBins)
  }

  /** All bins, in order; they are the last. */
  sorted(): readonly GeoBin[] {
    this.releaseTexts()
    return this.#bins.sort(compareBins)
  }

  /** Ends its count of texts held. */
  releaseTexts(): void {
    this.#release(this.#textLength)
  }

  #release(length: number): void {
    this.#textLength -= length
    this.#limit.release(length)
  }
}

const lengthOf = (group: Bucket['group']): number => group.reduce((sum, text) => sum + (text?.length ?? 0), 0)

const sum = (bin: MutableBin, value: number, { fromMs, toMs }: TimeSpan): void => {
  bin.count += 1
  bin.sum += value
  if (value < bin.min) bin.min = value
  if (value > bin.max) bin.max = value
  if (fromMs < bin.fromMs) bin.fromMs = fromMs
  if (toMs > bin.toMs) bin.toMs = toMs
}

/** With more bins than this a stream is aggregated property by property, so that bins can be released as soon as time has passed them. */
const maxInMemory = 50_000

/** With more names than this it is not, since each name requires a pass over the stream. */
const maxNames = 64

/** Aggregates, one stream after another. */
export function* binSlices(known: Known, { filter, binning }: Extract<GeoReadRequest, { type: 'bins' }>): Slices<readonly GeoBin[]> {
  const plan = planFor(known, filter, longBounds)
  const range = { isDescending: false, fromMs: plan.fromMs, untilMs: plan.untilMs, after: undefined }
  const slice = new Slice()
  const limit = new BinLimit()
  let ready: GeoBin[] = []
  for (const of of perStream(plan)) {
    for (const bins of streamSlices(known, of, range, { binning, limit, slice })) {
      if (!bins) {
        yield undefined
        continue
      }
      for (const bin of bins) ready.push(bin)
      let sent = 0
      for (; ready.length - sent >= pieceSize; sent += pieceSize) yield ready.slice(sent, sent + pieceSize)
      if (sent > 0) ready = ready.slice(sent)
    }
  }
  if (ready.length > 0) yield ready
}

/** Work done since the last yield; many small streams share one slice. */
class Slice {
  #spent = 0

  /** Fills some more; true when it is time to yield. */
  fill(source: PointSource, sums: BinSums): boolean {
    this.#spent += 1 + source.fill(sums, sliceEffort - this.#spent) + sums.newSlice()
    if (this.#spent < sliceEffort) return false
    this.#spent = 0
    return true
  }
}

/** What the streams of one query have in common. */
interface BinWork {
  readonly binning: GeoBinning
  readonly limit: BinLimit
  readonly slice: Slice
}

function* streamSlices(
  known: Known,
  { stream, rows }: StreamRows,
  range: StartRange,
  work: BinWork,
): Generator<readonly GeoBin[] | undefined> {
  const { binning, limit, slice } = work
  const sums = new BinSums(stream, binning, known, limit)
  let isSplit: boolean | undefined
  for (const source = rows(range); !source.isDone; ) {
    if (slice.fill(source, sums)) yield undefined
    if (sums.size <= maxInMemory) continue
    isSplit ??= binning.time !== 'all' && namesOf(known, stream, maxNames + 1).length <= maxNames
    if (!isSplit) continue
    // All of it is counted again.
    limit.allow(sums.further)
    sums.releaseTexts()
    yield* byPropertySlices(known, { stream, rows }, range, work)
    return
  }
  yield sums.sorted()
}

function* byPropertySlices(
  known: Known,
  { stream, rows }: StreamRows,
  range: StartRange,
  { binning, limit, slice }: BinWork,
): Generator<readonly GeoBin[] | undefined> {
  const names = binning.properties ? [...new Set(binning.properties)].sort(byCodePoint) : namesOf(known, stream, maxNames)
  for (const name of names) {
    const sums = new BinSums(stream, { ...binning, properties: [name] }, known, limit)
    for (const source = rows(range); !source.isDone; ) {
      if (slice.fill(source, sums)) yield undefined
      yield sums.takeFinished()
    }
    yield sums.sorted()
  }
}
