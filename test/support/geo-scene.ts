import { type Datapoint, GeoStore } from 'pounce/sdk'
import type { TestFetch, TestServer } from 'pounce/sdk/testing'
import { ok } from './scene.ts'

const place = { type: 'Point', coordinates: [10, 50, 0] } as const

/** Makes a sensor; its number. */
export const newSensor = async (call: TestFetch, name: string, properties: Readonly<Record<string, unknown>> = {}): Promise<number> =>
  (
    await ok<{ id: number }>(
      call('/api/geostreams/sensors', { method: 'POST', json: { name, type: 'Feature', geometry: place, properties } }),
    )
  ).id

/** Makes a stream of a sensor; its number. */
export const newStream = async (call: TestFetch, sensor: number, name = 'run'): Promise<number> => {
  const json = { name, type: 'Feature', geometry: place, properties: {}, sensor_id: String(sensor) }
  return (await ok<{ id: number }>(call('/api/geostreams/streams', { method: 'POST', json }))).id
}

/** A reading: when it started, what it told, and what is different about it. */
export interface Told {
  readonly at: string
  readonly until?: string | null
  readonly altitude?: number
  readonly properties: Datapoint['properties']
}

let lastId = 1_000_000

/** The reading as a store keeps it. It ends when it starts unless `until` says otherwise. */
export const pointOf = (stream: number, { at, until = at, altitude, properties }: Told): Datapoint => {
  lastId += 1
  const startMs = Date.parse(at)
  return {
    id: lastId,
    stream,
    startMs,
    endMs: until === null ? null : Date.parse(until),
    createdMs: startMs,
    geometry: { type: 'Point', coordinates: altitude === undefined ? [10, 50] : [10, 50, altitude] },
    properties,
  }
}

/** Puts readings straight into the store; what is kept there. */
export const tell = async (server: TestServer, stream: number, told: readonly Told[]): Promise<readonly Datapoint[]> => {
  const points = told.map(each => pointOf(stream, each))
  for (let at = 0; at < points.length; at += 5000)
    for (const outcome of await server.get(GeoStore).insert(points.slice(at, at + 5000)))
      if (outcome.status !== 'inserted') throw new Error(JSON.stringify(outcome))
  return points
}
