import type { Json } from '../ports/document-store.ts'
import type { Datapoint, GeoBin, GeoBinning } from '../ports/geo-store.ts'
import { altitudeOf } from './geometry.ts'
import { BinLimit, spansOf } from './time-bins.ts'

type Growing = { -readonly [K in keyof GeoBin]: GeoBin[K] }

/** Aggregates the matching datapoints, in the order of `GeoStore.bins`. */
export const binned = (points: readonly Datapoint[], binning: GeoBinning): readonly GeoBin[] => {
  const found = new Map<string, Growing>()
  const limit = new BinLimit()
  for (const point of points) for (const bin of binsOf(point, binning, limit)) add(found, bin, binning.time === 'all')
  return [...found.values()].sort(compare)
}

function* binsOf({ stream, startMs, endMs, geometry, properties }: Datapoint, binning: GeoBinning, limit: BinLimit): Iterable<Growing> {
  const { time, depthMetres, groupBy = [] } = binning
  const depth = depthMetres === undefined ? null : depthMetres * Math.ceil(altitudeOf(geometry) / depthMetres) + 0
  const group = groupBy.map(name => textOf(Object.hasOwn(properties, name) ? properties[name] : undefined))
  const wanted = binning.properties && new Set(binning.properties)
  for (const [at, { fromMs, toMs }] of spansOf(startMs, endMs, time).entries())
    for (const [property, value] of Object.entries(properties)) {
      if (typeof value !== 'number' || wanted?.has(property) === false) continue
      if (at > 0) limit.take(1)
      yield { stream, property, fromMs, toMs, depth, group, count: 1, sum: value, min: value, max: value }
    }
}

const textOf = (value: Json | undefined): string | null => {
  if (typeof value === 'string') return value
  return typeof value === 'number' || typeof value === 'boolean' ? JSON.stringify(value) : null
}

const add = (found: Map<string, Growing>, bin: Growing, isAll: boolean): void => {
  const key = JSON.stringify([bin.stream, bin.property, isAll ? null : bin.fromMs, bin.depth, bin.group])
  const known = found.get(key)
  if (!known) {
    found.set(key, bin)
    return
  }
  known.fromMs = Math.min(known.fromMs, bin.fromMs)
  known.toMs = Math.max(known.toMs, bin.toMs)
  known.count += 1
  known.sum += bin.sum
  known.min = Math.min(known.min, bin.min)
  known.max = Math.max(known.max, bin.max)
}

/** Null first, then strings by code point. */
const compareTexts = (one: string | null, other: string | null): number => {
  if (one === null || other === null) return Number(one !== null) - Number(other !== null)
  return Buffer.compare(Buffer.from(one), Buffer.from(other))
}

const compare = (one: GeoBin, other: GeoBin): number => {
  const groups = one.group.map((text, at) => compareTexts(text, other.group[at] ?? null)).find(order => order !== 0)
  return (
    one.stream - other.stream ||
    compareTexts(one.property, other.property) ||
    one.fromMs - other.fromMs ||
    (one.depth ?? 0) - (other.depth ?? 0) ||
    (groups ?? 0)
  )
}
