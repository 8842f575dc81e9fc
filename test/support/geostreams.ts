import type { Answer, Calls } from './calls.ts'

/** A GeoJSON point. */
export const pointAt = (longitude: number, latitude: number, ...altitude: readonly number[]) => ({
  type: 'Point',
  coordinates: [longitude, latitude, ...altitude],
})

const madeOf = async (answer: Promise<Answer>): Promise<number> => {
  const { status, body } = await answer
  const { id } = body as { readonly id?: unknown }
  if (status !== 200 || typeof id !== 'number') throw new Error(`${status} ${JSON.stringify(body)}`)
  return id
}

/** Creates a sensor; resolves to its number. */
export const newSensor = (owner: Pick<Calls, 'post'>, more: object = {}): Promise<number> =>
  madeOf(
    owner.post('/api/geostreams/sensors', {
      name: 'a sensor',
      type: 'Feature',
      geometry: pointAt(-88.2, 40.1, 0),
      properties: { type: { id: 'station', title: 'Station' }, region: 'North' },
      ...more,
    }),
  )

/** Creates a stream of a sensor; resolves to its number. */
export const newStream = (owner: Pick<Calls, 'post'>, sensor: number, more: object = {}): Promise<number> =>
  madeOf(
    owner.post('/api/geostreams/streams', {
      name: 'a stream',
      type: 'Feature',
      geometry: pointAt(-88.2, 40.1, 0),
      properties: {},
      sensor_id: String(sensor),
      ...more,
    }),
  )
