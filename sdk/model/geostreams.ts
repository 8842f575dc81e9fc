import type { Json } from '../ports/document-store.ts'
import type { Geometry } from '../ports/geo-store.ts'
import type { LifeState } from './kind.ts'
import type { Time } from './records.ts'

/** Something that measures: a station, a logger, a boat. */
export interface SensorRecord {
  readonly name: string
  /** Where it is, or was when it was last said. */
  readonly geometry: Geometry
  /** Free JSON; clients keep `type`, `region`, `popupContent` and such here. */
  readonly properties: { readonly [key: string]: Json }
  /** The text at `properties.type.id`: what `sources` filters by (reference, api-platform §13). */
  readonly source: string | null
  readonly author: string
  /** Spaces through whose roles people have rights here, at most 100. */
  readonly spaces: readonly string[]
  /** Squares of the Earth that the geometry touches, for finding by area. */
  readonly cells: readonly string[]
  readonly created: Time
  readonly state: LifeState
}

/** A run of readings of one sensor. The readings themselves are in the `GeoStore`, under the stream's number. */
export interface StreamRecord {
  readonly name: string
  readonly sensor: string
  readonly geometry: Geometry
  readonly properties: { readonly [key: string]: Json }
  /** Who made it. */
  readonly creator: string
  /** As of its sensor, which its rights come from: kept here for lists. */
  readonly author: string
  readonly spaces: readonly string[]
  readonly cells: readonly string[]
  readonly created: Time
  /** When readings last came or went. */
  readonly changed: Time
  /** Property names that its readings ever had, at most 1,000: for search. The current ones are in the `GeoStore`. */
  readonly parameters: readonly string[]
  readonly state: LifeState
}

const idOf =
  (prefix: string) =>
  (number: number): string =>
    `${prefix}${number.toString(16).padStart(16, '0')}`

/**
 * The document id of a sensor. On the wire sensors, streams and readings have small whole numbers (reference, api-platform §13); rights, events,
 * search and relations refer to them by ids like everything else. These begin with a second of 1970, so they never meet those of other resources.
 */
export const sensorIdOf = idOf('00000001')
/** The document id of a stream. */
export const streamIdOf = idOf('00000002')
/** The number in the id of a sensor or stream. */
export const geoNumberOf = (id: string): number => Number.parseInt(id.slice(8), 16)
