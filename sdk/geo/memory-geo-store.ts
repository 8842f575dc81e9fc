import { compareText } from '../documents/scalars.ts'
import type {
  Datapoint,
  GeoAfter,
  GeoBin,
  GeoFilter,
  GeoPage,
  GeoSort,
  GeoStore,
  PointInserted,
  StreamStatistics,
} from '../ports/geo-store.ts'
import { Invalid } from '../problem.ts'
import { checkDatapoint } from './check-datapoint.ts'
import { checkBinning, checkGeoFilter, checkGeoIds } from './check-geo-query.ts'
import { hasAttribute, overlapsMonths } from './filter-matches.ts'
import { boxAround, positionsOf } from './geometry.ts'
import { intersects } from './intersects.ts'
import { binned } from './memory-geo-bins.ts'

const maxInserted = 5000
const pieceSize = 2000
const compare = (one: GeoAfter, other: GeoAfter): number => one.startMs - other.startMs || one.id - other.id

/** Stored values are frozen, so readers can share them without copies. */
const frozen = <T>(value: T): T => {
  if (typeof value === 'object' && value !== null) for (const member of Object.values(Object.freeze(value))) frozen(member)
  return value
}

/** Stores datapoints in memory and scans them linearly: a reference implementation of GeoStore, without optimizations. */
export class MemoryGeoStore implements GeoStore {
  readonly engine: string = 'memory'
  readonly #points = new Map<number, Datapoint>()

  async insert(points: readonly Datapoint[]): Promise<readonly PointInserted[]> {
    if (points.length > maxInserted) throw new Invalid(`At most ${maxInserted} points at once, not ${points.length}`)
    return points.map(point => {
      const reason = checkDatapoint(point)
      if (reason !== undefined) return { status: 'refused', reason }
      if (this.#points.has(point.id)) return { status: 'present' }
      this.#points.set(point.id, frozen(structuredClone(point)))
      return { status: 'inserted' }
    })
  }

  async get(id: number): Promise<Datapoint | undefined> {
    return this.#points.get(id)
  }

  async find({ filter, sort, after, limit }: Parameters<GeoStore['find']>[0]): Promise<GeoPage> {
    if (!Number.isInteger(limit) || limit < 1 || limit > 1000) throw new Invalid(`A page has 1 to 1,000 points, not ${limit}`)
    const all = this.#sorted(filter, sort)
    const order = orderOf(sort)
    const left = after ? all.filter(point => order(point, after) > 0) : all
    const points = left.slice(0, limit)
    const last = points.at(-1)
    return left.length > limit && last ? { points, next: { id: last.id, stream: last.stream, startMs: last.startMs } } : { points }
  }

  async *read({ filter, sort, signal }: Parameters<GeoStore['read']>[0]): AsyncIterable<readonly Datapoint[]> {
    yield* inPieces(this.#sorted(filter, sort), signal)
  }

  async count(filter: GeoFilter, upTo: number): Promise<number> {
    if (!Number.isInteger(upTo) || upTo < 1 || upTo > 1e9) throw new Invalid(`Points are counted up to 1 to 10^9, not ${upTo}`)
    return Math.min(upTo, this.#fitting(filter).length)
  }

  async highest(): Promise<{ readonly id: number; readonly stream: number }> {
    const points = [...this.#points.values()]
    const greatest = (numbers: readonly number[]): number => numbers.reduce((one, other) => Math.max(one, other), 0)
    return { id: greatest(points.map(({ id }) => id)), stream: greatest(points.map(({ stream }) => stream)) }
  }

  async statistics(streams: readonly number[]): Promise<ReadonlyMap<number, StreamStatistics>> {
    checkGeoIds(streams, 'streams', 1000)
    const groups = Map.groupBy(this.#fitting({ streams }), point => point.stream)
    return new Map([...groups].map(([stream, points]) => [stream, statisticsOf(points)]))
  }

  async *bins({ filter, binning, signal }: Parameters<GeoStore['bins']>[0]): AsyncIterable<readonly GeoBin[]> {
    checkBinning(binning)
    yield* inPieces(binned(this.#fitting(filter), binning), signal)
  }

  async remove(what: { readonly ids: readonly number[] } | { readonly streams: readonly number[] }): Promise<number> {
    if ('ids' in what) checkGeoIds(what.ids, 'ids', 1000)
    else checkGeoIds(what.streams, 'streams', 1000)
    const ids = 'ids' in what ? what.ids : this.#fitting(what).map(({ id }) => id)
    return ids.filter(id => this.#points.delete(id)).length
  }

  #sorted(filter: GeoFilter, sort: GeoSort | undefined): readonly Datapoint[] {
    return this.#fitting(filter).toSorted(orderOf(sort))
  }

  #fitting(filter: GeoFilter): readonly Datapoint[] {
    checkGeoFilter(filter)
    return [...this.#points.values()].filter(point => fits(point, filter))
  }
}

const orderOf = ({ by, order }: GeoSort = { by: 'start', order: 'ascending' }) => {
  const sign = order === 'ascending' ? 1 : -1
  return (one: GeoAfter, other: GeoAfter): number => sign * ((by === 'stream' ? one.stream - other.stream : 0) || compare(one, other))
}

function* inPieces<T>(all: readonly T[], signal: AbortSignal | undefined): Iterable<readonly T[]> {
  for (let at = 0; at < all.length; at += pieceSize) {
    signal?.throwIfAborted()
    yield all.slice(at, at + pieceSize)
  }
}

const fits = (point: Datapoint, { streams, areas, fromMs, beforeMs, untilMs, months, attributes }: GeoFilter): boolean =>
  (!streams || streams.includes(point.stream)) &&
  (fromMs === undefined || point.startMs >= fromMs) &&
  (beforeMs === undefined || point.startMs < beforeMs) &&
  (untilMs === undefined || (point.endMs !== null && point.endMs <= untilMs)) &&
  (!months || overlapsMonths(point, months)) &&
  (!areas || areas.some(area => intersects(point.geometry, area))) &&
  (!attributes || attributes.some(attribute => hasAttribute(point.properties, attribute)))

const statisticsOf = (points: readonly Datapoint[]): StreamStatistics => {
  const ends = points.flatMap(({ endMs }) => (endMs === null ? [] : [endMs]))
  const max = (numbers: readonly number[]): number => numbers.reduce((one, other) => Math.max(one, other))
  return {
    count: points.length,
    firstStartMs: -max(points.map(({ startMs }) => -startMs)),
    lastEndMs: ends.length === 0 ? null : max(ends),
    properties: [...new Set(points.flatMap(({ properties }) => Object.keys(properties)))].sort(compareText).slice(0, 1000),
    box: boxAround(points.flatMap(({ geometry }) => positionsOf(geometry))),
  }
}
