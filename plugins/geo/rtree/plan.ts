import type { GeoAfter, GeoArea, GeoFilter, GeoSort } from 'pounce/sdk/geo'
import { boxAround, boxesAcross, type GeoBox } from 'pounce/sdk/geo'
import type { Connection } from 'pounce/sdk/sqlite'
import { ConcatSource, MergeSource } from './joined-sources.ts'
import type { ChosenPlaces, PlaceCache, ShapeCache } from './place-cache.ts'
import {
  HitsSource,
  keyEffort,
  PickingSource,
  type PointSource,
  rowTest,
  type ScanContext,
  ScanSource,
  type StartRange,
  seekEffort,
  streamOf,
} from './scans.ts'

/** Less than a degree of latitude is long anywhere, in metres. */
const degreeMetres = 111_000

const circleBoxes = ({ longitude, latitude, radiusMetres }: Extract<GeoArea, { circle: object }>['circle']): readonly GeoBox[] => {
  const high = radiusMetres / degreeMetres + 0.001
  const [south, north] = [latitude - high, latitude + high]
  // A circle around a pole reaches every longitude.
  if (south <= -89 || north >= 89) return [[-180, Math.max(-90, south), 180, Math.min(90, north)]]
  const wide = high / Math.cos((Math.max(Math.abs(south), Math.abs(north)) * Math.PI) / 180)
  if (wide >= 180) return [[-180, south, 180, north]]
  const [west, east] = [longitude - wide, longitude + wide]
  if (west < -180) return boxesAcross([west + 360, south, east, north])
  return east > 180 ? boxesAcross([west, south, east - 360, north]) : [[west, south, east, north]]
}

/** Boxes that do not cross the antimeridian and hold the whole area. */
export const boxesOf = (area: GeoArea): readonly GeoBox[] => {
  if ('circle' in area) return circleBoxes(area.circle)
  if ('polygon' in area) return [boxAround(area.polygon.flat())]
  return boxesAcross(area.box)
}

/** Thrown where a query may take longer than anyone who else waits for this thread should wait. */
export class QueryTooLong extends Error {}

/** How much may be done at once. Threads have no bounds but for what must fit into memory. */
export interface ScanLimits {
  /** Positions compared with positions. */
  readonly compared: number
  /** Streams that move. */
  readonly moving: number
  /** Points that the R*Tree may find; with more of them the streams that move are walked. */
  readonly hits: number
  readonly isFinal: boolean
}

const dayMs = 86_400_000

const [firstMs, lastMs] = [-62_135_596_800_000, 253_402_300_799_999]

/** Which rows have to be looked at for a filter, and what to look for. */
export interface ScanPlan {
  /** Streams whose rows are looked at; undefined: those of all streams. */
  readonly streams: ReadonlySet<number> | undefined
  /** Rows of other streams that the R*Tree found, in no order. */
  readonly hits: readonly GeoAfter[]
  readonly places: PlaceCache
  /** How many streams there are. */
  readonly all: number
  readonly fromMs: number
  readonly untilMs: number
  /** True when every row of the streams between these starts fits. */
  readonly isWhole: boolean
  readonly reading: ScanContext
}

export interface Known {
  readonly db: Connection
  readonly shapes: ShapeCache
  readonly places: PlaceCache
}

/** Chooses streams by their places first; whatever moves on is found in the R*Tree, or by walking its stream where that finds too much. */
export const planFor = (known: Known, filter: GeoFilter, bounds: ScanLimits): ScanPlan => {
  const { db, shapes, places } = known
  const { fromMs = firstMs, beforeMs = lastMs + 1, areas } = filter
  const untilMs = Math.min(beforeMs - 1, filter.untilMs ?? lastMs)
  if (areas && places.effortOf(areas) > bounds.compared) throw new QueryTooLong()
  const wanted = filter.streams && new Set(filter.streams)
  const chosen = areas && places.choose(areas)
  const isOpen = ({ stream }: Moving): boolean => !chosen?.streams.has(stream) && wanted?.has(stream) !== false
  const moving = areas ? movingStreams(db, areas, bounds).filter(isOpen) : []
  const hits = areas && moving.length > 0 ? hitsIn(db, areas, moving, { fromMs, untilMs }, bounds) : []
  const walked = hits ? [] : moving.map(({ stream }) => stream)
  const streams = streamsOf(wanted, chosen, walked, places)
  return {
    streams,
    hits: hits ?? [],
    places,
    all: places.streams.size,
    fromMs,
    untilMs,
    isWhole: !(filter.untilMs !== undefined || filter.months || filter.attributes || areas),
    reading: { db, shapes, test: rowTest({ filter, places: chosen?.places }, shapes) },
  }
}

const streamsOf = (
  wanted: ReadonlySet<number> | undefined,
  chosen: ChosenPlaces | undefined,
  moving: readonly number[],
  places: PlaceCache,
): ReadonlySet<number> | undefined => {
  if (!chosen) return wanted && new Set([...wanted].filter(stream => places.streams.has(stream)))
  if (chosen.isAll && !wanted) return undefined
  if (!wanted && moving.length === 0) return chosen.streams
  const streams = wanted ? [...wanted].filter(stream => chosen.streams.has(stream)) : chosen.streams
  const all = new Set([...streams, ...moving])
  return all.size === places.streams.size && !wanted ? undefined : all
}

interface Moving {
  readonly stream: number
  readonly count: number
}

/** Streams with points that have geometries of their own near these areas. */
const movingStreams = (db: Connection, areas: readonly GeoArea[], bounds: ScanLimits): readonly Moving[] => {
  const most = bounds.isFinal ? -1 : bounds.moving + 1
  const rows = db.all(
    'SELECT stream, count, west, south, east, north FROM streams INDEXED BY moving_streams WHERE moving > 0 LIMIT ?',
    most,
  )
  if (!bounds.isFinal && rows.length > bounds.moving) throw new QueryTooLong()
  const boxes = areas.flatMap(boxesOf)
  return rows.flatMap(row => {
    const [stream, count, west, south, east, north] = row as [number, number, number, number, number, number]
    return boxes.some(box => west <= box[2] && east >= box[0] && south <= box[3] && north >= box[1]) ? [{ stream, count }] : []
  })
}

/** Fewer rows are scanned without the R*Tree. */
const fewRows = 1000

/** Finding a row by its key, against walking over it. */
const hitShare = 1 / 5

/**
 * What the R*Tree finds; undefined when walking through the streams costs less. It holds 32-bit floats that are rounded outwards, so all of it is
 * looked at again.
 */
const hitsIn = (
  db: Connection,
  areas: readonly GeoArea[],
  moving: readonly Moving[],
  { fromMs, untilMs }: { readonly fromMs: number; readonly untilMs: number },
  bounds: ScanLimits,
): readonly GeoAfter[] | undefined => {
  const rows = moving.reduce((sum, { count }) => sum + count, 0)
  if (rows <= fewRows) return undefined
  const most = Math.min(bounds.hits, Math.ceil(rows * hitShare))
  const streams = new Set(moving.map(({ stream }) => stream))
  const hits = new Map<number, GeoAfter>()
  for (const [west, south, east, north] of areas.flatMap(boxesOf)) {
    let seen = 0
    db.each(
      `SELECT each_row(id, stream, start) FROM (SELECT id, stream, start FROM moving
        WHERE west <= ? AND east >= ? AND south <= ? AND north >= ? AND from_day <= ? AND to_day >= ? LIMIT ?)`,
      [east, west, north, south, untilMs / dayMs + 1, fromMs / dayMs - 1, most + 1],
      ([id, stream, startMs]) => {
        seen += 1
        const isWanted = streams.has(stream as number) && (startMs as number) >= fromMs && (startMs as number) <= untilMs
        if (isWanted) hits.set(id as number, { id: id as number, stream: stream as number, startMs: startMs as number })
        return true
      },
    )
    // Where there are many a walk soon meets some; if not, it takes too long, and a thread will request more hits.
    if (seen > most) return undefined
  }
  return [...hits.values()]
}

/** What is wanted of the rows of a plan. */
interface Wanted {
  readonly sort: GeoSort
  readonly after: GeoAfter | undefined
  readonly limit: number
  /** Rather some milliseconds more than a walk through all rows when there are few that fit. */
  readonly isPatient: boolean
}

/** More are not merged: each keeps rows in memory. */
const mostMerged = 2000

/** Of anyone who wants all rows. */
export const manyRows = 1_000_000_000

const compare = (one: GeoAfter, other: GeoAfter): number => one.startMs - other.startMs || one.id - other.id

/** The way to the rows of a plan, in order, that probably looks at the fewest. */
export const sourceFor = (plan: ScanPlan, { sort, after, limit, isPatient }: Wanted): PointSource => {
  const isDescending = sort.order === 'descending'
  const range: StartRange = { isDescending, fromMs: plan.fromMs, untilMs: plan.untilMs, after }
  return sort.by === 'stream' ? byStream(plan, range) : byStart(plan, range, limit, isPatient)
}

const hitsAlong = (hits: readonly GeoAfter[], { isDescending, after }: StartRange): readonly GeoAfter[] => {
  const sign = isDescending ? -1 : 1
  const left = after ? hits.filter(hit => sign * compare(hit, after) > 0) : [...hits]
  return left.toSorted((one, other) => sign * compare(one, other))
}

const byStart = (plan: ScanPlan, range: StartRange, limit: number, isPatient: boolean): PointSource => {
  const { streams, hits, all, reading } = plan
  if (streams === undefined) return new ScanSource(reading, range)
  const sources = isMerged(streams.size, all, limit, isPatient)
    ? [...streams].map(stream => new ScanSource(reading, range, stream))
    : [walkFor(reading, streams, all, range)]
  if (hits.length > 0) sources.push(new HitsSource(reading, hitsAlong(hits, range)))
  const [only, ...more] = sources
  return only && more.length === 0 ? only : new MergeSource(sources, range.isDescending, limit)
}

/** Merging seeks in each stream and reads a few rows of it; walking reads keys of all streams, and then each row that is wanted. */
const isMerged = (count: number, all: number, limit: number, isPatient: boolean): boolean => {
  if (count > mostMerged || (limit >= manyRows && count > all / 2)) return false
  return isPatient || count * (2 * seekEffort) < limit * (seekEffort + (keyEffort * all) / count)
}

const walkFor = (reading: ScanContext, streams: ReadonlySet<number>, all: number, range: StartRange): PointSource => {
  if (streams.size <= all / 2) return new PickingSource(reading, range, streams)
  return new ScanSource({ ...reading, test: row => streams.has(streamOf(row)) && reading.test(row) }, range)
}

const byStream = (plan: ScanPlan, range: StartRange): PointSource => {
  const { isDescending, after } = range
  const isAhead = ({ stream }: OfStream): boolean => !after || (isDescending ? stream <= after.stream : stream >= after.stream)
  const all = [...perStream(plan)].filter(isAhead)
  if (isDescending) all.reverse()
  return new ConcatSource(
    all.values().map(
      ({ stream, rows }) =>
        () =>
          rows({ ...range, after: stream === after?.stream ? after : undefined }),
    ),
  )
}

/** How to get the rows of one stream, as often as they are needed. */
export interface OfStream {
  readonly stream: number
  rows(range: StartRange): PointSource
}

/** The streams of a plan by their numbers. */
export function* perStream({ streams, hits, reading, places }: ScanPlan): Generator<OfStream> {
  const hitsOf = Map.groupBy(hits, ({ stream }) => stream)
  for (const stream of Float64Array.from([...(streams ?? places.streams), ...hitsOf.keys()]).sort()) {
    const found = hitsOf.get(stream)
    const rows = (range: StartRange): PointSource =>
      found ? new HitsSource(reading, hitsAlong(found, range)) : new ScanSource(reading, range, stream)
    yield { stream, rows }
  }
}
