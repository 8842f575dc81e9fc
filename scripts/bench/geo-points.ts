import { GeoStore } from 'pounce/sdk'
import type { Datapoint } from 'pounce/sdk/geo'
import { bootForTest } from 'pounce/sdk/testing'

/** Number of stationary stations with one stream each; their readings are interleaved. */
export const stations = 1000
const beginMs = Date.UTC(2025, 0, 1)
const yearMs = 365 * 86_400_000
const perBatch = 5000
/** The admin of a folder that was filled with `bootForTest`. */
export const admin = { email: 'admin@example.org', password: 'correct-horse-battery' }

/** A deterministic random number generator. */
export const seededRandom = (seed: number): ((below: number) => number) => {
  let state = seed
  return below => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return (state / 2 ** 32) * below
  }
}

const places = (() => {
  const random = seededRandom(7)
  return Array.from({ length: stations }, () => [-125 + random(58), 25 + random(24)] as const)
})()

/** Longitude and latitude of a station. */
export const placeOf = (station: number): readonly [number, number] => places[station % stations] ?? [0, 0]

/** The n-th of `count` readings, spread over a year. */
export const pointAt = (n: number, count: number): Datapoint => {
  const startMs = beginMs + Math.floor((Math.floor(n / stations) * yearMs) / Math.ceil(count / stations))
  return {
    id: n + 1,
    stream: (n % stations) + 1,
    startMs,
    endMs: startMs,
    createdMs: startMs,
    geometry: { type: 'Point', coordinates: [...placeOf(n)] },
    properties: { temperature: (n % 400) / 10, nitrate: (n % 77) / 7, site: `s${n % stations}` },
  }
}

/** A box of two by two degrees, and a hundredth of the year. */
export interface BoxAndTime {
  readonly box: readonly [west: number, south: number, east: number, north: number]
  readonly fromMs: number
  readonly untilMs: number
}
export const boxes = (count: number): readonly BoxAndTime[] => {
  const random = seededRandom(11)
  return Array.from({ length: count }, () => {
    const [west, south] = [-120 + random(50), 27 + random(20)]
    const fromMs = beginMs + Math.floor(random(yearMs * 0.9))
    return { box: [west, south, west + 2, south + 2], fromMs, untilMs: fromMs + Math.floor(yearMs / 100) }
  })
}

/** An additional station, with a reading of three numbers every 15 minutes of a year. */
export const yearStream = stations + 1
export const yearCount = 35_040
export const yearPoint = (n: number, id: number): Datapoint => ({
  ...pointAt(0, stations),
  id,
  stream: yearStream,
  startMs: beginMs + n * 900_000,
  endMs: beginMs + n * 900_000,
  properties: { temperature: (n % 400) / 10, nitrate: (n % 77) / 7, discharge: n % 1000 },
})

/** A bulk request of `size` readings, as a logger sends it. */
export const bulkOf = (station: number, size: number, first: number): string => {
  const [longitude, latitude] = placeOf(station)
  const datapoints = Array.from({ length: size }, (_, at) => {
    const time = new Date(Date.UTC(2026, 0, 1) + (first + at) * 1000).toISOString().replace('.000', '')
    const properties = { temperature: (at % 400) / 10, nitrate: (at % 77) / 7, site: `s${station}` }
    return {
      start_time: time,
      end_time: time,
      type: 'Feature',
      geometry: { type: 'Point', coordinates: [longitude, latitude, 0] },
      properties,
    }
  })
  return JSON.stringify({ datapoints, stream_id: String((station % stations) + 1) })
}

/** Fills a data folder, or servers, with the stations and `count` readings: records through the API, readings directly in the store. */
export const fillPoints = async (folder: string, count: number, env: Readonly<Record<string, string>>): Promise<void> => {
  const server = await bootForTest({ folder, env })
  const call = server.as(server.admin.key)
  const make = async (path: string, json: object): Promise<void> => {
    const answer = await call(path, { method: 'POST', json })
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
  }
  for (let n = 0; n <= stations; n++) {
    const geometry = { type: 'Point', coordinates: [...placeOf(n), 0] }
    await make('/api/geostreams/sensors', { name: `station ${n}`, type: 'Feature', geometry, properties: { type: { id: 'bench' } } })
    await make('/api/geostreams/streams', { name: `stream ${n}`, type: 'Feature', geometry, properties: {}, sensor_id: String(n + 1) })
  }
  const store = server.get(GeoStore)
  const insert = async (size: number, at: (n: number) => Datapoint): Promise<void> => {
    for (let n = 0; n < size; n += perBatch)
      await store.insert(Array.from({ length: Math.min(perBatch, size - n) }, (_, more) => at(n + more)))
  }
  await insert(count, n => pointAt(n, count))
  await insert(yearCount, n => yearPoint(n, count + n + 1))
  await server.drained(600_000)
  await server.stop()
}
