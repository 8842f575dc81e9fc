import { Invalid, s } from 'pounce/sdk'
import type { Datapoint } from 'pounce/sdk/geo'
import { isJsonObject, readTime } from 'pounce/sdk/kit'
import { numberOf, readGeometry, readProperties } from '../input.ts'
import { printTime } from './point-json.ts'
import type { StreamOwner } from './stream-sensors.ts'

const time = s.String({ description: 'Such as `2017-01-25T15:33:02Z`' })

const free = s.Record(s.String(), s.Unknown())

/** A datapoint in the format of Clowder 1.x. */
export const DatapointJson = s.model(
  'Datapoint',
  s.Object({
    id: s.Integer(),
    created: time,
    start_time: time,
    end_time: s.Union([time, s.Null()]),
    properties: free,
    type: s.Literal('Feature'),
    geometry: free,
    stream_id: s.String(),
    sensor_id: s.String(),
    sensor_name: s.String(),
  }),
)

/** One datapoint as returned to clients. */
export const toDatapointJson = (point: Datapoint, owner: StreamOwner): s.Static<typeof DatapointJson> => ({
  id: point.id,
  created: printTime(point.createdMs),
  start_time: printTime(point.startMs),
  end_time: point.endMs === null ? null : printTime(point.endMs),
  properties: point.properties,
  type: 'Feature',
  geometry: { ...point.geometry },
  stream_id: String(point.stream),
  sensor_id: String(owner.sensor),
  sensor_name: owner.sensorName,
})

/** Prints many datapoints: common parts are printed once. */
export class DatapointPrinter {
  readonly #names: ReadonlySet<string> | undefined
  readonly #owners = new WeakMap<StreamOwner, string>()
  readonly #geometries = new WeakMap<object, string>()

  /** `names`: the only properties to print. */
  constructor(names?: ReadonlySet<string>) {
    this.#names = names
  }

  print(point: Datapoint, owner: StreamOwner): string {
    const { id, createdMs, startMs, endMs } = point
    const end = endMs === null ? 'null' : `"${printTime(endMs)}"`
    const times = `"created":"${printTime(createdMs)}","start_time":"${printTime(startMs)}","end_time":${end}`
    return `{"id":${id},${times},"properties":${this.#properties(point)}${this.#geometry(point)},"stream_id":"${point.stream}"${this.#owner(owner)}`
  }

  #properties({ properties }: Datapoint): string {
    const names = this.#names
    if (!names) return JSON.stringify(properties)
    return JSON.stringify(Object.fromEntries(Object.entries(properties).filter(([name]) => names.has(name))))
  }

  #geometry({ geometry }: Datapoint): string {
    let text = this.#geometries.get(geometry)
    if (text === undefined) {
      text = `,"type":"Feature","geometry":${JSON.stringify(geometry)}`
      this.#geometries.set(geometry, text)
    }
    return text
  }

  #owner(owner: StreamOwner): string {
    let text = this.#owners.get(owner)
    if (text === undefined) {
      text = `,"sensor_id":"${owner.sensor}","sensor_name":${JSON.stringify(owner.sensorName)}}`
      this.#owners.set(owner, text)
    }
    return text
  }
}

/** A received datapoint that has no number yet. */
export type Draft = Pick<Datapoint, 'stream' | 'startMs' | 'endMs' | 'geometry' | 'properties'>

/** Why a datapoint was rejected. */
export interface Refused {
  /** The invalid member, with dots: `geometry.coordinates`. Absent for the whole datapoint. */
  readonly field?: string
  readonly message: string
}

/** Distinguishes a rejection from the other outcome. */
export const isRefused = (outcome: object): outcome is Refused => 'message' in outcome

/** How datapoints are parsed. */
interface PointReading {
  /** The stream of datapoints that name none. */
  readonly stream?: number | undefined
  /** A single Point is sent as latitude, longitude. */
  readonly latitudeFirst?: boolean
}

const members = ['stream_id', 'start_time', 'end_time', 'type', 'geometry.coordinates', 'geometry.type', 'geometry', 'properties']

/** Parses a message that begins with the invalid member. */
export const refusalOf = (message: string): Refused => {
  const field = members.find(member => message.startsWith(member))
  return field === undefined ? { message } : { field, message }
}

const isMissing = (value: unknown): value is null | undefined => value === undefined || value === null

const streamOf = (sent: unknown, stream: number | undefined): number => {
  if (sent === undefined && stream !== undefined) return stream
  if (isMissing(sent)) throw new Invalid('stream_id is missing')
  const number = typeof sent === 'string' || typeof sent === 'number' ? numberOf(sent) : undefined
  if (number === undefined) throw new Invalid('stream_id must be the number of a stream, such as "5"')
  return number
}

const timeOf = (sent: unknown, field: string): number => {
  if (isMissing(sent)) throw new Invalid(`${field} is missing`)
  if (typeof sent !== 'string') throw new Invalid(`${field} must be a time as text, such as 2017-01-25T09:30:00Z`)
  return readTime(sent, field)
}

/** Most datapoints are of a single instant. */
const endOf = ({ start_time, end_time }: Readonly<Record<string, unknown>>, startMs: number): number | null => {
  if (isMissing(end_time)) return null
  return end_time === start_time ? startMs : timeOf(end_time, 'end_time')
}

const utc = (ms: number): string => new Date(ms).toISOString()

const requireText = (sent: unknown, field: string): void => {
  if (typeof sent !== 'string') throw new Invalid(isMissing(sent) ? `${field} is missing` : `${field} must be text, such as Feature`)
}

/**
 * Parses a datapoint in the format of Clowder 1.x (reference, api-platform §13). The message of `Invalid` begins with the invalid member.
 */
export const readPoint = (sent: unknown, { stream, latitudeFirst = false }: PointReading): Draft => {
  if (!isJsonObject(sent)) throw new Invalid('A datapoint must be an object')
  const number = streamOf(sent['stream_id'], stream)
  const startMs = timeOf(sent['start_time'], 'start_time')
  const endMs = endOf(sent, startMs)
  if (endMs !== null && endMs < startMs) throw new Invalid(`end_time (${utc(endMs)}) is before start_time (${utc(startMs)})`)
  requireText(sent['type'], 'type')
  if (isMissing(sent['geometry'])) throw new Invalid('geometry is missing')
  if (isMissing(sent['properties'])) throw new Invalid('properties is missing')
  return {
    stream: number,
    startMs,
    endMs,
    geometry: readGeometry(sent['geometry'], { latitudeFirst }),
    properties: readProperties(sent['properties']),
  }
}
