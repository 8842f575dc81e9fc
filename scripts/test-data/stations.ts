import type { Json } from 'pounce/sdk'
import type { Datapoint, Geometry, GeoPosition } from 'pounce/sdk/geo'
import { type Ending, kindAt, kinds, type StreamPlan } from './station-kinds.ts'
import { type Region, regions, type Water, waters } from './station-places.ts'
import { chance, rounded, type Signal, type Site, valueAt, wander } from './station-signals.ts'

type Properties = Readonly<Record<string, Json>>

/** A stream of a station. */
export interface StationStream {
  /** Starts at 1, across all stations. */
  readonly number: number
  /** The number of its station. */
  readonly station: number
  readonly name: string
  readonly geometry: Geometry
  readonly properties: Properties
  /** Names of the parameters; some datapoints omit a parameter, or have null or a string instead of a number. */
  readonly parameters: readonly string[]
  readonly isMoving: boolean
  /** Altitudes in metres of a profile, one datapoint each per time; empty if it is not a profile. */
  readonly levels: readonly number[]
  /** Interval between two times, except for gaps. */
  readonly everyMs: number
  readonly ending: Ending
  /** The id of its first datapoint; ids are consecutive by time, then level. */
  readonly firstId: number
  readonly count: number
}

/** A station in Clowder v1's format. */
export interface Station {
  /** Starts at 1. */
  readonly number: number
  readonly name: string
  readonly geometry: { readonly type: 'Point'; readonly coordinates: GeoPosition }
  /** The filter `sources` matches `type.id`. */
  readonly properties: Properties & {
    readonly region: string
    readonly type: { readonly id: string; readonly title: string; readonly sensorType: number }
  }
  readonly streams: readonly StationStream[]
}

/** The number of stations and the density of their data. */
export interface StationChoice {
  /** The seed of the generator; 2021 by default. */
  readonly seed?: number
  /** 200 by default. */
  readonly stations?: number
  /** The approximate total number of datapoints, within 1 % from 10^5 on; 10^5 by default. */
  readonly points?: number
  /** Instead of `points`: minutes between readings of the fastest streams. Others are 2 to 8 times slower. */
  readonly everyMinutes?: number
}

/** Stations with their data; datapoints are generated lazily. */
export interface StationData {
  readonly stations: readonly Station[]
  readonly streams: readonly StationStream[]
  /** The total number of datapoints. */
  readonly count: number
  /** All datapoints, ordered by stream, or by month and then stream, as loggers send them. The datapoints are the same. */
  points(by?: 'stream' | 'month'): Generator<Datapoint, void>
  /** The datapoints of one stream, in order of time. */
  pointsOf(stream: number): Generator<Datapoint, void>
}

/** The time range, end exclusive: 2021 to 2025. */
export const [stationsFromMs, stationsToMs] = [Date.UTC(2021, 0, 1), Date.UTC(2026, 0, 1)]
const dayMs = 86_400_000

/** An uninterrupted series of times. */
interface Run {
  readonly firstStep: number
  readonly steps: number
  /** The index of its first datapoint within the stream. */
  readonly firstIndex: number
}

/** The input for generating the datapoints of a stream. */
interface Source extends StationStream {
  readonly plan: StreamPlan
  readonly site: Site
  readonly altitude: number
  readonly water: Water | undefined
  readonly runs: readonly Run[]
}

/**
 * A realistic network: 200 stations (stream gauges, weather stations, soil plots, lake profilers, drifting buoys, ferries) in twelve catchments and
 * four bodies of water, from 2021 to 2025. They have one to four streams of two to four parameters, with annual and daily cycles and the weather
 * of their catchment. Streams start late, end early and have gaps; some values are missing, null, a string (`ND`, `<LOD`, `ice`) or outliers.
 * Buoys and ferries move; profiles have a datapoint per level (altitude below 0); soil plots are polygons, transects of ferries are lines. One
 * catchment crosses the antimeridian.
 *
 * The same options always give the same datapoints with the same ids. A datapoint depends only on its stream and its index therein, so expected
 * results can be computed by iterating over `points()`. The numbers of stations and streams are local to this data; a server assigns its own ids
 * to the requests of `station-bodies.ts`.
 */
export const stationData = ({ seed = 2021, stations: many = 200, points = 100_000, everyMinutes }: StationChoice = {}): StationData => {
  const made = Array.from({ length: many }, (_, at) => stationOf(seed, at + 1))
  const weight = made.reduce((sum, { runs }) => sum + runs.reduce((inner, one) => inner + one.weightMs, 0), 0)
  const baseMs = everyMinutes === undefined ? Math.max(1, Math.round(weight / points / 1000)) * 1000 : everyMinutes * 60_000
  let [number, firstId] = [0, 1]
  const sources: Source[] = []
  const stations = made.map(({ station, runs }): Station => {
    const own = runs.map(({ upTimes, ...rest }): Source => {
      number += 1
      const everyMs = baseMs * rest.plan.pace
      const steps = runsOf(upTimes, everyMs, Math.max(1, rest.levels.length))
      const last = steps.at(-1)
      const count = last ? last.firstIndex + last.steps * Math.max(1, rest.levels.length) : 0
      const source = { ...rest, number, everyMs, runs: steps, firstId, count }
      firstId += count
      return source
    })
    sources.push(...own)
    return { ...station, streams: own.map(asStream) }
  })
  return {
    stations,
    streams: stations.flatMap(({ streams }) => streams),
    count: firstId - 1,
    points: (by = 'stream') => (by === 'stream' ? allOf(sources) : byMonth(sources)),
    pointsOf: stream => allOf(sources.filter(one => one.number === stream)),
  }
}

const asStream = ({ plan: _plan, site: _site, altitude: _altitude, water: _water, runs: _runs, ...stream }: Source): StationStream => stream

type Draft = Omit<Source, 'number' | 'everyMs' | 'runs' | 'firstId' | 'count'> & {
  readonly upTimes: readonly (readonly [fromMs: number, toMs: number])[]
  /** Number of datapoints times the milliseconds between them. */
  readonly weightMs: number
}

const stationOf = (seed: number, number: number): { readonly station: Omit<Station, 'streams'>; readonly runs: readonly Draft[] } => {
  const own = seed * 1009 + number * 7919
  const draw = (what: number): number => chance(own, what)
  const kind = kindAt((number * 73) % 200)
  const region = regions[number % regions.length] as Region
  const water = kind.isAfloat ? (waters[number % waters.length] as Water) : undefined
  const [west, south, east, north] = region.boxes[Math.floor(draw(1) * region.boxes.length)] as Region['boxes'][number]
  const [start] = water?.way ?? []
  const longitude = rounded(start?.[0] ?? west + draw(2) * (east - west), 5)
  const latitude = rounded(start?.[1] ?? south + draw(3) * (north - south), 5)
  const altitude = rounded(water?.altitude ?? region.altitude[0] + draw(4) * (region.altitude[1] - region.altitude[0]), 1)
  const place = water ?? region
  const geometry = { type: 'Point' as const, coordinates: [longitude, latitude, altitude] }
  const site: Site = {
    warmth: place.warmth + draw(5) - altitude / 400,
    longitude,
    latitude,
    bias: 0.7 + 0.6 * draw(6),
    seed: own,
    weatherSeed: seed + [...regions, ...waters].indexOf(place),
  }
  const properties = {
    name: `${place.title} ${number}`,
    popupContent: `${kind.title} ${number}, ${place.title}`,
    region: place.id,
    type: { id: kind.source, title: kind.title, sensorType: kinds.indexOf(kind) + 1 },
    online_status: draw(7) < 0.9 ? 'online' : 'offline',
    huc: { huc4: 100 + (number % 12), huc8: 1000 + number },
  }
  const plans = kind.streams.slice(0, 1 + Math.floor(draw(8) * kind.streams.length))
  const runs = plans.map((plan, at): Draft => {
    const upTimes = upTimesOf(own + 31 * (at + 1))
    const levels = plan.levels ?? []
    const upMs = upTimes.reduce((sum, [from, to]) => sum + to - from, 0)
    return {
      ...{
        station: number,
        name: `${properties.name} ${plan.name}`,
        geometry,
        levels,
        ending: plan.ending,
        plan,
        altitude,
        water,
        upTimes,
      },
      properties: { popupContent: `${plan.name} of ${properties.name}`, type: properties.type },
      parameters: plan.signals.map(({ name }) => name),
      isMoving: water !== undefined,
      site: { ...site, seed: own + 17 * (at + 1) },
      weightMs: (upMs * Math.max(1, levels.length)) / plan.pace,
    }
  })
  return { station: { number, name: properties.name, geometry, properties }, runs }
}

/** The periods in which a stream has data: some start late or end early, most have up to three gaps. */
const upTimesOf = (seed: number): readonly (readonly [fromMs: number, toMs: number])[] => {
  const begin = stationsFromMs + (chance(seed, 0) < 0.15 ? Math.floor(chance(seed, 1) * 700) * dayMs : 0)
  const end = stationsToMs - (chance(seed, 2) < 0.1 ? Math.floor(chance(seed, 3) * 500) * dayMs : 0)
  const gaps = Array.from({ length: Math.floor(chance(seed, 4) * 4) }, (_, at) => {
    const from = stationsFromMs + Math.floor(chance(seed, 5 + 2 * at) * 1800) * dayMs
    return [from, from + (3 + Math.floor(chance(seed, 6 + 2 * at) * 57)) * dayMs] as const
  }).sort(([one], [other]) => one - other)
  const up: (readonly [number, number])[] = []
  let from = begin
  for (const [broken, mended] of [...gaps, [end, end] as const]) {
    if (broken > from) up.push([from, Math.min(broken, end)])
    from = Math.max(from, mended)
  }
  return up.filter(([one, other]) => other > one)
}

const runsOf = (upTimes: Draft['upTimes'], everyMs: number, levels: number): readonly Run[] => {
  let firstIndex = 0
  return upTimes.flatMap(([fromMs, toMs]) => {
    const firstStep = Math.ceil((fromMs - stationsFromMs) / everyMs)
    const steps = Math.ceil((toMs - stationsFromMs) / everyMs) - firstStep
    const run = { firstStep, steps, firstIndex }
    firstIndex += steps * levels
    return steps > 0 ? [run] : []
  })
}

function* allOf(sources: readonly Source[]): Generator<Datapoint, void> {
  for (const source of sources) yield* between(source, stationsFromMs, stationsToMs)
}

function* byMonth(sources: readonly Source[]): Generator<Datapoint, void> {
  for (let month = 0; month < 60; month += 1)
    for (const source of sources) yield* between(source, Date.UTC(2021, month, 1), Date.UTC(2021, month + 1, 1))
}

function* between(source: Source, fromMs: number, toMs: number): Generator<Datapoint, void> {
  const levels = Math.max(1, source.levels.length)
  const [least, most] = [fromMs, toMs].map(ms => Math.ceil((ms - stationsFromMs) / source.everyMs)) as [number, number]
  for (const { firstStep, steps, firstIndex } of source.runs)
    for (let step = Math.max(least, firstStep); step < Math.min(most, firstStep + steps); step += 1)
      for (let level = 0; level < levels; level += 1) yield pointOf(source, step, firstIndex + (step - firstStep) * levels + level)
}

const pointOf = (source: Source, step: number, index: number): Datapoint => {
  const { site, everyMs, ending, plan, levels, firstId } = source
  // Samples are taken at irregular times.
  const late = plan.extra === 'lab' ? Math.floor(chance(site.seed + 5, step) * Math.min(everyMs / 2, dayMs / 3) * 1e-3) * 1000 : 0
  const startMs = stationsFromMs + step * everyMs + late
  const endMs = ending === 'open' ? null : ending === 'span' ? startMs + everyMs : startMs
  const level = levels[index % levels.length]
  return {
    id: firstId + index,
    stream: source.number,
    startMs,
    endMs,
    createdMs: startMs + 3_600_000,
    geometry: shapeAt(source, startMs, level),
    properties: { ...extrasOf(plan, site, index, level), ...valuesAt(plan.signals, site, startMs, index) },
  }
}

const flags = ['ND', '<LOD', 'ice', 'M']

const valuesAt = (signals: readonly Signal[], site: Site, ms: number, index: number): Record<string, Json> => {
  const values: Record<string, Json> = {}
  for (const [at, one] of signals.entries()) {
    const luck = chance(site.seed + 101 * (at + 1), index)
    if (luck < 0.005) continue
    const value = valueAt(one, { ...site, seed: site.seed + at }, ms, index)
    if (luck < 0.012) values[one.name] = null
    else if (luck < 0.02) values[one.name] = flags[Math.floor(luck * 1e5) % flags.length] ?? null
    else if (luck < 0.0215) values[one.name] = rounded(one.most * 10, one.decimals)
    else values[one.name] = value
  }
  return values
}

const extrasOf = ({ extra }: StreamPlan, site: Site, index: number, level: number | undefined): Properties => {
  const draw = chance(site.seed + 7, index)
  if (extra === 'quality') return { quality: draw < 0.8 ? 'A' : draw < 0.95 ? 'B' : 'C' }
  if (extra === 'depth') return { DEPTH_CODE: (level ?? 0) > -1 ? 'surface' : (level ?? 0) > -8 ? 'middle' : 'bottom' }
  if (extra === 'lab')
    return { site: { bank: draw < 0.5 ? 'left' : 'right', code: `A${Math.floor(draw * 3)}` }, lab: { method: 'IC', batch: index >> 4 } }
  return {}
}

const shapeAt = (source: Source, ms: number, level: number | undefined): Geometry => {
  const { site, altitude, water, plan, everyMs } = source
  const { longitude, latitude } = site
  if (water && plan.shape === 'track')
    return {
      type: 'LineString',
      coordinates: [0, 0.1, 0.2].map(share => [...placeOn(source, water, ms + share * Math.min(everyMs, dayMs / 4)), altitude]),
    }
  if (water) return { type: 'Point', coordinates: [...placeOn(source, water, ms), altitude] }
  if (plan.shape === 'plot') return { type: 'Polygon', coordinates: [plotAround(longitude, latitude)] }
  return level === undefined
    ? { type: 'Point', coordinates: [longitude, latitude, altitude] }
    : { type: 'Point', coordinates: [longitude, latitude, level] }
}

/** A square of about ten metres in each direction. */
const plotAround = (longitude: number, latitude: number): GeoPosition[] =>
  [
    [0, 0],
    [1, 0],
    [1, 1],
    [0, 1],
    [0, 0],
  ].map(([x = 0, y = 0]) => [rounded(longitude + x * 1e-4, 5), rounded(latitude + y * 1e-4, 5)])

/** Ferries go back and forth within a day; buoys drift around a point on the path. */
const placeOn = ({ plan, site }: Source, { way }: Water, ms: number): [number, number] => {
  const isDrifting = plan.name === 'water'
  const days = ms / dayMs
  const share = isDrifting ? 0.5 + 0.4 * wander(site.seed + 3, days / 40) : Math.abs(((days + site.bias) % 1) * 2 - 1)
  const along = share * (way.length - 1)
  const [from, to] = [way[Math.floor(along)], way[Math.min(way.length - 1, Math.floor(along) + 1)]] as [
    readonly [number, number],
    readonly [number, number],
  ]
  const part = along - Math.floor(along)
  const drift = isDrifting ? 0.02 : 0.002
  return [
    rounded(from[0] + (to[0] - from[0]) * part + drift * wander(site.seed + 11, days / 3), 5),
    rounded(from[1] + (to[1] - from[1]) * part + drift * wander(site.seed + 13, days / 3), 5),
  ]
}
