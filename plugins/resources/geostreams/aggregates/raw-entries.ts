import { Invalid, type Json, s } from 'pounce/sdk'
import type { BinLimit, Datapoint, GeoFilter } from 'pounce/sdk/geo'
import { altitudeOf, spansOf } from 'pounce/sdk/geo'
import { compareText, isJsonObject } from 'pounce/sdk/kit'
import type { BinTime, BinTimes } from './bin-times.ts'

/** Aggregates of numbers in addition to those of Clowder 1.x. */
const aggregates = ['count', 'sum', 'min', 'max', 'mean'] as const

export type Aggregate = (typeof aggregates)[number]

/** Aggregated numbers. */
export interface Sums {
  readonly count: number
  readonly sum: number
  readonly min: number
  readonly max: number
}

/** Query parameter for additional aggregates. */
export const aggregateParameter = {
  aggregates: s.Optional(
    s.repeated(s.String({ maxLength: 100, description: 'Aggregates to return: count, sum, min, max, mean, comma-separated or repeated' })),
  ),
}

/** Parses the parameter; throws `Invalid` listing the valid values. */
export const readAggregates = (sent: readonly string[] = []): readonly Aggregate[] => {
  const names = sent.flatMap(text => text.split(',')).map(name => name.trim())
  const wanted = names.filter(name => name !== '').map(name => aggregates.find(each => each === name.toLowerCase()))
  if (wanted.includes(undefined)) throw new Invalid(`aggregates must be of ${aggregates.join(', ')}`)
  return aggregates.filter(each => wanted.includes(each))
}

/** JSON has no infinity, but a sum can overflow. */
export const finite = (value: number): number | null => (Number.isFinite(value) ? value : null)

/** Never beyond the values: the rounding errors of a long sum would make the mean of equal values differ from them. */
export const meanOf = ({ count, sum, min, max }: Sums): number | null => {
  if (count === 0) return null
  const mean = finite(sum / count)
  return mean === null ? null : Math.min(Math.max(mean, min), max)
}

/** The requested aggregates, by name. */
export const statisticsOf = (sums: Sums, wanted: readonly Aggregate[]): Readonly<Record<string, number | null>> =>
  Object.fromEntries(wanted.map(name => [name, name === 'mean' ? meanOf(sums) : finite(sums[name])]))

/** The values of a property in one time span, at one depth, with one depth code. */
export interface BinEntry extends Sums {
  readonly time: BinTime
  readonly depth: number
  readonly depthCode: string
  readonly sources: readonly string[]
  /** Distinct JSON texts of values that are objects. */
  readonly array?: readonly string[]
  readonly raw?: { readonly doubles: readonly number[]; readonly strings: readonly string[] }
}

/** A bin in the format of Clowder 1.x, with the requested aggregates. */
export const entryJson = (entry: BinEntry, wanted: readonly Aggregate[]): string => {
  const { time, depth, depthCode, sources, raw, array = [], count } = entry
  const isOfNumbers = count > 0
  return JSON.stringify({
    depth,
    label: time.label,
    sources,
    ...time.parts,
    date: new Date(time.dateMs).toISOString(),
    depth_code: depthCode,
    ...raw,
    ...(isOfNumbers ? { average: meanOf(entry), count, ...statisticsOf(entry, wanted) } : { array, count: array.length }),
  })
}

/** The same for the API documentation. */
export const BinEntryJson = s.model(
  'Bin',
  s.Object({
    depth: s.Number(),
    label: s.String({ description: 'Such as `2017`, `2017 spring`, `2017 January`, `2017-W04`, `2017-01-25`, `2017-01-25 09`' }),
    sources: s.Array(s.String()),
    year: s.Integer(),
    month: s.Optional(s.Integer()),
    week: s.Optional(s.Integer()),
    day: s.Optional(s.Integer()),
    hour: s.Optional(s.Integer()),
    minute: s.Optional(s.Integer()),
    date: s.String({ description: 'A date near the middle of the bin' }),
    depth_code: s.String(),
    doubles: s.Optional(s.Array(s.Number())),
    strings: s.Optional(s.Array(s.String())),
    average: s.Optional(s.Union([s.Number(), s.Null()])),
    array: s.Optional(s.Array(s.String({ description: 'JSON text of an object' }))),
    count: s.Integer(),
    sum: s.Optional(s.Union([s.Number(), s.Null()])),
    min: s.Optional(s.Number()),
    max: s.Optional(s.Number()),
    mean: s.Optional(s.Union([s.Number(), s.Null()])),
  }),
)

/** How to aggregate, and what to return. */
export interface BinQuery {
  readonly times: BinTimes
  /** Depth step; undefined: depths are not distinguished. */
  readonly depthMetres: number | undefined
  readonly filter: Omit<GeoFilter, 'streams'>
  readonly shown?: ReadonlySet<string>
  readonly isRaw: boolean
  /** Cancels the work. */
  readonly signal?: AbortSignal | undefined
}

/** Properties that group datapoints and are not aggregated. */
export const special = { depthCode: 'DEPTH_CODE', source: 'source' } as const

export const isSpecial = (name: string): boolean => name === special.depthCode || name === special.source

/** The depth code of datapoints without one. */
export const noDepthCode = 'NA'

/** Maximum number of values of one sensor that are kept in memory. */
const maxValues = 2_000_000

interface Growing {
  readonly time: BinTime
  readonly depth: number
  readonly depthCode: string
  readonly sources: Set<string>
  readonly doubles: number[]
  readonly strings: Set<string>
  readonly array: Set<string>
}

type NameFilter = (name: string) => boolean

type Where = Pick<Growing, 'time' | 'depth' | 'depthCode'>

/** The grouping key, as in stores: a string unchanged, a number or boolean as JSON. */
const textOf = (value: Json | undefined): string | null =>
  typeof value === 'string' ? value : typeof value === 'number' || typeof value === 'boolean' ? JSON.stringify(value) : null

/** Bins with all their values. */
export class RawEntries {
  readonly #request: Pick<BinQuery, 'times' | 'depthMetres'>
  readonly #found = new Map<string, Map<string, Growing>>()
  readonly #limit: BinLimit
  #values = 0
  #textLength = 0

  constructor(request: Pick<BinQuery, 'times' | 'depthMetres'>, limit: BinLimit) {
    this.#request = request
    this.#limit = limit
  }

  /** Adds all properties of a datapoint. Returns the number of values added to bins. */
  add(point: Datapoint, isWanted: NameFilter): number {
    return this.#take(point, isWanted)
  }

  /** Adds only the properties that are objects. */
  addObjects(point: Datapoint, isWanted: NameFilter): number {
    return this.#take(point, name => isWanted(name) && isJsonObject(point.properties[name]))
  }

  /** By property, unordered within each. Bins with only texts are omitted. */
  *all(isRaw: boolean): Iterable<readonly [property: string, entries: readonly BinEntry[]]> {
    const found = [...this.#found].sort(([one], [other]) => compareText(one, other))
    for (const [property, bins] of found) {
      const entries = [...bins.values()].filter(({ doubles, array }) => doubles.length > 0 || array.size > 0)
      if (entries.length > 0) yield [property, entries.map(entry => entryOf(entry, isRaw))]
    }
  }

  /** Call when nothing of it is used any more. */
  release(): void {
    this.#limit.release(this.#textLength)
    this.#textLength = 0
  }

  #take(point: Datapoint, isWanted: NameFilter): number {
    const { properties } = point
    const names = Object.keys(properties).filter(isWanted)
    if (names.length === 0) return 0
    const source = textOf(own(properties, special.source))
    const places = this.#whereOf(point)
    const entered = names.length * places.length
    this.#limit.take(entered)
    for (const name of names) {
      const value = properties[name] ?? null
      const [kind, text] = keptAs(value)
      for (const where of places) {
        const bin = this.#bin(name, where)
        if (source) this.#keep(bin.sources, source)
        if (typeof value === 'number') bin.doubles.push(value)
        else if (kind) this.#keep(bin[kind], text)
        this.#values += 1
        if (this.#values > maxValues)
          throw new Invalid(`More than ${maxValues} distinct values of a sensor: filter by stream or attributes, or use a shorter period`)
      }
    }
    return entered
  }

  #keep(texts: Set<string>, text: string): void {
    if (texts.has(text)) return
    texts.add(text)
    this.#hold(text.length)
  }

  #hold(length: number): void {
    this.#textLength += length
    this.#limit.hold(length)
  }

  #whereOf({ startMs, endMs, geometry, properties }: Datapoint): readonly Where[] {
    const { times, depthMetres } = this.#request
    const depth = depthMetres === undefined ? 0 : depthMetres * Math.ceil(altitudeOf(geometry) / depthMetres) + 0
    const depthCode = textOf(own(properties, special.depthCode)) ?? noDepthCode
    return spansOf(startMs, endMs, times.time).map(span => ({ time: times.of(span), depth, depthCode }))
  }

  #bin(property: string, { time, depth, depthCode }: Where): Growing {
    const bins = this.#found.get(property) ?? new Map<string, Growing>()
    if (bins.size === 0) this.#found.set(property, bins)
    const key = `${depth} ${time.label} ${depthCode}`
    const known = bins.get(key)
    if (known) return known
    this.#hold(depthCode.length)
    const bin = { time, depth, depthCode, sources: new Set<string>(), doubles: [], strings: new Set<string>(), array: new Set<string>() }
    bins.set(key, bin)
    return bin
  }
}

const own = (properties: Datapoint['properties'], name: string): Json | undefined =>
  Object.hasOwn(properties, name) ? properties[name] : undefined

/** How a value that is not a number is kept. */
const keptAs = (value: Json): readonly [kind: 'array' | 'strings' | undefined, text: string] => {
  if (isJsonObject(value)) return ['array', JSON.stringify(value)]
  const text = typeof value === 'string' ? value : value === null || typeof value === 'number' ? '' : JSON.stringify(value)
  return [text === '' ? undefined : 'strings', text]
}

const entryOf = ({ doubles, strings, array, sources, ...where }: Growing, isRaw: boolean): BinEntry => ({
  ...where,
  sources: [...sources],
  array: [...array],
  count: doubles.length,
  sum: doubles.reduce((sum, value) => sum + value, 0),
  min: doubles.reduce((one, other) => Math.min(one, other), Number.POSITIVE_INFINITY),
  max: doubles.reduce((one, other) => Math.max(one, other), Number.NEGATIVE_INFINITY),
  ...(isRaw ? { raw: { doubles, strings: [...strings] } } : {}),
})
