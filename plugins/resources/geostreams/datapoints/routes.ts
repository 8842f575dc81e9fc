import { configPort, Forbidden, Invalid, NotFound, routesFor, s } from 'pounce/sdk'
import { config } from '../config.ts'
import { wireNumber } from '../input.ts'
import { DatapointJson } from './datapoint-json.ts'
import { DatapointService } from './datapoint-service.ts'
import { readPoint } from './read-point.ts'

const route = routesFor('geostreams', { life: DatapointService, settings: configPort(config) })

const free = s.Record(s.String(), s.Unknown())
const time = (description: string) => s.String({ maxLength: 60, description })
const params = s.Object({ id: s.String({ description: 'Number of a datapoint' }) })

export const createDatapoint = route({
  method: 'POST',
  path: '/api/geostreams/datapoints',
  summary: 'Add a datapoint to a stream',
  description:
    'Requires the right to add to the sensor of the stream, unless `anybodyMayAdd` is set. Aggregates and lists include it at once, so `invalidateCache` has no effect.',
  permission: {
    right: 'AddGeoStream',
    unscoped: 'The body names the stream; the handler checks AddGeoStream on it, which the setting anybodyMayAdd can waive.',
  },
  query: s.Object({ invalidateCache: s.Optional(s.String({ maxLength: 20 })) }),
  body: s.model(
    'NewDatapoint',
    s.Object({
      start_time: time(
        'ISO 8601, such as `2017-01-25T09:33:02-06:00`; UTC without a zone. A blank for the T and fractions of a second are fine',
      ),
      end_time: s.Optional(s.Union([time('The same; absent: it has no known end'), s.Null()])),
      type: s.String({ maxLength: 200, description: '`Feature`' }),
      geometry: free,
      properties: free,
      stream_id: wireNumber('the stream'),
    }),
  ),
  responses: { 200: DatapointJson },
  throws: [Invalid, NotFound, Forbidden],
  async handle({ body, caller, log }, { life, settings }) {
    return { status: 200, body: await life.create(caller, readPoint(body, settings), log) }
  },
})

export const getDatapoint = route({
  method: 'GET',
  path: '/api/geostreams/datapoints/:id',
  summary: 'Get a datapoint',
  permission: { right: 'ViewGeoStream', unscoped: 'A datapoint has no rights of its own; the handler checks ViewGeoStream on its stream.' },
  params,
  responses: { 200: DatapointJson },
  throws: [NotFound],
  async handle({ params, caller }, { life }) {
    return { status: 200, body: await life.get(caller, params.id) }
  },
})

export const deleteDatapoint = route({
  method: 'DELETE',
  path: '/api/geostreams/datapoints/:id',
  summary: 'Delete a datapoint',
  permission: {
    right: 'DeleteGeoStream',
    unscoped: 'A datapoint has no rights of its own; the handler checks DeleteGeoStream on its stream.',
  },
  params,
  responses: { 200: s.Object({ status: s.Literal('ok') }) },
  throws: [NotFound, Forbidden],
  async handle({ params, caller }, { life }) {
    await life.remove(caller, params.id)
    return { status: 200, body: { status: 'ok' as const } }
  },
})
