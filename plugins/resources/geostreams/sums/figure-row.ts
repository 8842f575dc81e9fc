import { type Geometry, type Json, s } from 'pounce/sdk'

/** What all readings of a sensor come to: its first reading, with figures among the properties. */
export interface FigureRow {
  readonly id: number
  readonly created: string
  readonly start_time: string
  readonly end_time: string
  readonly last_time?: string
  readonly properties: Readonly<Record<string, Json>>
  readonly type: 'Feature'
  readonly geometry: Geometry
  readonly stream_id: readonly string[]
  readonly sensor_id: string
  readonly sensor_name: string
}

/** The same as the API page has it. */
export const FigureRowJson = s.model(
  'DatapointStatistics',
  s.Object({
    id: s.Integer({ description: 'Id of the first datapoint' }),
    created: s.String(),
    start_time: s.String({ description: 'Start time of the first datapoint' }),
    end_time: s.String({ description: 'End time of the last datapoint, or its start time if it has none' }),
    last_time: s.Optional(s.String({ description: 'Label of the latest bin, such as `2017 spring`' })),
    properties: s.Record(s.String(), s.Unknown()),
    type: s.Literal('Feature'),
    geometry: s.Record(s.String(), s.Unknown()),
    stream_id: s.Array(s.String()),
    sensor_id: s.String(),
    sensor_name: s.String(),
  }),
)
