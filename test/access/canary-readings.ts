import { ok } from '../support/scene.ts'
import type { Ids, Planter } from './canary-things.ts'

/** The location of all planted resources, for searches by location. */
export const planted = {
  longitude: -88.2,
  latitude: 40.1,
  around: '{"type":"Polygon","coordinates":[[[-89,40],[-87,40],[-87,41],[-89,41],[-89,40]]]}',
}

/** A sensor with a stream and two datapoints. Their ids are the numbers that clients use. */
export const plantReadings = async ({ call, tokens, of }: Planter, label: string, space?: string): Promise<Ids> => {
  const word = (field: string): string => tokens.mint(`${label} ${field}`, of)
  const make = async (path: string, json: object): Promise<string> =>
    String((await ok<{ id: number }>(call(`/api/geostreams/${path}`, { method: 'POST', json }))).id)
  const geometry = { type: 'Point', coordinates: [planted.longitude, planted.latitude, 0] }
  const about = { type: 'Feature', geometry }
  const sensor = await make('sensors', {
    ...{ ...about, name: word('sensor.name') },
    properties: {
      ...{ name: word('sensor.title'), popupContent: word('sensor.popup'), region: word('sensor.region') },
      ...{ type: { id: word('sensor.source'), title: word('sensor.source.title') }, [word('sensor.key')]: [{ deep: word('sensor.deep') }] },
    },
    ...(space === undefined ? {} : { spaces: [space] }),
  })
  const stream = await make('streams', {
    ...{ ...about, name: word('stream.name'), sensor_id: sensor },
    properties: { [word('stream.key')]: word('stream.value') },
  })
  const reading = (at: number, properties: object) =>
    make('datapoints', {
      ...about,
      start_time: `2020-0${at}-01T00:00:00Z`,
      end_time: `2020-0${at}-01T01:00:00Z`,
      properties,
      stream_id: stream,
    })
  const datapoint = await reading(3, { [word('reading.number')]: 7, level: 2 })
  await reading(8, { [word('reading.text')]: word('reading.value'), level: 3 })
  return { sensor, stream, datapoint }
}
