import type { GeoAfter, Geometry, StreamStatistics } from 'pounce/sdk/geo'
import { boxAround, positionsOf } from 'pounce/sdk/geo'
import { cells, cellsEach, type PackedPoints } from './packed-points.ts'
import { PieceBuilder } from './piece-builder.ts'
import { type Known, manyRows, planFor, type ScanLimits, type ScanPlan, sourceFor } from './plan.ts'
import type { TrackBox } from './remove-points.ts'
import { at, type PointRow, type PointSource, ScanSource, type Sink } from './scans.ts'
import { staleAmong, statisticsOf } from './statistics.ts'
import { defaultSort, type FindQuery, type GeoReadRequest } from './thread-requests.ts'

/** A page of points as transferred between threads. */
export interface PackedPage {
  readonly packed: PackedPoints
  readonly next: GeoAfter | undefined
}

/** Statistics, and the boxes that were recomputed for them. */
export interface FoundStatistics {
  readonly statistics: ReadonlyMap<number, StreamStatistics>
  readonly boxes: readonly TrackBox[]
}

/** A task run in slices: it yields `undefined` to let other tasks run, anything else is a piece of the result. */
export type Slices<Piece> = Generator<Piece | undefined, void>

export const longBounds: ScanLimits = {
  compared: Number.POSITIVE_INFINITY,
  moving: Number.POSITIVE_INFINITY,
  hits: 200_000,
  isFinal: true,
}
/** Effort per slice, in rows: some milliseconds. */
export const sliceEffort = 10_000
export const pieceSize = 2000

const lastOf = ({ count, numbers }: PackedPoints): GeoAfter | undefined => {
  const cell = (of: number): number => numbers[(count - 1) * cellsEach + of] as number
  return count === 0 ? undefined : { id: cell(cells.id), stream: cell(cells.stream), startMs: cell(cells.start) }
}

/** One page. */
export function* pageSlices(
  known: Known,
  { filter, sort, after, limit }: FindQuery,
  bounds: ScanLimits,
  budget: number,
): Slices<PackedPage> {
  const plan = planFor(known, filter, bounds)
  const source = sourceFor(plan, { sort: sort ?? defaultSort, after, limit, isPatient: bounds.isFinal })
  const builder = new PieceBuilder(known.shapes, known.places, limit)
  while (!source.isDone && builder.room > 0) {
    source.fill(builder, budget)
    if (!source.isDone && builder.room > 0) yield undefined
  }
  const packed = builder.take()
  yield { packed, next: source.isDone ? undefined : lastOf(packed) }
}

/** All matching points, in pieces. */
export function* readSlices(known: Known, { filter, sort }: Extract<GeoReadRequest, { type: 'read' }>): Slices<PackedPoints> {
  const source = sourceFor(planFor(known, filter, longBounds), { sort, after: undefined, limit: manyRows, isPatient: true })
  const builder = new PieceBuilder(known.shapes, known.places, pieceSize)
  while (!source.isDone) {
    source.fill(builder, sliceEffort)
    if (builder.room === 0) yield builder.take()
    else if (!source.isDone) yield undefined
  }
  if (builder.count > 0) yield builder.take()
}

/** Rows of the plan in order of streams. */
const streamAfterStream = (plan: ScanPlan): PointSource =>
  sourceFor(plan, { sort: { by: 'stream', order: 'ascending' }, after: undefined, limit: manyRows, isPatient: true })

/** Number of matching points, up to `upTo`. */
export function* countSlices(known: Known, { filter, upTo }: Extract<GeoReadRequest, { type: 'count' }>): Slices<number> {
  const plan = planFor(known, filter, longBounds)
  if (plan.isWhole && filter.fromMs === undefined && filter.beforeMs === undefined) {
    yield Math.min(upTo, countOfStreams(known, plan.streams))
    return
  }
  let count = 0
  const sink: Sink = {
    get room() {
      return upTo - count
    },
    add: () => {
      count += 1
    },
  }
  for (const source = streamAfterStream(plan); !source.isDone && count < upTo; ) {
    source.fill(sink, sliceEffort)
    yield undefined
  }
  yield count
}

/** Number of points of these streams, or of all. */
export const countOfStreams = ({ db }: Known, streams: ReadonlySet<number> | undefined): number => {
  if (!streams) return Number(db.get('SELECT ifnull(sum(count), 0) FROM streams')?.[0])
  const sql = 'SELECT ifnull(sum(count), 0) FROM streams WHERE stream IN (SELECT value FROM json_each(?))'
  return Number(db.get(sql, JSON.stringify([...streams]))?.[0])
}

/** Statistics of streams. For streams that lost moving points, the box is recomputed from all remaining points. */
export function* statisticsSlices(known: Known, { streams }: Extract<GeoReadRequest, { type: 'statistics' }>): Slices<FoundStatistics> {
  const boxes = new Map<number, TrackBox>()
  for (const [stream, changes] of staleAmong(known.db, streams)) {
    const box = yield* movingBoxSlices(known, stream)
    if (box) boxes.set(stream, { stream, changes, box })
  }
  yield {
    statistics: statisticsOf(known, streams, new Map([...boxes].map(([stream, { box }]) => [stream, box]))),
    boxes: [...boxes.values()],
  }
}

function* movingBoxSlices({ db, shapes }: Known, stream: number): Generator<undefined, readonly number[] | undefined> {
  const test = (row: PointRow): boolean => row[at.geometry] !== null
  const all = { isDescending: false, fromMs: Number.MIN_SAFE_INTEGER, untilMs: Number.MAX_SAFE_INTEGER, after: undefined }
  const source = new ScanSource({ db, shapes, test }, all, stream)
  let box: readonly number[] | undefined
  const add = (row: PointRow): void => {
    const [west, south, east, north] = boxAround(positionsOf(JSON.parse(row[at.geometry] as string) as Geometry))
    box = boxAround([[west, south], [east, north], ...(box ? [box.slice(0, 2), box.slice(2)] : [])])
  }
  while (!source.isDone) {
    source.fill({ room: manyRows, add }, sliceEffort)
    yield undefined
  }
  return box
}
