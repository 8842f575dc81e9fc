import { answerList, Forbidden, Installation, Invalid, type ListQuery, NotFound, routesFor, Sensors, s } from 'pounce/sdk'
import { areaParameters, readAreas } from '../area.ts'
import { readGeometry, readProperties, sensorRef } from '../input.ts'
import { namedListParameters, namedPage } from '../list-parameters.ts'
import type { Sensor } from '../records.ts'
import { Statistics } from '../statistics.ts'
import { ok } from '../statuses.ts'
import { parametersOf, rangeOf, SensorJson } from './sensor-json.ts'
import { SensorLifes } from './sensor-life.ts'
import { SensorViews } from './sensor-view.ts'

const route = routesFor('geostreams', {
  ...{ life: SensorLifes, sensors: Sensors, view: SensorViews, statistics: Statistics, installation: Installation },
})
const params = s.Object({ id: s.String({ maxLength: 40, description: 'Number of a sensor' }) })
const ofSensor = ({ id }: { readonly id: string }) => sensorRef(id)
const free = s.Record(s.String(), s.Unknown())
const spaces = s.Optional(s.Array(s.id(), { maxItems: 100, description: 'Ids of spaces through whose roles people have rights on it' }))

export const createSensor = route({
  method: 'POST',
  path: '/api/geostreams/sensors',
  summary: 'Make a sensor',
  description: 'Coordinates are GeoJSON: longitude, latitude, and perhaps altitude. Putting it into spaces takes the right to add to each.',
  permission: 'AddGeoStream',
  body: s.Object({ name: s.line(), type: s.Optional(s.String()), geometry: free, properties: free, spaces }),
  responses: { 200: SensorJson },
  throws: [Invalid, NotFound, Forbidden],
  async handle({ body, caller }, { life, view }) {
    const geometry = readGeometry(body.geometry)
    const properties = readProperties(body.properties)
    const made = await life.create(caller, { name: body.name, geometry, properties, spaces: body.spaces ?? [] })
    return { status: 200, body: await view.one(caller, made) }
  },
})

export const listSensors = route({
  method: 'GET',
  path: '/api/geostreams/sensors',
  summary: 'Sensors by name',
  description: 'Those that the caller may see. With an area a page may hold fewer than `limit`.',
  permission: 'ViewGeoStream',
  query: s.Object({
    ...areaParameters,
    sensor_name: s.Optional(s.String({ maxLength: 500, description: 'The whole name' })),
    ...namedListParameters,
  }),
  responses: { 200: s.list(SensorJson) },
  throws: [Invalid],
  async handle({ query, caller, url }, { sensors, view, installation }) {
    const areas = readAreas(query)
    const asked = { ...(query.sensor_name ? { name: query.sensor_name } : {}), ...(areas ? { areas } : {}) }
    const read = (page: ListQuery) => sensors.list(caller, asked, namedPage(page))
    return answerList(query, { read, show: some => view.show(caller, some), baseUrl: installation.baseUrl, url })
  },
})

export const getSensor = route({
  method: 'GET',
  path: '/api/geostreams/sensors/:id',
  summary: 'One sensor',
  permission: 'ViewGeoStream',
  of: ofSensor,
  params,
  responses: { 200: SensorJson },
  throws: [NotFound],
  async handle({ params, caller }, { sensors, view }) {
    return { status: 200, body: await view.one(caller, await existing(sensors, params.id)) }
  },
})

export const updateSensor = route({
  method: 'PUT',
  path: '/api/geostreams/sensors/:id',
  summary: 'Change the properties, the place or the spaces of a sensor',
  description:
    'Properties are joined with those it has, member by member; what is absent stays. Putting it into a space takes the right to add to that, and is for whoever made the sensor; taking it out takes that or the right to remove from the space.',
  permission: 'CreateSensor',
  of: ofSensor,
  params,
  body: s.Object({ properties: s.Optional(free), geometry: s.Optional(free), spaces }),
  responses: { 200: SensorJson },
  throws: [Invalid, NotFound, Forbidden],
  async handle({ params, body, caller }, { life, view }) {
    const { properties, geometry, spaces } = body
    if (!properties && !geometry && !spaces) throw new Invalid('The body has neither properties nor geometry nor spaces')
    const changes = {
      ...(properties ? { properties: readProperties(properties) } : {}),
      ...(geometry ? { geometry: readGeometry(geometry) } : {}),
      ...(spaces ? { spaces } : {}),
    }
    const { id } = sensorRef(params.id)
    return { status: 200, body: await view.changed(caller, id, () => life.change(caller, id, changes)) }
  },
})

export const deleteSensor = route({
  method: 'DELETE',
  path: '/api/geostreams/sensors/:id',
  summary: 'Delete a sensor with its streams and readings',
  description: 'They are out of sight at once and go in the background.',
  permission: 'DeleteGeoStream',
  of: ofSensor,
  params,
  responses: ok,
  throws: [NotFound],
  async handle({ params, caller }, { life }) {
    await life.remove(sensorRef(params.id).id, caller.user?.id)
    return { status: 200, body: { status: 'ok' } }
  },
})

export const getSensorStatistics = route({
  method: 'GET',
  path: '/api/geostreams/sensors/:id/stats',
  summary: 'When the readings of a sensor begin and end, and what they tell',
  permission: 'ViewGeoStream',
  of: ofSensor,
  params,
  responses: {
    200: s.Object({
      range: s.Object({ min_start_time: s.Union([s.String(), s.Null()]), max_end_time: s.Union([s.String(), s.Null()]) }),
      parameters: s.Array(s.Union([s.String(), s.Null()])),
    }),
  },
  throws: [NotFound],
  async handle({ params }, { sensors, statistics }) {
    const { id } = await existing(sensors, params.id)
    const known = (await statistics.ofSensors([id])).get(id)
    return { status: 200, body: { range: rangeOf(known), parameters: known ? parametersOf(known) : [] } }
  },
})

const existing = async (sensors: Sensors, number: string): Promise<Sensor> => {
  const sensor = await sensors.get(sensorRef(number).id)
  if (!sensor) throw new NotFound('sensor')
  return sensor
}
