import { Forbidden, Installation, Invalid, NotFound, routesFor, Sensors, s } from 'pounce/sdk'
import { answerList, type ListQuery } from 'pounce/sdk/kit'
import { ok, type Sensor } from '../collections.ts'
import { areaParameters, readAreas } from '../datapoint-filter.ts'
import { ReadingStatistics } from '../geostream-counts.ts'
import { readGeometry, readProperties, sensorRef } from '../input.ts'
import { namedListParameters, namedPage } from '../listing.ts'
import { parametersOf, rangeOf, SensorJson, SensorService, SensorView } from './sensor-service.ts'

const route = routesFor('geostreams', {
  ...{ service: SensorService, sensors: Sensors, view: SensorView, statistics: ReadingStatistics, installation: Installation },
})
const params = s.Object({ id: s.String({ maxLength: 40, description: 'Number of a sensor' }) })
const ofSensor = ({ id }: { readonly id: string }) => sensorRef(id)
const free = s.Record(s.String(), s.Unknown())
const spaces = s.Optional(s.Array(s.id(), { maxItems: 100, description: 'Ids of spaces whose roles give rights on it' }))

export const createSensor = route({
  method: 'POST',
  path: '/api/geostreams/sensors',
  summary: 'Create a sensor',
  description:
    'Coordinates are GeoJSON: longitude, latitude, and optionally altitude. Adding it to spaces requires the right to add to each.',
  permission: {
    right: 'AddGeoStream',
    unscoped: 'The sensor is new; the handler checks AddResourceToSpace on the spaces that the body names.',
  },
  body: s.model('NewSensor', s.Object({ name: s.line(), type: s.String({ maxLength: 200 }), geometry: free, properties: free, spaces })),
  responses: { 200: SensorJson },
  throws: [Invalid, NotFound, Forbidden],
  async handle({ body, caller }, { service, view }) {
    const geometry = readGeometry(body.geometry)
    const properties = readProperties(body.properties)
    const sensor = await service.create(caller, { name: body.name, geometry, properties, spaces: body.spaces ?? [] })
    return { status: 200, body: await view.one(caller, sensor) }
  },
})

export const listSensors = route({
  method: 'GET',
  path: '/api/geostreams/sensors',
  summary: 'List or search sensors by name',
  description: 'Sensors that the caller may view. With an area a page can be shorter than `limit`.',
  permission: { right: 'ViewGeoStream', unscoped: 'The list holds only sensors that the caller may see.' },
  cost: 'export',
  query: s.Object({
    ...areaParameters,
    sensor_name: s.Optional(s.String({ maxLength: 500, description: 'Full name' })),
    ...namedListParameters,
  }),
  responses: { 200: s.list(SensorJson) },
  throws: [Invalid],
  async handle({ query, caller, url }, { sensors, view, installation }) {
    const areas = readAreas(query)
    const filter = { ...(query.sensor_name ? { name: query.sensor_name } : {}), ...(areas ? { areas } : {}) }
    const read = (page: ListQuery) => sensors.list(caller, filter, namedPage(page))
    return answerList(query, { read, show: some => view.show(caller, some), baseUrl: installation.baseUrl, url })
  },
})

export const getSensor = route({
  method: 'GET',
  path: '/api/geostreams/sensors/:id',
  summary: 'Get a sensor',
  permission: { right: 'ViewGeoStream', on: ofSensor },
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
  summary: 'Update a sensor',
  description:
    'Properties are merged member by member; absent members stay unchanged. Adding it to a space requires the right to add to the space and being the creator of the sensor; removing it requires either this or the right to remove from the space.',
  permission: { right: 'CreateSensor', on: ofSensor },
  params,
  body: s.model('SensorChange', s.Object({ properties: s.Optional(free), geometry: s.Optional(free), spaces })),
  responses: { 200: SensorJson },
  throws: [Invalid, NotFound, Forbidden],
  async handle({ params, body, caller }, { service, view }) {
    const { properties, geometry, spaces } = body
    if (!properties && !geometry && !spaces) throw new Invalid('The body must have properties, geometry or spaces')
    const changes = {
      ...(properties ? { properties: readProperties(properties) } : {}),
      ...(geometry ? { geometry: readGeometry(geometry) } : {}),
      ...(spaces ? { spaces } : {}),
    }
    const { id } = sensorRef(params.id)
    return { status: 200, body: await view.changed(caller, id, () => service.change(caller, id, changes)) }
  },
})

export const deleteSensor = route({
  method: 'DELETE',
  path: '/api/geostreams/sensors/:id',
  summary: 'Delete a sensor with its streams and datapoints',
  description: 'They are hidden at once and deleted in the background.',
  permission: { right: 'DeleteGeoStream', on: ofSensor },
  params,
  responses: ok,
  throws: [NotFound],
  async handle({ params, caller }, { service }) {
    await service.remove(sensorRef(params.id).id, caller.user?.id)
    return { status: 200, body: { status: 'ok' } }
  },
})

export const getSensorStatistics = route({
  method: 'GET',
  path: '/api/geostreams/sensors/:id/stats',
  summary: 'Get the time range and statistics of a sensor',
  permission: { right: 'ViewGeoStream', on: ofSensor },
  params,
  responses: {
    200: s.model(
      'SensorStatistics',
      s.Object({
        range: s.Object({ min_start_time: s.Union([s.String(), s.Null()]), max_end_time: s.Union([s.String(), s.Null()]) }),
        parameters: s.Array(s.Union([s.String(), s.Null()])),
      }),
    ),
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
