import { type Datapoint, s } from 'pounce/sdk'
import { printTime } from './print-time.ts'
import type { Owner } from './stream-sensors.ts'

const time = s.String({ description: 'Such as `2017-01-25T15:33:02Z`' })
const free = s.Record(s.String(), s.Unknown())

/** A datapoint as Clowder 1.x shows it. */
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

/** One datapoint as it is shown. */
export const toDatapointJson = (point: Datapoint, owner: Owner): s.Static<typeof DatapointJson> => ({
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

/** Prints many of them: what they have in common is printed once. */
export class DatapointPrinter {
  readonly #names: ReadonlySet<string> | undefined
  readonly #owners = new WeakMap<Owner, string>()
  readonly #geometries = new WeakMap<object, string>()

  /** `names`: the only properties to show. */
  constructor(names?: ReadonlySet<string>) {
    this.#names = names
  }

  print(point: Datapoint, owner: Owner): string {
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

  #owner(owner: Owner): string {
    let text = this.#owners.get(owner)
    if (text === undefined) {
      text = `,"sensor_id":"${owner.sensor}","sensor_name":${JSON.stringify(owner.sensorName)}}`
      this.#owners.set(owner, text)
    }
    return text
  }
}
