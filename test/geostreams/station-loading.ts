import type { Datapoint } from 'pounce/sdk/geo'
import type { TestFetch } from 'pounce/sdk/testing'
import { pointBody, sensorBody, streamBody } from '../../scripts/test-data/station-bodies.ts'
import { type StationChoice, type StationData, stationData } from '../../scripts/test-data/stations.ts'
import { eachOf } from '../support/killed-server.ts'
import { ok } from '../support/scene.ts'

/** What a server was given, and the numbers that it gave out. */
export interface Loaded {
  readonly data: StationData
  readonly readings: readonly Datapoint[]
  /** By the number of a station or stream in the data. */
  readonly sensors: ReadonlyMap<number, number>
  readonly streams: ReadonlyMap<number, number>
}

const g = '/api/geostreams'
const perBulk = 5000

/** Makes sensors and streams, and loads the readings over HTTP: those of half of the streams as lines in one request, the others as JSON. */
export const loadStations = async (call: TestFetch, choice: StationChoice): Promise<Loaded> => {
  const data = stationData(choice)
  const make = async (path: string, json: object): Promise<number> =>
    (await ok<{ id: number }>(call(g + path, { method: 'POST', json }))).id
  const sensors = new Map<number, number>()
  const streams = new Map<number, number>()
  await eachOf(data.stations, async station => {
    sensors.set(station.number, await make('/sensors', sensorBody(station)))
  })
  await eachOf(data.streams, async stream => {
    streams.set(stream.number, await make('/streams', streamBody(stream, sensors.get(stream.station) ?? 0)))
  })
  const readings = [...data.points()]
  const byStream = Map.groupBy(readings, ({ stream }) => stream)
  const lines = [...byStream].flatMap(([stream, all]) =>
    stream % 2 === 0 ? all.map(each => JSON.stringify({ ...pointBody(each), stream_id: String(streams.get(stream)) })) : [],
  )
  const headers = { 'content-type': 'application/x-ndjson' }
  expect(await ok(call(`${g}/datapoints/bulk`, { method: 'POST', body: lines.join('\n'), headers })), lines.length)
  await eachOf(
    [...byStream].filter(([stream]) => stream % 2 === 1),
    async ([stream, all]) => {
      for (let at = 0; at < all.length; at += perBulk) {
        const datapoints = all.slice(at, at + perBulk).map(pointBody)
        expect(
          await ok(call(`${g}/datapoints/bulk`, { method: 'POST', json: { datapoints, stream_id: String(streams.get(stream)) } })),
          datapoints.length,
        )
      }
    },
    4,
  )
  return { data, readings, sensors, streams }
}

const expect = (reported: unknown, count: number): void => {
  if (reported !== count) throw new Error(`${count} were sent, the answer is ${JSON.stringify(reported)}`)
}
