import { port } from '../port.ts'
import type { Json } from './document-store.ts'

/** Longitude and latitude in degrees (WGS 84), then perhaps the altitude in metres. */
export type GeoPosition = readonly number[]

/** A GeoJSON geometry (RFC 7946) without further members. Edges are straight lines in degrees; none crosses the antimeridian. */
export type Geometry =
  | { readonly type: 'Point'; readonly coordinates: GeoPosition }
  | { readonly type: 'MultiPoint' | 'LineString'; readonly coordinates: readonly GeoPosition[] }
  | { readonly type: 'MultiLineString' | 'Polygon'; readonly coordinates: readonly (readonly GeoPosition[])[] }
  | { readonly type: 'MultiPolygon'; readonly coordinates: readonly (readonly (readonly GeoPosition[])[])[] }
  | { readonly type: 'GeometryCollection'; readonly geometries: readonly Geometry[] }

/**
 * One reading. Its stream, and the sensor of that, are records elsewhere; here a stream is a number only.
 * `checkDatapoint` says what a store takes.
 */
export interface Datapoint {
  /** Chosen by the caller, unique in the store. A positive safe integer, as is `stream`. */
  readonly id: number
  readonly stream: number
  /** Milliseconds since 1970 in UTC, whole; years 1 to 9999. */
  readonly startMs: number
  /** Not before the start. Null: it has no known end. */
  readonly endMs: number | null
  readonly createdMs: number
  readonly geometry: Geometry
  /** Free JSON, returned as stored except for the order of keys. */
  readonly properties: { readonly [key: string]: Json }
}

/** What became of a point that was to be inserted. A point with an id that exists already is left as it is there. */
export type PointInserted =
  | { readonly status: 'inserted' }
  | { readonly status: 'present' }
  | { readonly status: 'refused'; readonly reason: string }

/** Part of the Earth; its border belongs to it. A circle's radius is measured on a sphere; near its edge stores may differ by 0.5 % of it. */
export type GeoArea =
  /** West, south, east, north in degrees. West above east: across the antimeridian. */
  | { readonly box: readonly [west: number, south: number, east: number, north: number] }
  /** Closed rings as in GeoJSON: the outer one, then holes. At most 1,000 positions. */
  | { readonly polygon: readonly (readonly GeoPosition[])[] }
  | { readonly circle: { readonly longitude: number; readonly latitude: number; readonly radiusMetres: number } }

/** A top-level property that exists (also as null); with `contains`, whose value contains that one. */
export interface GeoAttribute {
  readonly key: string
  /**
   * Objects contain those whose members they all have, containing in turn; arrays those whose elements each are contained in one of
   * theirs; other values themselves. An array does not contain what is no array.
   */
  readonly contains?: Json
}

/** Which points; all conditions that are given hold. `checkGeoFilter` says what is valid. */
export interface GeoFilter {
  /** In one of these streams; at most 10,000, and none fits an empty list. */
  readonly streams?: readonly number[]
  /** Touching one of these areas; 1 to 100. */
  readonly areas?: readonly GeoArea[]
  /** Starting then or later. */
  readonly fromMs?: number
  /** Starting before then. */
  readonly beforeMs?: number
  /** Ending then or earlier; points without an end drop out (Clowder 1.x, geostreams `until`). */
  readonly untilMs?: number
  /** Overlapping these months (1 to 12, UTC, both included; `from` above `to`: across the new year) of any year. */
  readonly months?: { readonly from: number; readonly to: number }
  /** Having one of these properties; 1 to 100. */
  readonly attributes?: readonly GeoAttribute[]
}

/** By start or by stream and start; then by id, all in the same direction. Ascending by start by default. */
export interface GeoSort {
  readonly by: 'start' | 'stream'
  readonly order: 'ascending' | 'descending'
}

/** The last point of a page. */
export type GeoAfter = Pick<Datapoint, 'id' | 'stream' | 'startMs'>

/** A bounded part of the datapoints that a filter selects. */
export interface GeoPage {
  readonly points: readonly Datapoint[]
  /** Present when there may be more. */
  readonly next?: GeoAfter
}

/** What is known of a stream that has points. */
export interface StreamStatistics {
  readonly count: number
  readonly firstStartMs: number
  /** Null when no point has an end. */
  readonly lastEndMs: number | null
  /** Names of top-level properties by code point, at most 1,000. */
  readonly properties: readonly string[]
  /** West, south, east, north of all geometries. */
  readonly box: readonly [number, number, number, number]
}

/**
 * Spans of time in UTC, each from its beginning to the next one's. Weeks begin on Monday; `semi` on 1 January and 1 July; `season` on 1 January
 * and the 21st of March, June, September and December; `lustrum` and `decade` in years that 5 and 10 divide. `all` is one span.
 * The first and the last season of a year are both its winter: a point that enters the first does not enter the last as well.
 */
export type TimeBin = 'minute' | 'hour' | 'day' | 'week' | 'month' | 'semi' | 'season' | 'year' | 'lustrum' | 'decade' | 'all'

/** How to sum points up. */
export interface GeoBinning {
  /** A named span, or one of `everyMs` (1,000 at least) counted from `originMs`. */
  readonly time: TimeBin | { readonly everyMs: number; readonly originMs: number }
  /** Besides, by steps of altitude: each point counts at the next multiple of this at or above its first position's altitude, or 0. */
  readonly depthMetres?: number
  /** Besides, by the values of these top-level properties; at most 4. */
  readonly groupBy?: readonly string[]
  /** Only these properties; at most 1,000. Absent: all. */
  readonly properties?: readonly string[]
}

/** The numbers of one property in one bin. Bins that a caller wants to join are joined by adding, and the mean is `sum / count`. */
export interface GeoBin {
  readonly stream: number
  readonly property: string
  /** The span, without its end. Of `all`: the first start and the last end (or start) in it. */
  readonly fromMs: number
  readonly toMs: number
  /** Null unless steps were requested. */
  readonly depth: number | null
  /** For each name of `groupBy` the value: a text as it is, a number or boolean as JSON text; null for anything else. */
  readonly group: readonly (string | null)[]
  readonly count: number
  /** Infinite when no number is large enough. */
  readonly sum: number
  readonly min: number
  readonly max: number
}

/**
 * Readings in place and time: very many, never changed, found by stream, time, place and property. Sensors and streams are documents;
 * anyone who owns them resolves sensors, sources and names to streams, and joins what comes back by sensor.
 *
 * A wrong argument rejects with `Invalid` that names it, before anything is read or written. Away: `Unavailable` within 2 s; full: `NoSpace`.
 */
export interface GeoStore {
  /**
   * At most 5,000 points; the answer has one entry for each, in their order. Points that are refused leave the others as they are.
   * Durable and seen by every later read when it resolves. When it rejects some may have been kept, each whole: sending all again is right.
   * Of two with one id, also within one call, the first stays.
   */
  insert(points: readonly Datapoint[]): Promise<readonly PointInserted[]>
  get(id: number): Promise<Datapoint | undefined>
  /** A page of 1 to 1,000 points. */
  find(query: { readonly filter: GeoFilter; readonly sort?: GeoSort; readonly after?: GeoAfter; readonly limit: number }): Promise<GeoPage>
  /**
   * All that fit, in order, in pieces of 1 to 2,000. Nothing is read before it is requested, but for one piece ahead, and other
   * calls continue between pieces. Leaving the loop frees what it held; aborting the signal does so at once, and the loop rejects. A point that comes or goes meanwhile may or may not be seen; none
   * comes twice. Fails, never ends early, when the store becomes unavailable.
   */
  read(query: {
    readonly filter: GeoFilter
    readonly sort?: GeoSort
    readonly signal?: AbortSignal | undefined
  }): AsyncIterable<readonly Datapoint[]>
  /** How many fit, counted up to `upTo` (1 to 10^9; then that is returned). */
  count(filter: GeoFilter, upTo: number): Promise<number>
  /** Of at most 1,000 streams; those without a point are absent. */
  statistics(streams: readonly number[]): Promise<ReadonlyMap<number, StreamStatistics>>
  /**
   * Sums up the numbers among the top-level properties of all points that fit, in pieces of 1 to 2,000 bins, by stream, property, beginning,
   * depth and group. A point enters every bin that it overlaps; without an end, or with one at its start, that of its start; a span that ends where
   * a bin begins does not enter that bin. A point that enters more than 10,000 bins fails it with `Invalid`, and so do numbers that together enter more than
   * a million bins after their first. Aborting the signal is as for `read`.
   */
  bins(query: {
    readonly filter: GeoFilter
    readonly binning: GeoBinning
    readonly signal?: AbortSignal | undefined
  }): AsyncIterable<readonly GeoBin[]>
  /**
   * Removes points, at most 1,000 by id, or all of at most 1,000 streams; resolves to how many there were, when none is left. Other calls
   * continue meanwhile. Absent ones are not an error; what was cut short is finished by calling again.
   */
  remove(what: { readonly ids: readonly number[] } | { readonly streams: readonly number[] }): Promise<number>
  /** What it is, for people: `SQLite 3.53.4`, `PostGIS 3.5`. */
  readonly engine: string
}
export const GeoStore = port<GeoStore>('geoStore')
