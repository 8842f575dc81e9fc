import type { Json } from 'pounce/sdk'
import type { Datapoint } from 'pounce/sdk/geo'
import type { Station, StationStream } from './stations.ts'

type Body = Readonly<Record<string, Json>>

/** Clowder v1's format of times in whole seconds. */
const timeText = (ms: number): string => new Date(ms).toISOString().replace('.000Z', 'Z')

/** For `POST /api/geostreams/sensors`. */
export const sensorBody = ({ name, geometry, properties }: Station): Body => ({
  ...{ name, type: 'Feature', properties },
  geometry: { ...geometry, coordinates: [...geometry.coordinates] },
})

/** For `POST /api/geostreams/streams`, with the id of the sensor that the server created. */
export const streamBody = ({ name, geometry, properties }: StationStream, sensor: number): Body => ({
  ...{ name, type: 'Feature', properties, sensor_id: String(sensor) },
  geometry: geometry as unknown as Json,
})

/** A datapoint of `POST /api/geostreams/datapoints/bulk`; a single datapoint also needs `stream_id`. */
export const pointBody = ({ startMs, endMs, geometry, properties }: Datapoint): Body => ({
  start_time: timeText(startMs),
  ...(endMs === null ? {} : { end_time: timeText(endMs) }),
  ...{ type: 'Feature', geometry: geometry as unknown as Json, properties },
})
