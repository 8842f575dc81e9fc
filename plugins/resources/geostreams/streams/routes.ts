import {
  answerList,
  configPort,
  Forbidden,
  geoNumberOf,
  Installation,
  Invalid,
  type ListAnswer,
  type ListQuery,
  NotFound,
  type Request,
  type Resolved,
  routesFor,
  Streams,
  s,
} from 'pounce/sdk'
import { areaParameters, readAreas } from '../area.ts'
import { config } from '../config.ts'
import { readGeometry, readProperties, sensorRef, streamRef, wireNumber } from '../input.ts'
import { namedListParameters, namedPage } from '../list-parameters.ts'
import { listOrNoData, orNoData } from '../no-data.ts'
import type { Stream } from '../records.ts'
import { type ReadingStatistics, Statistics } from '../statistics.ts'
import { ok } from '../statuses.ts'
import { StreamJson, toStreamJson } from './stream-json.ts'
import { StreamLifes } from './stream-life.ts'

const needs = { life: StreamLifes, streams: Streams, statistics: Statistics, settings: configPort(config), installation: Installation }
const route = routesFor('geostreams', needs)
const number = (what: string) => s.Object({ id: s.String({ maxLength: 40, description: `Number of a ${what}` }) })
const params = number('stream')
const ofStream = ({ id }: { readonly id: string }) => streamRef(id)
const free = s.Record(s.String(), s.Unknown())

const shownWith =
  (statistics: ReadingStatistics) =>
  async (some: readonly Stream[]): Promise<StreamJson[]> => {
    const known = await statistics.ofStreams(some.map(({ id }) => id))
    return some.map(stream => toStreamJson(stream, known.get(stream.id)))
  }
const shown = async (statistics: ReadingStatistics, stream: Stream): Promise<StreamJson> =>
  toStreamJson(stream, (await statistics.ofStreams([stream.id])).get(stream.id))

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

const asked = s.Object({
  ...areaParameters,
  stream_name: s.Optional(s.String({ maxLength: 500, description: 'The whole name' })),
  ...namedListParameters,
})

const listed = async (
  { query, caller, url }: Request<undefined, typeof asked, undefined>,
  { streams, statistics, installation }: Resolved<typeof needs>,
): Promise<ListAnswer<StreamJson>> => {
  const areas = readAreas(query)
  const listing = { ...(query.stream_name ? { name: query.stream_name } : {}), ...(areas ? { areas } : {}) }
  const read = (page: ListQuery) => streams.list(caller, listing, namedPage(page))
  return answerList(query, { read, show: shownWith(statistics), baseUrl: installation.baseUrl, url })
}

export const listStreams = route({
  method: 'GET',
  path: '/api/geostreams/streams',
  summary: 'Streams by name',
  description:
    'Those that the caller may see; `{"status":"No data found"}` when there are none. With an area a page may hold fewer than `limit`.',
  permission: 'ViewGeoStream',
  query: asked,
  responses: { 200: listOrNoData(StreamJson) },
  throws: [Invalid],
  async handle(request: Request<undefined, typeof asked, undefined>, found) {
    return orNoData(await listed(request, found))
  },
})

export const searchStreams = route({
  method: 'GET',
  path: '/api/geostreams/stream',
  summary: 'Streams by name, as pyclowder asks for them',
  description:
    'The same as `/api/geostreams/streams`, but that nothing is `[]`, which pyclowder takes for none. Clowder 1.x does not have it.',
  permission: 'ViewGeoStream',
  query: asked,
  responses: { 200: s.list(StreamJson) },
  throws: [Invalid],
  handle: listed,
})

export const listSensorStreams = route({
  method: 'GET',
  path: '/api/geostreams/sensors/:id/streams',
  summary: 'The streams of a sensor by name',
  description: '`{"status":"No data found"}` when it has none.',
  permission: 'ViewGeoStream',
  of: ({ id }) => sensorRef(id),
  params: number('sensor'),
  query: s.Object(namedListParameters),
  responses: { 200: listOrNoData(s.Object({ stream_id: s.Integer(), name: s.String() })) },
  throws: [NotFound, Invalid],
  async handle({ params, query, caller, url }, { streams, installation }) {
    const sensors = [sensorRef(params.id).id]
    const read = (page: ListQuery) => streams.list(caller, { sensors }, namedPage(page))
    const show = (some: readonly Stream[]) => some.map(({ id, name }) => ({ stream_id: geoNumberOf(id), name }))
    return orNoData(await answerList(query, { read, show, baseUrl: installation.baseUrl, url }))
  },
})

export const getStream = route({
  method: 'GET',
  path: '/api/geostreams/streams/:id',
  summary: 'One stream',
  permission: 'ViewGeoStream',
  of: ofStream,
  params,
  responses: { 200: StreamJson },
  throws: [NotFound],
  async handle({ params }, { streams, statistics }) {
    const stream = await streams.get(streamRef(params.id).id)
    if (!stream) throw new NotFound('stream')
    return { status: 200, body: await shown(statistics, stream) }
  },
})

export const updateStream = route({
  method: 'PUT',
  path: '/api/geostreams/streams/:id',
  summary: 'Change the properties of a stream',
  description: 'The body is the properties themselves. They are joined with those it has, member by member.',
  permission: 'CreateSensor',
  of: ofStream,
  params,
  body: free,
  responses: { 200: StreamJson },
  throws: [Invalid, NotFound, Forbidden],
  async handle({ params, body, caller }, { life, statistics }) {
    const { id } = streamRef(params.id)
    // First, so that an answer that cannot be given changes nothing.
    const known = await statistics.ofStreams([id])
    const changed = await life.change(id, readProperties(body), caller.user?.id)
    return { status: 200, body: toStreamJson(changed, known.get(id)) }
  },
})

export const deleteStream = route({
  method: 'DELETE',
  path: '/api/geostreams/streams/:id',
  summary: 'Delete a stream with its readings',
  description: 'They are out of sight at once and go in the background.',
  permission: 'DeleteGeoStream',
  of: ofStream,
  params,
  responses: ok,
  throws: [NotFound],
  async handle({ params, caller }, { life }) {
    await life.remove(streamRef(params.id).id, caller.user?.id)
    return { status: 200, body: { status: 'ok' } }
  },
})
