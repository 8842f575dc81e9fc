import { configPort, NotFound, routesFor, Sites, s } from 'pounce/sdk'
import { config } from './config.ts'
import { Counting } from './geo-counts.ts'
import { sensorRef, streamRef } from './input.ts'
import { SensorLifes } from './sensors/sensor-life.ts'
import { ok, updated } from './statuses.ts'

const route = routesFor('geostreams', { counts: Counting, life: SensorLifes, sites: Sites, settings: configPort(config) })
const params = s.Object({ id: s.String({ maxLength: 40, description: 'Its number' }) })

const isCurrent = 'What is told of readings is always current, so nothing is done: it is there for clients of Clowder 1.x.'
const done = async () => ({ status: 200, body: { status: 'updated' } }) as const

export const refreshSensor = route({
  method: 'GET',
  path: '/api/geostreams/sensors/:id/update',
  summary: 'Would bring the statistics of a sensor up to date',
  description: isCurrent,
  permission: 'AddGeoStream',
  of: ({ id }) => sensorRef(id),
  params,
  responses: updated,
  throws: [NotFound],
  handle: done,
})

export const refreshSensors = route({
  method: 'GET',
  path: '/api/geostreams/sensors/update',
  summary: 'Would bring the statistics of all sensors up to date',
  description: isCurrent,
  permission: 'serverAdmin',
  responses: updated,
  handle: done,
})

export const refreshStream = route({
  method: 'GET',
  path: '/api/geostreams/streams/:id/update',
  summary: 'Would bring the statistics of a stream up to date',
  description: isCurrent,
  permission: 'AddGeoStream',
  of: ({ id }) => streamRef(id),
  params,
  responses: updated,
  throws: [NotFound],
  handle: done,
})

export const refreshStreams = route({
  method: 'GET',
  path: '/api/geostreams/streams/update',
  summary: 'Would bring the statistics of all streams up to date',
  description: isCurrent,
  permission: 'serverAdmin',
  responses: updated,
  handle: done,
})

export const countGeostreams = route({
  method: 'GET',
  path: '/api/geostreams/counts',
  summary: 'How many sensors, streams and readings the caller may see',
  description:
    'Sensors and streams are counted up to a million; readings exactly where there are at most 10,000 streams, else up to a million, or, for somebody who may not see all, those of the first 10,000 streams.',
  permission: 'ViewGeoStream',
  responses: { 200: s.Object({ sensors: s.Integer(), streams: s.Integer(), datapoints: s.Integer() }) },
  async handle({ caller }, { counts }) {
    return { status: 200, body: await counts.of(caller) }
  },
})

export const getGeostreamsConfig = route({
  method: 'GET',
  path: '/api/geostreams/config',
  summary: 'What clients call sensors and what is measured, and the user agreement',
  description: 'The titles are those that server admins set (`/api/sensors/config`).',
  permission: 'ViewGeoStream',
  responses: {
    200: s.Object({
      userAgreement: s.String(),
      sensorsTitle: s.String(),
      sensorTitle: s.String(),
      parametersTitle: s.String(),
      parameterTitle: s.String(),
    }),
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
  summary: 'Delete all sensors with their streams and readings',
  description:
    'For server admins; in Clowder 1.x everybody could. Streams and readings go in the background. Cut short, it goes on when called again.',
  permission: 'serverAdmin',
  responses: ok,
  async handle({ caller, signal }, { life }) {
    await life.removeAll(caller.user?.id, signal)
    return { status: 200, body: { status: 'ok' } }
  },
})
