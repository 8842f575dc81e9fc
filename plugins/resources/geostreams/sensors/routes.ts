import { Forbidden, Invalid, NotFound, routesFor, s } from 'pounce/sdk'
import { readGeometry, readProperties } from '../input.ts'
import { SensorJson, toSensorJson } from './sensor-json.ts'
import { SensorLifes } from './sensor-life.ts'

const route = routesFor('geostreams', { life: SensorLifes })
const free = s.Record(s.String(), s.Unknown())
const spaces = s.Optional(s.Array(s.id(), { maxItems: 100, description: 'Ids of spaces through whose roles people have rights on it' }))

export const createSensor = route({
  method: 'POST',
  path: '/api/geostreams/sensors',
  summary: 'Make a sensor',
  description: 'Coordinates are GeoJSON: longitude, latitude, and perhaps altitude.',
  permission: 'AddGeoStream',
  body: s.Object({ name: s.line(), type: s.Optional(s.String()), geometry: free, properties: free, spaces }),
  responses: { 200: SensorJson },
  throws: [Invalid, NotFound, Forbidden],
  async handle({ body, caller }, { life }) {
    const geometry = readGeometry(body.geometry)
    const properties = readProperties(body.properties)
    const made = await life.create(caller, { name: body.name, geometry, properties, spaces: body.spaces ?? [] })
    return { status: 200, body: toSensorJson(made, undefined) }
  },
})
