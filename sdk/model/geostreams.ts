import type { Json } from '../ports/document-store.ts'
import type { Geometry } from '../ports/geo-store.ts'
import type { LifeState } from './kind.ts'
import type { Time } from './records.ts'

/** A source of measurements: a station, a logger, a boat. */
export interface SensorRecord {
  readonly name: string
  /** Its current or last known location. */
  readonly geometry: Geometry
  /** Free-form JSON; clients store `type`, `region`, `popupContent` and so on here. */
  readonly properties: { readonly [key: string]: Json }
  /** The text at `properties.type.id`, which the parameter `sources` filters by (reference, api-platform §13). */
  readonly source: string | null
  readonly author: string
  /** Spaces whose roles grant permissions on it, at most 100. */
  readonly spaces: readonly string[]
  /** Grid cells that the geometry touches, for searches by area. */
  readonly cells: readonly string[]
  readonly created: Time
  readonly state: LifeState
}

/** A series of datapoints of one sensor. The datapoints themselves are in the `GeoStore`, under the stream's number. */
export interface StreamRecord {
  readonly name: string
  readonly sensor: string
  readonly geometry: Geometry
  readonly properties: { readonly [key: string]: Json }
  /** User id of the creator. */
  readonly creator: string
  /** Author of its sensor, which its rights are derived from; copied here for lists. */
  readonly author: string
  readonly spaces: readonly string[]
  readonly cells: readonly string[]
  readonly created: Time
  /** When datapoints were last added or removed. */
  readonly changed: Time
  /** All property names that its datapoints have ever had, at most 1,000; for search. The current ones are in the `GeoStore`. */
  readonly parameters: readonly string[]
  readonly state: LifeState
}

const idOf =
  (prefix: string) =>
  (number: number): string =>
    `${prefix}${number.toString(16).padStart(16, '0')}`

/**
 * The document id of a sensor. In the API sensors, streams and datapoints have small integer ids (reference, api-platform §13); rights, events, search and
 * relations use document ids as for all resources. These start with a timestamp in 1970, so they never collide with other ids.
 */
export const sensorIdOf = idOf('00000001')
/** The document id of a stream. */
export const streamIdOf = idOf('00000002')
/** The number in the id of a sensor or stream. */
export const geoNumberOf = (id: string): number => Number.parseInt(id.slice(8), 16)
