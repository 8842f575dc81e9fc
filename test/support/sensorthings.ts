import { GeoStore } from 'pounce/sdk'
import type { Datapoint } from 'pounce/sdk/geo'
import type { TestFetch, TestServer } from 'pounce/sdk/testing'
import { callsOf } from './calls.ts'
import { newSensor, newStream } from './geostreams.ts'
import { ok } from './scene.ts'

export type Json = Readonly<Record<string, unknown>>

/** A page of a SensorThings response. */
export interface StaPage {
  readonly value: readonly Json[]
  readonly '@iot.count'?: number
  readonly '@iot.nextLink'?: string
}

/** Reads a SensorThings page by its path below the root, with unescaped options. */
export const sta = <T = StaPage>(call: TestFetch, path: string): Promise<T> => ok<T>(call(addressOf(path)))

/** Escapes the options of a path; does not escape twice. */
export const addressOf = (path: string): string => {
  const [where = '', options] = path.split(/\?(.*)/s)
  const escaped = options
    ?.split('&')
    .map(option => option.replace(/=(.*)/s, (_, value: string) => `=${encodeURIComponent(value)}`))
    .join('&')
  return `/api/sensorthings/v1.1${where}${escaped === undefined ? '' : `?${escaped}`}`
}

/** Follows the next links of a list to its end. */
export const staAll = async (call: TestFetch, server: TestServer, path: string, mostPages = 1000): Promise<readonly Json[]> => {
  const all: Json[] = []
  let page = await sta(call, path)
  for (let pages = 1; ; pages += 1) {
    all.push(...page.value)
    const next = page['@iot.nextLink']
    if (next === undefined) return all
    if (pages === mostPages) throw new Error(`${path} has too many pages`)
    page = await ok<StaPage>(call(next.slice(server.url.length)))
  }
}

export const idsOf = (items: readonly Json[]): readonly unknown[] => items.map(item => item['@iot.id'])

/** A created station with its streams and datapoints. */
export interface Station {
  readonly id: number
  readonly name: string
  readonly place: readonly [number, number]
  readonly streams: readonly { readonly id: number; readonly name: string; readonly points: readonly Datapoint[] }[]
}

const hour = 3_600_000
export const dawn = Date.UTC(2020, 0, 1)

/** Values of the datapoints: numbers, a name with special characters, labels, and sometimes none. */
const propertiesAt = (at: number): Datapoint['properties'] => ({
  nitrate: at % 7,
  ...(at % 3 === 0 ? { "it's a/b (%)": at / 2 } : {}),
  flag: at % 2 === 0 ? 'good' : 'bad',
  ...(at % 5 === 0 ? { ph: null } : { ph: 7 + at / 100 }),
})

let lastPoint = 5_000_000

const pointAt = (stream: number, at: number, [longitude, latitude]: readonly [number, number]): Datapoint => {
  lastPoint += 1
  const startMs = dawn + at * hour
  return {
    ...{ id: lastPoint, stream, startMs, createdMs: startMs },
    // Of every four, one lasts half an hour, one is an instant, and the others have no end.
    endMs: at % 4 === 0 ? startMs + hour / 2 : at % 4 === 1 ? startMs : null,
    geometry: { type: 'Point', coordinates: [longitude, latitude] },
    properties: propertiesAt(at),
  }
}

/** Creates stations along a parallel, each with one stream, every third with a second one, and adds datapoints. */
export const makeStations = async (
  server: TestServer,
  { count = 9, readings = 24, firstPoint = lastPoint + 1 } = {},
): Promise<readonly Station[]> => {
  lastPoint = firstPoint - 1
  const owner = callsOf(server.as(server.admin.key))
  const stations: Station[] = []
  for (let n = 0; n < count; n += 1) {
    const place = [-90 + n, 40] as const
    const name = `Station ${String.fromCharCode(65 + ((n * 4) % count))}`
    const geometry = { type: 'Point', coordinates: [...place] }
    const properties = { type: { id: n % 2 === 0 ? 'epa' : 'usgs' }, popupContent: `about ${name}`, region: n % 4 }
    const id = await newSensor(owner, { name, geometry, properties })
    const streams: Station['streams'][number][] = []
    for (let each = 0; each < (n % 3 === 0 ? 2 : 1); each += 1) {
      const streamName = `${name} run ${each}`
      const units = { nitrate: 'mg/L', ph: { name: 'acidity', symbol: 'pH', definition: 'http://example.org/ph' } }
      const stream = await newStream(owner, id, { name: streamName, geometry, properties: { units } })
      const points = Array.from({ length: readings }, (_, at) => pointAt(stream, at, place))
      await server.get(GeoStore).insert(points)
      streams.push({ id: stream, name: streamName, points })
    }
    stations.push({ id, name, place, streams })
  }
  await server.drained()
  return stations
}
