import { configPort, NotFound, routesFor, Sites, s } from 'pounce/sdk'
import { ok, updated } from './collections.ts'
import { config } from './config.ts'
import { GeostreamCounts } from './geostream-counts.ts'
import { sensorRef, streamRef } from './input.ts'
import { SensorService } from './sensors/sensor-service.ts'

const route = routesFor('geostreams', { counts: GeostreamCounts, service: SensorService, sites: Sites, settings: configPort(config) })
const params = s.Object({ id: s.String({ maxLength: 40, description: 'Number of the sensor or stream' }) })

const isCurrent = 'Statistics are always current, so this route does nothing. It exists for clients of Clowder 1.x.'
const done = async () => ({ status: 200, body: { status: 'updated' } }) as const

export const refreshSensor = route({
  method: 'GET',
  path: '/api/geostreams/sensors/:id/update',
  summary: 'Update the statistics of a sensor (no effect)',
  description: isCurrent,
  permission: { right: 'AddGeoStream', on: ({ id }) => sensorRef(id) },
  params,
  responses: updated,
  throws: [NotFound],
  handle: done,
})

export const refreshSensors = route({
  method: 'GET',
  path: '/api/geostreams/sensors/update',
  summary: 'Update the statistics of all sensors (no effect)',
  description: isCurrent,
  permission: { right: 'AddGeoStream', unscoped: 'Changes nothing and shows nothing: counts are always current.' },
  responses: updated,
  handle: done,
})

export const refreshStream = route({
  method: 'GET',
  path: '/api/geostreams/streams/:id/update',
  summary: 'Update the statistics of a stream (no effect)',
  description: isCurrent,
  permission: { right: 'AddGeoStream', on: ({ id }) => streamRef(id) },
  params,
  responses: updated,
  throws: [NotFound],
  handle: done,
})

export const refreshStreams = route({
  method: 'GET',
  path: '/api/geostreams/streams/update',
  summary: 'Update the statistics of all streams (no effect)',
  description: isCurrent,
  permission: { right: 'AddGeoStream', unscoped: 'Changes nothing and shows nothing: counts are always current.' },
  responses: updated,
  handle: done,
})

export const countGeostreams = route({
  method: 'GET',
  path: '/api/geostreams/counts',
  summary: 'Count sensors, streams and datapoints',
  description:
    'Sensors and streams are counted up to a million; datapoints exactly if there are at most 10,000 streams, otherwise up to a million or, for callers who may not view all, those of the first 10,000 streams.',
  permission: { right: 'ViewGeoStream', unscoped: 'Counts only what the caller may see.' },
  responses: { 200: s.model('GeostreamCounts', s.Object({ sensors: s.Integer(), streams: s.Integer(), datapoints: s.Integer() })) },
  async handle({ caller }, { counts }) {
    return { status: 200, body: await counts.of(caller) }
  },
})

export const getGeostreamsConfig = route({
  method: 'GET',
  path: '/api/geostreams/config',
  summary: 'Get the geostreams labels and user agreement',
  description: 'The labels are set by server admins (`/api/sensors/config`).',
  permission: { right: 'ViewGeoStream', unscoped: 'The titles and the user agreement belong to the installation, not to a sensor.' },
  responses: {
    200: s.model(
      'GeostreamSettings',
      s.Object({
        userAgreement: s.String(),
        sensorsTitle: s.String(),
        sensorTitle: s.String(),
        parametersTitle: s.String(),
        parameterTitle: s.String(),
      }),
    ),
  },
  async handle(_request, { sites, settings: { userAgreement } }) {
    const site = await sites.all()[0]?.settings()
    const { sensors = 'Sensors', sensor = 'Sensor', parameters = 'Parameters', parameter = 'Parameter' } = site ?? {}
    const titles = { sensorsTitle: sensors, sensorTitle: sensor, parametersTitle: parameters, parameterTitle: parameter }
    return { status: 200, body: { userAgreement, ...titles } }
  },
})

export const dropGeostreams = route({
  method: 'DELETE',
  path: '/api/geostreams/dropall',
  summary: 'Delete all sensors, streams and datapoints',
  description:
    'For server admins; in Clowder 1.x for everyone. Streams and datapoints are deleted in the background. If interrupted, it continues when called again.',
  permission: 'serverAdmin',
  responses: ok,
  async handle({ caller, signal }, { service }) {
    await service.removeAll(caller.user?.id, signal)
    return { status: 200, body: { status: 'ok' } }
  },
})
