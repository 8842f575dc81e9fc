import { geoNumberOf, type StreamStatistics, s } from 'pounce/sdk'
import type { Sensor } from '../records.ts'
import { showTime } from '../times.ts'

/** A sensor as Clowder 1.x has it; `spaces` is our own. */
export const SensorJson = s.model(
  'Sensor',
  s.Object({
    id: s.Integer(),
    name: s.String(),
    created: s.String({ description: 'Such as `2017-01-25T09:30:00Z`' }),
    type: s.Literal('Feature'),
    properties: s.Record(s.String(), s.Unknown()),
    geometry: s.Record(s.String(), s.Unknown(), { description: 'GeoJSON: longitude first' }),
    min_start_time: s.Union([s.String(), s.Null()]),
    max_end_time: s.Union([s.String(), s.Null()]),
    parameters: s.Array(s.Union([s.String(), s.Null()]), { description: 'Parameters of its datapoints; `[null]` if there are none' }),
    spaces: s.Optional(s.Array(s.String(), { description: 'Spaces whose roles give rights on it; absent if there are none' })),
  }),
)
export type SensorJson = s.Static<typeof SensorJson>

/** What is known of all readings of a sensor. */
export type SensorStatistics = Pick<StreamStatistics, 'firstStartMs' | 'lastEndMs' | 'properties'>

/** Times and parameters, as they stand in a sensor and in its statistics. */
export const rangeOf = (statistics: SensorStatistics | undefined) => ({
  min_start_time: showTime(statistics?.firstStartMs ?? null),
  max_end_time: showTime(statistics?.lastEndMs ?? null),
})
export const parametersOf = (statistics: SensorStatistics | undefined): (string | null)[] =>
  statistics ? [...statistics.properties] : [null]

export const toSensorJson = (sensor: Sensor, statistics: SensorStatistics | undefined): SensorJson => ({
  id: geoNumberOf(sensor.id),
  name: sensor.name,
  created: showTime(sensor.created),
  type: 'Feature',
  properties: sensor.properties,
  geometry: { ...sensor.geometry },
  ...rangeOf(statistics),
  parameters: parametersOf(statistics),
  ...(sensor.spaces.length > 0 ? { spaces: [...sensor.spaces] } : {}),
})
