import { port } from '../port.ts'
import type { Json } from './document-store.ts'

/** Longitude and latitude in degrees (WGS 84), optionally followed by the altitude in metres. */
export type GeoPosition = readonly number[]

/** A GeoJSON geometry (RFC 7946) without additional members. Edges are straight lines in degrees and do not cross the antimeridian. */
export type Geometry =
  | { readonly type: 'Point'; readonly coordinates: GeoPosition }
  | { readonly type: 'MultiPoint' | 'LineString'; readonly coordinates: readonly GeoPosition[] }
  | { readonly type: 'MultiLineString' | 'Polygon'; readonly coordinates: readonly (readonly GeoPosition[])[] }
  | { readonly type: 'MultiPolygon'; readonly coordinates: readonly (readonly (readonly GeoPosition[])[])[] }
  | { readonly type: 'GeometryCollection'; readonly geometries: readonly Geometry[] }

/** A datapoint. Streams and sensors are records elsewhere; the store identifies a stream only by its number. For valid datapoints see `checkDatapoint`. */
export interface Datapoint {
  /** Assigned by the caller, unique in the store. A positive safe integer, as is `stream`. */
  readonly id: number
  readonly stream: number
  /** Integer milliseconds since 1970 in UTC; years 1 to 9999. */
  readonly startMs: number
  /** Not before the start. Null: no known end. */
  readonly endMs: number | null
  readonly createdMs: number
  readonly geometry: Geometry
  /** Free-form JSON, returned as stored except for key order. */
  readonly properties: { readonly [key: string]: Json }
}

/** The outcome of inserting a datapoint. An existing datapoint with the same id is left unchanged. */
export type PointInserted =
  | { readonly status: 'inserted' }
  | { readonly status: 'present' }
  | { readonly status: 'refused'; readonly reason: string }

/** An area on the Earth, including its boundary. The radius of a circle is measured on a sphere; near its boundary stores may differ by 0.5 % of the radius. */
export type GeoArea =
  /** West, south, east, north in degrees. West greater than east: across the antimeridian. */
  | { readonly box: readonly [west: number, south: number, east: number, north: number] }
  /** Closed rings as in GeoJSON: the outer ring, then holes. At most 1,000 positions. */
  | { readonly polygon: readonly (readonly GeoPosition[])[] }
  | { readonly circle: { readonly longitude: number; readonly latitude: number; readonly radiusMetres: number } }

/** Matches a top-level property that exists (even as null); with `contains`, whose value contains the given one. */
export interface GeoAttribute {
  readonly key: string
  /**
   * An object contains another if it has all of the other's members, recursively; an array contains another if each element of the other is contained in one of
   * its own; other values contain equal values. An array does not contain a value that is not an array.
   */
  readonly contains?: Json
}

/** Selects datapoints; all given conditions must hold. For validity see `checkGeoFilter`. */
export interface GeoFilter {
  /** In one of these streams; at most 10,000. An empty list matches nothing. */
  readonly streams?: readonly number[]
  /** Intersecting one of these areas; 1 to 100. */
  readonly areas?: readonly GeoArea[]
  /** Starting at or after this time. */
  readonly fromMs?: number
  /** Starting before this time. */
  readonly beforeMs?: number
  /** Ending at or before this time; datapoints without an end are excluded (Clowder 1.x, geostreams `until`). */
  readonly untilMs?: number
  /** Overlapping these months (1 to 12, UTC, inclusive; `from` greater than `to`: across the new year) of any year. */
  readonly months?: { readonly from: number; readonly to: number }
  /** Having one of these properties; 1 to 100. */
  readonly attributes?: readonly GeoAttribute[]
}

/** By start, or by stream and start; then by id, all in the same direction. By start, ascending, by default. */
export interface GeoSort {
  readonly by: 'start' | 'stream'
  readonly order: 'ascending' | 'descending'
}

/** The last point of a page. */
export type GeoAfter = Pick<Datapoint, 'id' | 'stream' | 'startMs'>

/** A page of the datapoints selected by a filter. */
export interface GeoPage {
  readonly points: readonly Datapoint[]
  /** Present if there may be more. */
  readonly next?: GeoAfter
}

/** Statistics of a stream that has datapoints. */
export interface StreamStatistics {
  readonly count: number
  readonly firstStartMs: number
  /** Null if no datapoint has an end. */
  readonly lastEndMs: number | null
  /** Names of top-level properties in code point order, at most 1,000. */
  readonly properties: readonly string[]
  /** West, south, east, north of all geometries. */
  readonly box: readonly [number, number, number, number]
}

/**
 * Consecutive time spans in UTC. Weeks begin on Monday; `semi` on 1 January and 1 July; `season` on 1 January and the 21st of March, June, September and
 * December; `lustrum` and `decade` in years divisible by 5 and 10. `all` is a single span. The first and last season of a year both belong to its winter: a
 * datapoint that is in the first is not counted in the last as well.
 */
export type TimeBin = 'minute' | 'hour' | 'day' | 'week' | 'month' | 'semi' | 'season' | 'year' | 'lustrum' | 'decade' | 'all'

/** How to aggregate datapoints. */
export interface GeoBinning {
  /** A named span, or spans of `everyMs` (at least 1,000) starting at `originMs`. */
  readonly time: TimeBin | { readonly everyMs: number; readonly originMs: number }
  /** Also group by steps of altitude: a datapoint belongs to the smallest multiple of this that is not less than the altitude of its first position, or 0. */
  readonly depthMetres?: number
  /** Also group by the values of these top-level properties; at most 4. */
  readonly groupBy?: readonly string[]
  /** Aggregate only these properties; at most 1,000. Absent: all. */
  readonly properties?: readonly string[]
}

/** The aggregate of one property in one bin. Bins are merged by addition; the mean is `sum / count`. */
export interface GeoBin {
  readonly stream: number
  readonly property: string
  /** The span, excluding its end. For `all`: the first start and the last end (or start) in it. */
  readonly fromMs: number
  readonly toMs: number
  /** Null unless grouped by altitude. */
  readonly depth: number | null
  /** The value for each name of `groupBy`: a string unchanged, a number or boolean as JSON text, null for anything else. */
  readonly group: readonly (string | null)[]
  readonly count: number
  /** Infinite on overflow. */
  readonly sum: number
  readonly min: number
  readonly max: number
}

/**
 * Stores large numbers of immutable datapoints and finds them by stream, time, location and property. Sensors and streams are documents: the caller resolves
 * sensors, sources and names to streams, and groups results by sensor.
 *
 * Invalid arguments reject with `Invalid`, naming the argument, before anything is read or written. While the store is unavailable, calls reject with
 * `Unavailable` within 2 s; when it is full, with `NoSpace`.
 */
export interface GeoStore {
  /**
   * Inserts at most 5,000 datapoints; the result has one entry for each, in order. Rejected datapoints do not affect the others. Durable and visible to all
   * later reads when it resolves. If it rejects, some may have been stored completely; retry with all of them. If two have the same id, even within one call,
   * the first one is kept.
   */
  insert(points: readonly Datapoint[]): Promise<readonly PointInserted[]>
  get(id: number): Promise<Datapoint | undefined>
  /** A page of 1 to 1,000 points. */
  find(query: { readonly filter: GeoFilter; readonly sort?: GeoSort; readonly after?: GeoAfter; readonly limit: number }): Promise<GeoPage>
  /**
   * All matches in order, in chunks of 1 to 2,000. Reads lazily, at most one chunk ahead, without blocking other calls between chunks. Leaving the loop
   * releases all resources; aborting the signal does so immediately and rejects. Datapoints added or removed meanwhile may or may not be included; none occurs
   * twice. Fails, rather than ends early, if the store becomes unavailable.
   */
  read(query: {
    readonly filter: GeoFilter
    readonly sort?: GeoSort
    readonly signal?: AbortSignal | undefined
  }): AsyncIterable<readonly Datapoint[]>
  /** The number of matches, counted up to `upTo` (1 to 10^9). */
  count(filter: GeoFilter, upTo: number): Promise<number>
  /** The greatest numbers of a stored datapoint and of its stream; 0 without datapoints. Takes as long as reading a single one. */
  highest(): Promise<{ readonly id: number; readonly stream: number }>
  /** Of at most 1,000 streams; streams without datapoints are omitted. */
  statistics(streams: readonly number[]): Promise<ReadonlyMap<number, StreamStatistics>>
  /**
   * Aggregates the numeric top-level properties of all matches, in chunks of 1 to 2,000 bins, ordered by stream, property, start, altitude and group. A
   * datapoint is counted in every bin that it overlaps; one without duration in the bin of its start; a span that ends where a bin begins is not counted in
   * that bin. Fails with `Invalid` if a datapoint overlaps more than 10,000 bins, or if the numbers are counted in more than a million bins beyond their first.
   * For the signal see `read`.
   */
  bins(query: {
    readonly filter: GeoFilter
    readonly binning: GeoBinning
    readonly signal?: AbortSignal | undefined
  }): AsyncIterable<readonly GeoBin[]>
  /**
   * Removes at most 1,000 datapoints by id, or all datapoints of at most 1,000 streams; resolves to the number removed once none is left. Does not block other
   * calls. Absent ones are not an error; an interrupted removal is completed by calling it again.
   */
  remove(what: { readonly ids: readonly number[] } | { readonly streams: readonly number[] }): Promise<number>
  /** Name and version for display: `SQLite 3.53.4`, `PostGIS 3.5`. */
  readonly engine: string
}
export const GeoStore = port<GeoStore>('geoStore')
