import { geoNumberOf, type StreamStatistics, s } from 'pounce/sdk'
import type { Stream } from '../records.ts'
import { showTime } from '../times.ts'

/** A stream as Clowder 1.x has it. */
export const StreamJson = s.model(
  'Stream',
  s.Object({
    id: s.Integer(),
    name: s.String(),
    created: s.String({ description: 'Such as `2017-01-25T09:30:00Z`' }),
    type: s.Literal('Feature'),
    properties: s.Record(s.String(), s.Unknown()),
    geometry: s.Record(s.String(), s.Unknown(), { description: 'GeoJSON: longitude first' }),
    sensor_id: s.String(),
    start_time: s.Union([s.String(), s.Null()]),
    end_time: s.Union([s.String(), s.Null()]),
    params: s.Union([s.Array(s.String()), s.Null()], { description: 'Parameters of its datapoints; null if there are none' }),
  }),
)
export type StreamJson = s.Static<typeof StreamJson>

export const toStreamJson = (stream: Stream, statistics: StreamStatistics | undefined): StreamJson => ({
  id: geoNumberOf(stream.id),
  name: stream.name,
  created: showTime(stream.created),
  type: 'Feature',
  properties: stream.properties,
  geometry: { ...stream.geometry },
  sensor_id: String(geoNumberOf(stream.sensor)),
  start_time: showTime(statistics?.firstStartMs ?? null),
  end_time: showTime(statistics?.lastEndMs ?? null),
  params: statistics ? [...statistics.properties] : null,
})
