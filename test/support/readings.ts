import { GeoStore } from 'pounce/sdk'
import type { Datapoint } from 'pounce/sdk/geo'
import type { TestServer } from 'pounce/sdk/testing'

/** A datapoint: its start, its values, and optional overrides. */
export interface Reading {
  readonly at: string | number
  /** Its end; null: open. By default its start. */
  readonly until?: string | number | null
  readonly altitude?: number
  readonly properties: Datapoint['properties']
}

/** Above the ids that kernels assign in a test. */
let lastId = 1_000_000

const msOf = (time: string | number): number => (typeof time === 'number' ? time : Date.parse(time))

const pointOf = (stream: number, { at, until = at, altitude, properties }: Reading): Datapoint => {
  lastId += 1
  const startMs = msOf(at)
  return {
    id: lastId,
    stream,
    startMs,
    endMs: until === null ? null : msOf(until),
    createdMs: startMs,
    geometry: { type: 'Point', coordinates: altitude === undefined ? [10, 50] : [10, 50, altitude] },
    properties,
  }
}

/** Adds datapoints of a stream directly to the store; resolves to the stored datapoints. */
export const insertReadings = async (server: TestServer, stream: number, readings: readonly Reading[]): Promise<readonly Datapoint[]> => {
  const points = readings.map(each => pointOf(stream, each))
  for (let at = 0; at < points.length; at += 5000)
    for (const outcome of await server.get(GeoStore).insert(points.slice(at, at + 5000)))
      if (outcome.status !== 'inserted') throw new Error(JSON.stringify(outcome))
  return points
}
