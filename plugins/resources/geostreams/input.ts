import { Invalid, type Json, type Ref, s } from 'pounce/sdk'
import { type Geometry, geometryFault, isGeoId, propertiesFault, sensorIdOf, streamIdOf } from 'pounce/sdk/geo'
import { isJsonObject } from 'pounce/sdk/kit'

/** The number of a sensor, stream or datapoint in a body: as a string, as Clowder 1.x returns it, or as a number. */
export const wireNumber = (what: string) =>
  s.Union([s.String({ maxLength: 20 }), s.Integer()], { description: `Number of ${what}, as text or as a number` })

/** A number sent by a client; undefined for an invalid one, which cannot be the number of a resource. */
export const numberOf = (sent: string | number): number | undefined => {
  if (typeof sent === 'string' && !/^[1-9]\d{0,15}$/.test(sent)) return undefined
  const number = Number(sent)
  return isGeoId(number) ? number : undefined
}

/** An id that no resource has. */
const none = 'none'

/** The sensor with a number sent by a client. An invalid number yields an unknown sensor, so that it is answered like one. */
export const sensorRef = (sent: string | number): Ref => {
  const number = numberOf(sent)
  return { kind: 'sensor', id: number === undefined ? none : sensorIdOf(number) }
}

/** The same for a stream. */
export const streamRef = (sent: string | number): Ref => {
  const number = numberOf(sent)
  return { kind: 'stream', id: number === undefined ? none : streamIdOf(number) }
}

type Sent = Readonly<Record<string, unknown>>

const isNumbers = (value: unknown): value is readonly [number, number] =>
  Array.isArray(value) && typeof value[0] === 'number' && typeof value[1] === 'number'

/** Nesting depth of the positions of a MultiPolygon. */
const maxLists = 3

/** The first position with coordinates out of range. */
const outOfRange = (coordinates: unknown, lists = maxLists): readonly [longitude: number, latitude: number] | undefined => {
  if (isNumbers(coordinates)) return Math.abs(coordinates[1]) > 90 || Math.abs(coordinates[0]) > 180 ? coordinates : undefined
  if (!Array.isArray(coordinates) || lists === 0) return undefined
  for (const each of coordinates) {
    const found = outOfRange(each, lists - 1)
    if (found) return found
  }
  return undefined
}

/** Why well-formed positions are out of range; undefined when they are not. */
const rangeFault = ({ type, coordinates }: Sent, latitudeFirst: boolean): string | undefined => {
  const [longitude, latitude] = outOfRange(coordinates) ?? []
  if (longitude === undefined || latitude === undefined) return undefined
  const isSwapped = Math.abs(latitude) > 90 && Math.abs(latitude) <= 180 && Math.abs(longitude) <= 90
  const isTurned = latitudeFirst && type === 'Point'
  const right = isTurned
    ? 'latitude comes first here, -90 to 90, then longitude, -180 to 180'
    : 'longitude comes first, -180 to 180, then latitude, -90 to 90'
  return `geometry.coordinates has a latitude of ${latitude} and a longitude of ${longitude}: ${right}${isSwapped ? '; the two look swapped' : ''}`
}

/** The GeoJSON members of a geometry, without others such as `bbox` and `crs`. */
const bare = (sent: Sent): Sent => {
  const { type, coordinates, geometries } = sent
  if (type !== 'GeometryCollection') return { type, coordinates }
  return { type, geometries: Array.isArray(geometries) ? geometries.map(each => (isJsonObject(each) ? bare(each) : each)) : geometries }
}

const swapped = (sent: Sent): Sent => {
  const { type, coordinates } = sent
  if (type !== 'Point' || !Array.isArray(coordinates)) return sent
  const [latitude, longitude, ...rest] = coordinates as readonly unknown[]
  return { type, coordinates: [longitude, latitude, ...rest] }
}

/**
 * Parses a GeoJSON geometry in a body; throws `Invalid` naming the part. `latitudeFirst`: a Point has latitude, then longitude, as Clowder
 * 1.x reads those of single streams and datapoints.
 */
export const readGeometry = (sent: unknown, { latitudeFirst = false }: { readonly latitudeFirst?: boolean } = {}): Geometry => {
  if (!isJsonObject(sent)) throw new Invalid('geometry must be an object')
  const plain = bare(sent)
  const given = latitudeFirst ? swapped(plain) : plain
  const fault = geometryFault(given)
  if (fault !== undefined) throw new Invalid(rangeFault(given, latitudeFirst) ?? pathOf(fault))
  return given as unknown as Geometry
}

const pathOf = (fault: string): string => fault.replace(/^geometry has no coordinates/, 'geometry.coordinates are no coordinates')

/** Parses the free-form properties of a sensor, stream or datapoint in a body; throws `Invalid`. */
export const readProperties = (sent: unknown): { readonly [key: string]: Json } => {
  const fault = propertiesFault(sent)
  if (fault !== undefined) throw new Invalid(fault)
  return sent as { readonly [key: string]: Json }
}

/** Formats a time as Clowder 1.x does: `2017-01-25T09:30:00Z`, UTC, no fraction; null stays null. */
export function showTime(time: Date | string | number): string

export function showTime(time: Date | string | number | null): string | null

export function showTime(time: Date | string | number | null): string | null {
  return time === null ? null : `${new Date(time).toISOString().slice(0, 19)}Z`
}
