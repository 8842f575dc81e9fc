import type { GeoAfter, GeoArea, GeoFilter, GeoSort } from 'pounce/sdk/geo'
import { boxesAcross, boxesAroundPolygon, type GeoBox } from 'pounce/sdk/geo'
import type { Connection } from 'pounce/sdk/sqlite'
import { ConcatSource, MergeSource } from './joined-sources.ts'
import type { ChosenPlaces, PlaceCache, ShapeCache } from './place-cache.ts'
import {
  HitsSource,
  keyCost,
  PickingSource,
  type PointSource,
  rowTest,
  type ScanContext,
  ScanSource,
  type StartRange,
  seekCost,
  streamOf,
} from './scans.ts'
import { maxWindowedStreams, WindowSource } from './window-source.ts'

/** Fewer metres than a degree of latitude has anywhere. */
const degreeMetres = 111_000

const circleBoxes = ({ longitude, latitude, radiusMetres }: Extract<GeoArea, { circle: object }>['circle']): readonly GeoBox[] => {
  const high = radiusMetres / degreeMetres + 0.001
  const [south, north] = [latitude - high, latitude + high]
  // A circle around a pole includes every longitude.
  if (south <= -89 || north >= 89) return [[-180, Math.max(-90, south), 180, Math.min(90, north)]]
  const wide = high / Math.cos((Math.max(Math.abs(south), Math.abs(north)) * Math.PI) / 180)
  if (wide >= 180) return [[-180, south, 180, north]]
  const [west, east] = [longitude - wide, longitude + wide]
  if (west < -180) return boxesAcross([west + 360, south, east, north])
  return east > 180 ? boxesAcross([west, south, east - 360, north]) : [[west, south, east, north]]
}

/** Boxes that do not cross the antimeridian and contain the whole area. */
export const boxesOf = (area: GeoArea): readonly GeoBox[] => {
  if ('circle' in area) return circleBoxes(area.circle)
  if ('polygon' in area) return boxesAroundPolygon(area.polygon)
  return boxesAcross(area.box)
}

/** Thrown where a query may take longer than other users of this thread should wait. */
export class QueryTooLong extends Error {}

/** Limits per query. Reader threads are only limited by memory. */
export interface ScanLimits {
  /** Maximum comparisons of positions. */
  readonly compared: number
  /** Maximum number of moving streams. */
  readonly moving: number
  /** Maximum points found by the R*Tree; with more of them, the moving streams are scanned. */
  readonly hits: number
  readonly isFinal: boolean
}

const dayMs = 86_400_000

const [firstMs, lastMs] = [-62_135_596_800_000, 253_402_300_799_999]

/** The candidate rows of a filter, and the conditions to check. */
export interface ScanPlan {
  /** Streams whose rows are candidates; undefined: those of all streams. */
  readonly streams: ReadonlySet<number> | undefined
  /** Rows of other streams found by the R*Tree, unordered. */
  readonly hits: readonly GeoAfter[]
  readonly places: PlaceCache
  /** Number of streams. */
  readonly all: number
  readonly fromMs: number
  readonly untilMs: number
  /** True when every row of the streams between these starts matches. */
  readonly isWhole: boolean
  readonly reading: ScanContext
}

export interface Known {
  readonly db: Connection
  readonly shapes: ShapeCache
  readonly places: PlaceCache
}

/** Selects streams by their places first; other points are found in the R*Tree, or by scanning their streams where it finds too many. */
export const planFor = (known: Known, filter: GeoFilter, bounds: ScanLimits): ScanPlan => {
  const { db, shapes, places } = known
  const { fromMs = firstMs, beforeMs = lastMs + 1, areas } = filter
  const untilMs = Math.min(beforeMs - 1, filter.untilMs ?? lastMs)
  if (areas && places.costOf(areas) > bounds.compared) throw new QueryTooLong()
  const wanted = filter.streams && new Set(filter.streams)
  const chosen = areas && places.choose(areas)
  const isOpen = ({ stream }: MovingStream): boolean => !chosen?.streams.has(stream) && wanted?.has(stream) !== false
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

interface MovingStream {
  readonly stream: number
  readonly count: number
}

/** Streams with points that have their own geometries near these areas. */
const movingStreams = (db: Connection, areas: readonly GeoArea[], bounds: ScanLimits): readonly MovingStream[] => {
  const maxHits = bounds.isFinal ? -1 : bounds.moving + 1
  const rows = db.all(
    'SELECT stream, count, west, south, east, north FROM streams INDEXED BY moving_streams WHERE moving > 0 LIMIT ?',
    maxHits,
  )
  if (!bounds.isFinal && rows.length > bounds.moving) throw new QueryTooLong()
  const boxes = areas.flatMap(boxesOf)
  return rows.flatMap(row => {
    const [stream, count, west, south, east, north] = row as [number, number, number, number, number, number]
    return boxes.some(box => west <= box[2] && east >= box[0] && south <= box[3] && north >= box[1]) ? [{ stream, count }] : []
  })
}

/** Fewer rows are scanned without the R*Tree. */
const maxScannedRows = 1000

/** Cost of finding a row by its key, relative to scanning it. */
const hitShare = 1 / 5

/**
 * The rows found by the R*Tree; undefined when scanning the streams costs less. It holds 32-bit floats rounded outwards, so all results are
 * checked again.
 */
const hitsIn = (
  db: Connection,
  areas: readonly GeoArea[],
  moving: readonly MovingStream[],
  { fromMs, untilMs }: { readonly fromMs: number; readonly untilMs: number },
  bounds: ScanLimits,
): readonly GeoAfter[] | undefined => {
  const rows = moving.reduce((sum, { count }) => sum + count, 0)
  if (rows <= maxScannedRows) return undefined
  const maxHits = Math.min(bounds.hits, Math.ceil(rows * hitShare))
  const streams = new Set(moving.map(({ stream }) => stream))
  const hits = new Map<number, GeoAfter>()
  for (const [west, south, east, north] of areas.flatMap(boxesOf)) {
    let seen = 0
    db.each(
      `SELECT each_row(id, stream, start) FROM (SELECT id, stream, start FROM moving
        WHERE west <= ? AND east >= ? AND south <= ? AND north >= ? AND from_day <= ? AND to_day >= ? LIMIT ?)`,
      [east, west, north, south, untilMs / dayMs + 1, fromMs / dayMs - 1, maxHits + 1],
      ([id, stream, startMs]) => {
        seen += 1
        const isWanted = streams.has(stream as number) && (startMs as number) >= fromMs && (startMs as number) <= untilMs
        if (isWanted) hits.set(id as number, { id: id as number, stream: stream as number, startMs: startMs as number })
        return true
      },
    )
    // Where there are many, a scan soon finds some; if not, it takes too long, and a thread will request more hits.
    if (seen > maxHits) return undefined
  }
  return [...hits.values()]
}

/** What is requested of the rows of a plan. */
interface ScanRequest {
  readonly sort: GeoSort
  readonly after: GeoAfter | undefined
  readonly limit: number
  /** Some milliseconds more are better than a scan of all rows when few match. */
  readonly isPatient: boolean
}

/** More are not merged: each buffers rows in memory. */
const maxMerged = 2000

/** For callers that want all rows. */
export const manyRows = 1_000_000_000

const compare = (one: GeoAfter, other: GeoAfter): number => one.startMs - other.startMs || one.id - other.id

/** The access path to the rows of a plan, in order, that probably reads the fewest. */
export const sourceFor = (plan: ScanPlan, { sort, after, limit, isPatient }: ScanRequest): PointSource => {
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
  if (streams === undefined) return scanOf(reading, range, all, limit)
  const sources = isMerged(streams.size, all, limit, isPatient)
    ? [...streams].map(stream => new ScanSource(reading, range, stream))
    : [walkFor(reading, streams, all, range, limit)]
  if (hits.length > 0) sources.push(new HitsSource(reading, hitsAlong(hits, range)))
  const [only, ...more] = sources
  return only && more.length === 0 ? only : new MergeSource(sources, range.isDescending, limit)
}

/** Merging seeks in each stream and reads a few of its rows; scanning reads keys of all streams, and then each requested row. */
const isMerged = (count: number, all: number, limit: number, isPatient: boolean): boolean => {
  if (count > maxMerged || (limit >= manyRows && count > all / 2)) return false
  return isPatient || count * (2 * seekCost) < limit * (seekCost + (keyCost * all) / count)
}

const walkFor = (reading: ScanContext, streams: ReadonlySet<number>, all: number, range: StartRange, limit: number): PointSource => {
  if (streams.size <= all / 2) return new PickingSource(reading, range, streams)
  return scanOf({ ...reading, test: row => streams.has(streamOf(row)) && reading.test(row) }, range, all, limit)
}

/** The rows of all streams. */
const scanOf = (reading: ScanContext, range: StartRange, all: number, limit: number): PointSource =>
  limit >= manyRows && all <= maxWindowedStreams ? new WindowSource(reading, range) : new ScanSource(reading, range)

const byStream = (plan: ScanPlan, range: StartRange): PointSource => {
  const { isDescending, after } = range
  const isAhead = ({ stream }: StreamRows): boolean => !after || (isDescending ? stream <= after.stream : stream >= after.stream)
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

/** How to read the rows of one stream, as often as needed. */
export interface StreamRows {
  readonly stream: number
  rows(range: StartRange): PointSource
}

/** The streams of a plan by number. */
export function* perStream({ streams, hits, reading, places }: ScanPlan): Generator<StreamRows> {
  const hitsOf = Map.groupBy(hits, ({ stream }) => stream)
  for (const stream of Float64Array.from([...(streams ?? places.streams), ...hitsOf.keys()]).sort()) {
    const found = hitsOf.get(stream)
    const rows = (range: StartRange): PointSource =>
      found ? new HitsSource(reading, hitsAlong(found, range)) : new ScanSource(reading, range, stream)
    yield { stream, rows }
  }
}
