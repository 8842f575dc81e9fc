import { type Caller, GeoStore, Invalid, type Json, s, wire } from 'pounce/sdk'
import type { Datapoint, GeoBin, GeoFilter } from 'pounce/sdk/geo'
import { BinLimit, hasAttribute } from 'pounce/sdk/geo'
import { readTime } from 'pounce/sdk/kit'
import { printTime } from '../datapoints/point-json.ts'
import type { AverageRow } from './averages-table.ts'
import type { BinTimes } from './bin-times.ts'
import { mergedBins } from './gathered-bins.ts'
import { type Aggregate, finite, meanOf, type Sums, statisticsOf } from './raw-entries.ts'
import { SelectedSensors, type SensorPart } from './selected-sensors.ts'
import { allowOnce } from './sensor-bins.ts'

type Filter = Omit<GeoFilter, 'streams'>

/** The summary of a sensor's selected datapoints. */
interface SensorValues {
  /** The datapoint with the earliest start. */
  readonly first: Datapoint
  readonly endMs: number
  /** Streams with datapoints, in the order of their creation. */
  readonly streams: readonly number[]
  /** Properties with numeric values. */
  readonly numbers: ReadonlyMap<string, Sums>
  /** The first value of each other property. */
  readonly others: ReadonlyMap<string, Json>
}

const add = (known: Sums | undefined, { count, sum, min, max }: Sums): Sums =>
  known
    ? { count: known.count + count, sum: known.sum + sum, min: Math.min(known.min, min), max: Math.max(known.max, max) }
    : { count, sum, min, max }

/** The requested selection of datapoints. */
interface AverageRequest {
  readonly filter: Filter
  /** Names of the properties to return; absent: all. */
  readonly shown?: ReadonlySet<string>
  /** Names of the properties to omit. */
  readonly omitted?: ReadonlySet<string>
  /** Cancels the work. */
  readonly signal?: AbortSignal | undefined
}

/** Maximum number of numeric properties of a sensor: all are in one row of the response. */
const maxNumbers = 50_000

/** The aggregates of each property across all streams. */
const numbersOf = async (
  store: GeoStore,
  filter: GeoFilter,
  { shown, signal }: AverageRequest,
  seen: (bin: GeoBin) => void = () => undefined,
): Promise<Map<string, Sums>> => {
  const numbers = new Map<string, Sums>()
  const binning = { time: 'all', ...(shown ? { properties: [...shown] } : {}) } as const
  for await (const piece of store.bins({ filter, binning, signal }))
    for (const bin of piece) {
      numbers.set(bin.property, add(numbers.get(bin.property), bin))
      if (numbers.size > maxNumbers) throw new Invalid(`A sensor has more than ${maxNumbers} numeric properties: filter by attributes`)
      seen(bin)
    }
  return numbers
}

const maxCounted = 1_000_000_000

/** What is known of the last end: that of the first datapoint, the last one and those with numbers, and the aggregates of these. */
interface KnownEnds {
  readonly endMs: number
  readonly numbers: ReadonlyMap<string, Sums>
}

/** When the last matching datapoint ends. If it has no number it is found by counting those that end by a time. */
const lastEnd = async (
  store: GeoStore,
  part: SensorPart,
  { filter, signal }: AverageRequest,
  { endMs, numbers }: KnownEnds,
): Promise<number> => {
  let [before, end] = [endMs, Math.min(part.lastEndMs ?? endMs, filter.untilMs ?? Number.POSITIVE_INFINITY)]
  if (end <= before) return before
  if (Object.keys(filter).length === 0) return end
  const all = { ...filter, streams: part.streams }
  // Mostly there is a number that each datapoint has.
  const most = [...numbers.values()].reduce((known, { count }) => Math.max(known, count), 0)
  if ((await store.count(all, most + 1)) <= most) return before
  const endedBy = (untilMs: number): Promise<number> => store.count({ ...all, untilMs }, maxCounted)
  const ended = await endedBy(end)
  if ((await endedBy(before)) === ended) return before
  while (end - before > 1) {
    signal?.throwIfAborted()
    const middle = Math.floor((before + end) / 2)
    if ((await endedBy(middle)) === ended) end = middle
    else before = middle
  }
  return end
}

/** Aggregates a sensor's datapoints; undefined when none matches. */
const sensorValues = async (store: GeoStore, part: SensorPart, averageQuery: AverageRequest): Promise<SensorValues | undefined> => {
  const { shown, omitted, signal } = averageQuery
  const filter = { ...averageQuery.filter, streams: part.streams }
  const [first] = (await store.find({ filter, limit: 1 })).points
  const [last] = (await store.find({ filter, limit: 1, sort: { by: 'start', order: 'descending' } })).points
  if (!first || !last) return undefined
  let endMs = Math.max(first.endMs ?? first.startMs, last.endMs ?? last.startMs)
  const streams = new Set([first.stream, last.stream])
  const numbers = await numbersOf(store, filter, averageQuery, ({ stream, toMs }) => {
    endMs = Math.max(endMs, toMs)
    streams.add(stream)
  })
  for (const stream of part.streams) {
    signal?.throwIfAborted()
    if (!streams.has(stream) && (await store.count({ ...averageQuery.filter, streams: [stream] }, 1)) > 0) streams.add(stream)
  }
  const isOther = (name: string): boolean => (shown?.has(name) ?? true) && !numbers.has(name) && !omitted?.has(name)
  const others = await firstValues(store, { filter, signal }, first, isOther, part)
  endMs = await lastEnd(store, part, averageQuery, { endMs, numbers })
  for (const name of omitted ?? []) numbers.delete(name)
  return { first, endMs, streams: [...streams].sort((one, other) => one - other), numbers, others }
}

const batchSize = 100

/** Most properties occur in the first datapoints; the others are searched for in larger pages. */
const [fewPoints, manyPoints] = [16, 1000]

/** The datapoints to read. */
interface Looking {
  readonly filter: GeoFilter
  readonly signal: AbortSignal | undefined
}

/** The first value of each given property: most are in the first datapoint, the others in the first one that has them. */
const firstValues = async (
  store: GeoStore,
  { filter, signal }: Looking,
  first: Datapoint,
  isWanted: (name: string) => boolean,
  { properties }: SensorPart,
): Promise<ReadonlyMap<string, Json>> => {
  const names = [...properties].filter(isWanted)
  const values = new Map(names.flatMap(name => valueIn(first, name)))
  const missing = names.filter(name => !values.has(name))
  for (let at = 0; at < missing.length; at += batchSize) {
    const some = missing.slice(at, at + batchSize)
    for (const [name, value] of await looked(store, { filter, signal }, some)) values.set(name, value)
  }
  return new Map(names.flatMap(name => (values.has(name) ? [[name, values.get(name) ?? null] as const] : [])))
}

const valueIn = ({ properties }: Datapoint, name: string): readonly (readonly [string, Json])[] =>
  Object.hasOwn(properties, name) ? [[name, properties[name] ?? null]] : []

const looked = async (store: GeoStore, { filter, signal }: Looking, names: readonly string[]): Promise<ReadonlyMap<string, Json>> => {
  const values = new Map<string, Json>()
  // Attributes are alternatives: the store filters by property, and those of the query are checked here.
  const { attributes: averageQuery } = filter
  let query = { filter: { ...filter, attributes: names.map(key => ({ key })) }, limit: fewPoints }
  for (;;) {
    signal?.throwIfAborted()
    const { points, next } = await store.find(query)
    for (const point of points)
      if (!averageQuery || averageQuery.some(each => hasAttribute(point.properties, each)))
        for (const name of names) if (!values.has(name)) for (const [, value] of valueIn(point, name)) values.set(name, value)
    if (!next || values.size === names.length) return values
    query = { ...query, ...{ after: next }, limit: manyPoints }
  }
}

/** Query parameters of the time window; both bounds are inclusive. */
export const windowParameters = {
  window_start: s.Optional(
    s.String({
      maxLength: 60,
      description: 'Datapoints that start then or later (such as `2017-03-31` or `2017-03-31T12:00:00Z`; UTC without a zone)',
    }),
  ),
  window_end: s.Optional(s.String({ maxLength: 60, description: 'Datapoints that start then or earlier' })),
}

/** Both bounds inclusive, in milliseconds; undefined: unbounded. */
interface Window {
  readonly fromMs: number | undefined
  readonly toMs: number | undefined
}

const timeOf = (sent: string | undefined, name: string): number | undefined =>
  sent === undefined || sent.trim() === '' ? undefined : readTime(sent, name)

/** Parses them; throws `Invalid` naming the wrong parameter. */
export const readWindow = (query: { readonly window_start?: string; readonly window_end?: string }): Window => {
  const [fromMs, toMs] = [timeOf(query.window_start, 'window_start'), timeOf(query.window_end, 'window_end')]
  if (fromMs !== undefined && toMs !== undefined && toMs < fromMs) throw new Invalid('window_end is before window_start')
  return { fromMs, toMs }
}

/** The last time that a filter can specify. */
const lastMs = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

/** The filter restricted to a window. */
export const within = (filter: Omit<GeoFilter, 'streams'>, { fromMs, toMs }: Window): Omit<GeoFilter, 'streams'> => ({
  ...filter,
  ...(fromMs === undefined ? {} : { fromMs: Math.max(fromMs, filter.fromMs ?? fromMs) }),
  ...(toMs === undefined || toMs >= lastMs ? {} : { beforeMs: toMs + 1 }),
})

/** The parameters of trends. */
interface TrendQuery extends AverageRequest {
  readonly window: Window
  /** Also return the latest of these spans. */
  readonly last?: BinTimes
}

/** The trend of a sensor's numeric values: members of `properties`, and the label of the latest span if requested. */
interface Trend {
  readonly properties: Readonly<Record<string, number | null>>
  readonly lastTime?: string
}

const none: Sums = { count: 0, sum: 0, min: 0, max: 0 }

/** In percent of the whole; null if either is missing or the whole is 0. */
const change = (whole: number | null, part: number | null): number | null =>
  whole === null || part === null || whole === 0 ? null : finite(((part - whole) / whole) * 100)

/** Compares a sensor's datapoints within the window with all its datapoints. */
const trendOf = async (
  store: GeoStore,
  part: SensorPart,
  values: SensorValues,
  request: TrendQuery & { readonly limit: BinLimit },
): Promise<Trend> => {
  const { filter, window, last } = request
  const interval = await numbersOf(store, { ...within(filter, window), streams: part.streams }, request)
  const newest = last ? await newestOf(store, part, request, last) : undefined
  const properties: Record<string, number | null> = {}
  for (const [name, sums] of values.numbers) {
    const [whole, mean] = [meanOf(sums), meanOf(interval.get(name) ?? none)]
    properties[`${name}_total_average`] = whole
    properties[`${name}_interval_average`] = mean
    if (newest) properties[`${name}_last_average`] = meanOf(newest.numbers.get(name) ?? none)
    properties[`${name}_percentage_change`] = change(whole, mean)
  }
  return { properties, ...(newest?.label === undefined ? {} : { lastTime: newest.label }) }
}

interface Newest {
  readonly label: string | undefined
  readonly numbers: ReadonlyMap<string, Sums>
}

/** The latest span with a numeric value of the sensor, and its aggregates. */
const newestOf = async (
  store: GeoStore,
  part: SensorPart,
  { filter, shown, limit, signal }: TrendQuery & { readonly limit: BinLimit },
  times: BinTimes,
): Promise<Newest> => {
  allowOnce(limit, part)
  let [dateMs, label] = [Number.NEGATIVE_INFINITY, undefined as string | undefined]
  const found = new Map<string, { readonly dateMs: number; readonly sums: Sums }>()
  const binning = { time: times.time, ...(shown ? { properties: [...shown] } : {}) }
  const gathering = { binning, groupOf: times.group, limit, signal }
  for await (const { property, bins } of mergedBins(store, { ...filter, streams: part.streams }, gathering))
    for (const bin of bins) {
      const time = times.of(bin)
      if (time.dateMs > dateMs) [dateMs, label] = [time.dateMs, time.label]
      const known = found.get(property)
      if (known && known.dateMs > time.dateMs) continue
      const before = known?.dateMs === time.dateMs ? known.sums : none
      found.set(property, { dateMs: time.dateMs, sums: { ...bin, count: before.count + bin.count, sum: before.sum + bin.sum } })
    }
  return { label, numbers: new Map([...found].filter(([, each]) => each.dateMs === dateMs).map(([name, { sums }]) => [name, sums])) }
}

/** Properties to average, and additional ones to return. */
interface AverageQuery extends AverageRequest {
  readonly aggregates: readonly Aggregate[]
}

type Chosen = readonly number[] | undefined

type Members = Readonly<Record<string, Json>>

/** Summarizes all datapoints of each sensor: averages and trends. */
export class AverageService {
  #sensors: SelectedSensors
  #store: GeoStore

  constructor(sensors: SelectedSensors, store: GeoStore) {
    this.#sensors = sensors
    this.#store = store
  }

  /** A datapoint for each sensor, by name, with averages in place of numeric values. */
  async *averages(caller: Caller, chosen: Chosen, request: AverageQuery): AsyncGenerator<AverageRow, void, undefined> {
    for await (const part of this.#sensors.of(caller, chosen)) {
      const values = await sensorValues(this.#store, part, request)
      if (!values) continue
      const numbers = [...values.numbers].flatMap(([name, sums]) => {
        const more = Object.entries(statisticsOf(sums, request.aggregates)).map(
          ([statistic, value]) => [`${name}_${statistic}`, value] as const,
        )
        return [[name, meanOf(sums)] as const, ...more]
      })
      yield rowOf(part, values, Object.fromEntries(numbers))
    }
  }

  /** The same with averages within a window and overall. */
  async *trends(caller: Caller, chosen: Chosen, request: TrendQuery): AsyncGenerator<AverageRow, void, undefined> {
    const limit = new BinLimit()
    for await (const part of this.#sensors.of(caller, chosen)) {
      const values = await sensorValues(this.#store, part, request)
      if (!values) continue
      const { properties, lastTime } = await trendOf(this.#store, part, values, { ...request, limit })
      yield rowOf(part, values, properties, lastTime === undefined ? {} : { last_time: lastTime })
    }
  }
}
wire(AverageService, SelectedSensors, GeoStore)

/** The first datapoint, with the times, streams and properties of all. */
const rowOf = (
  { id, name }: SensorPart,
  { first, endMs, streams, others }: SensorValues,
  numbers: Members,
  more: Pick<AverageRow, 'last_time'> = {},
): AverageRow => ({
  id: first.id,
  created: printTime(first.createdMs),
  start_time: printTime(first.startMs),
  end_time: printTime(endMs),
  ...more,
  properties: { ...Object.fromEntries(others), ...numbers },
  type: 'Feature',
  geometry: first.geometry,
  stream_id: streams.map(String),
  sensor_id: String(id),
  sensor_name: name,
})
