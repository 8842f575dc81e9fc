import { setImmediate as nextTurn } from 'node:timers/promises'
import type { GeoStore } from 'pounce/sdk'
import type { BinLimit, Datapoint, GeoBin, GeoFilter } from 'pounce/sdk/geo'
import { compareText } from 'pounce/sdk/kit'
import type { BinTimes } from './bin-times.ts'
import { mergedBins } from './gathered-bins.ts'
import { type BinEntry, type BinQuery, isSpecial, noDepthCode, RawEntries, special } from './raw-entries.ts'
import type { SensorPart } from './selected-sensors.ts'

/** Maximum number of properties that a store returns. */
const maxNames = 1000
const maxAlternatives = 100
/** Maximum number of numeric properties of a datapoint. */
const maxNumbers = 10_000
/** Number of values added before the event loop is yielded. */
const perTurn = 10_000
/** Number of bins written together. */
const batchSize = 1000

/** The bins of one property and label, by date, depth and depth code. */
export interface Entries {
  readonly property: string
  readonly entries: readonly BinEntry[]
}

const order = (one: BinEntry, other: BinEntry): number =>
  one.time.dateMs - other.time.dateMs || one.depth - other.depth || compareText(one.depthCode, other.depthCode)

/** Combines bins of several streams and sources and, for winters, of both ends of a year. */
const joinedEntries = (bins: readonly GeoBin[], times: BinTimes, names: readonly string[]): readonly BinEntry[] => {
  const found = new Map<string, BinEntry>()
  const sourcesOf = new Map<string, Set<string>>()
  for (const bin of bins) {
    const value = (name: string): string | null => bin.group[names.indexOf(name)] ?? null
    const [depth, depthCode, source] = [bin.depth ?? 0, value(special.depthCode) ?? noDepthCode, value(special.source)]
    const time = times.of(bin)
    const key = `${depth} ${time.label} ${depthCode}`
    const known = found.get(key)
    if (source) sourcesOf.set(key, (sourcesOf.get(key) ?? new Set()).add(source))
    const { count, sum, min, max } = bin
    found.set(key, {
      time,
      depth,
      depthCode,
      sources: [],
      count: count + (known?.count ?? 0),
      sum: sum + (known?.sum ?? 0),
      min: Math.min(min, known?.min ?? min),
      max: Math.max(max, known?.max ?? max),
    })
  }
  return [...found].map(([key, entry]) => ({ ...entry, sources: [...(sourcesOf.get(key) ?? [])] })).sort(order)
}

/** Allows one bin per value of a sensor; more count against the limit of the request. */
export const allowOnce = (limit: BinLimit, { count, properties }: SensorPart): void =>
  limit.allow(count * (properties.size < maxNames ? properties.size : maxNumbers))

/** The bins of one sensor, by property and date. */
export async function* sensorBins(
  store: GeoStore,
  part: SensorPart,
  request: BinQuery,
  limit: BinLimit,
): AsyncGenerator<Entries, void, undefined> {
  const { filter, shown, times, depthMetres, isRaw, signal } = request
  allowOnce(limit, part)
  const chosen = { ...filter, streams: part.streams }
  const isWanted = (name: string): boolean => !isSpecial(name) && (shown?.has(name) ?? true)
  if (isRaw) {
    const raw = new RawEntries(request, limit)
    await eachPoint(store, { filter: chosen, signal }, point => raw.add(point, isWanted))
    yield* ordered(raw, true)
    raw.release()
    return
  }
  const groupBy = Object.values(special).filter(name => part.properties.has(name) || part.properties.size >= maxNames)
  const properties = shown ? { properties: [...shown].filter(isWanted) } : {}
  const binning = { time: times.time, groupBy, ...properties, ...(depthMetres === undefined ? {} : { depthMetres }) }
  const seen = new Set<string>()
  for await (const { property, bins } of mergedBins(store, chosen, { binning, groupOf: times.group, limit, signal })) {
    seen.add(property)
    if (isWanted(property)) yield { property, entries: joinedEntries(bins, times, groupBy) }
  }
  yield* objectBins(store, part, { ...request, limit }, name => isWanted(name) && !seen.has(name))
}

/** Reads datapoints, yielding to other requests in between. */
const eachPoint = async (
  store: GeoStore,
  { filter, signal }: { readonly filter: GeoFilter; readonly signal: AbortSignal | undefined },
  add: (point: Datapoint) => number,
): Promise<void> => {
  let entered = 0
  for await (const points of store.read({ filter, signal }))
    for (const point of points) {
      entered += add(point)
      if (entered < perTurn) continue
      entered = 0
      await nextTurn()
      signal?.throwIfAborted()
    }
}

/** Properties that are not numeric may be objects: datapoints that have such values are read. */
async function* objectBins(
  store: GeoStore,
  { streams, properties }: SensorPart,
  request: BinQuery & { readonly limit: BinLimit },
  isWanted: (name: string) => boolean,
): AsyncGenerator<Entries, void, undefined> {
  const names = [...properties].filter(isWanted)
  const filter = { ...request.filter, streams }
  for (let at = 0; at < names.length; at += maxAlternatives) {
    const some = new Set(names.slice(at, at + maxAlternatives))
    // Attributes are alternatives: if the query has its own, all its datapoints are read.
    const attributes = filter.attributes ?? [...some].map(key => ({ key, contains: {} }))
    const raw = new RawEntries(request, request.limit)
    const query = { filter: { ...filter, attributes }, signal: request.signal }
    await eachPoint(store, query, point => raw.addObjects(point, name => some.has(name)))
    yield* ordered(raw, false)
    raw.release()
  }
}

function* ordered(raw: RawEntries, isRaw: boolean): Iterable<Entries> {
  for (const [property, entries] of raw.all(isRaw)) {
    const sorted = entries.toSorted(order)
    for (let at = 0; at < sorted.length; at += batchSize) yield { property, entries: sorted.slice(at, at + batchSize) }
  }
}
