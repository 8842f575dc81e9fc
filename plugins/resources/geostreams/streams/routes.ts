import { configPort, Forbidden, Invalid, NotFound, routesFor, s } from 'pounce/sdk'
import { config } from '../config.ts'
import { readGeometry, readProperties, wireNumber } from '../input.ts'
import { StreamJson, toStreamJson } from './stream-json.ts'
import { StreamLifes } from './stream-life.ts'

const route = routesFor('geostreams', { life: StreamLifes, settings: configPort(config) })
const free = s.Record(s.String(), s.Unknown())

export const createStream = route({
  method: 'POST',
  path: '/api/geostreams/streams',
  summary: 'Make a stream of a sensor',
  description: 'Takes the right to add to the sensor, unless `anybodyMayAdd` is set.',
  permission: 'AddGeoStream',
  body: s.Object({ name: s.line(), type: s.Optional(s.String()), geometry: free, properties: free, sensor_id: wireNumber('the sensor') }),
  responses: { 200: StreamJson },
  throws: [Invalid, NotFound, Forbidden],
  async handle({ body, caller }, { life, settings }) {
    const geometry = readGeometry(body.geometry, settings)
    const properties = readProperties(body.properties)
    const made = await life.create(caller, { name: body.name, sensor: body.sensor_id, geometry, properties })
    return { status: 200, body: toStreamJson(made, undefined) }
  },
})
