import { configPort, Forbidden, Installation, Invalid, NotFound, type Request, type Resolved, routesFor, Streams, s } from 'pounce/sdk'
import { geoNumberOf, type StreamStatistics } from 'pounce/sdk/geo'
import { answerList, type ListAnswer, type ListQuery } from 'pounce/sdk/kit'
import { ok, type Stream } from '../collections.ts'
import { config } from '../config.ts'
import { areaParameters, readAreas } from '../datapoint-filter.ts'
import { ReadingStatistics } from '../geostream-counts.ts'
import { readGeometry, readProperties, sensorRef, showTime, streamRef, wireNumber } from '../input.ts'
import { namedListParameters, namedPage } from '../listing.ts'
import { StreamService } from './stream-service.ts'

/** A stream in the format of Clowder 1.x. */
const StreamJson = s.model(
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

type StreamJson = s.Static<typeof StreamJson>

const toStreamJson = (stream: Stream, statistics: StreamStatistics | undefined): StreamJson => ({
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

/** A list for which clients of Clowder 1.x expect `{"status":"No data found"}` when it is empty. */
const listOrNoData = <T extends s.TSchema>(item: T) =>
  s.Unsafe<readonly s.Static<T>[] | AsyncIterable<s.Static<T>> | NoData>({
    anyOf: [s.list(item), s.Object({ status: s.Literal('No data found') })],
    [s.bodyKind]: 'rows',
  })

interface NoData {
  readonly status: 'No data found'
}

const noData: NoData = { status: 'No data found' }

const isStream = <V>(body: readonly V[] | AsyncIterable<V>): body is AsyncIterable<V> => Symbol.asyncIterator in body

async function* goingOn<V>(first: V, rest: AsyncIterator<V>): AsyncGenerator<V> {
  yield first
  yield* { [Symbol.asyncIterator]: () => rest }
}

/** The list, or `noData` if it is empty. */
const orNoData = async <V>(answer: ListAnswer<V>): Promise<{ readonly status: 200; readonly body: ListAnswer<V>['body'] | NoData }> => {
  const { body } = answer
  if (!isStream(body)) return body.length === 0 && !answer.headers ? { status: 200, body: noData } : answer
  const rows = body[Symbol.asyncIterator]()
  const first = await rows.next()
  return { status: 200, body: first.done ? noData : goingOn(first.value, rows) }
}

const needs = {
  service: StreamService,
  streams: Streams,
  statistics: ReadingStatistics,
  settings: configPort(config),
  installation: Installation,
}

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
  summary: 'Create a stream',
  description: 'Requires the right to add to the sensor, unless `anybodyMayAdd` is set.',
  permission: {
    right: 'AddGeoStream',
    unscoped: 'The body names the sensor; the handler checks AddGeoStream on it, or ViewGeoStream with the setting anybodyMayAdd.',
  },
  body: s.model(
    'NewStream',
    s.Object({ name: s.line(), type: s.String({ maxLength: 200 }), geometry: free, properties: free, sensor_id: wireNumber('the sensor') }),
  ),
  responses: { 200: StreamJson },
  throws: [Invalid, NotFound, Forbidden],
  async handle({ body, caller }, { service, settings }) {
    const geometry = readGeometry(body.geometry, settings)
    const properties = readProperties(body.properties)
    const stream = await service.create(caller, { name: body.name, sensor: body.sensor_id, geometry, properties })
    return { status: 200, body: toStreamJson(stream, undefined) }
  },
})

const streamQuery = s.Object({
  ...areaParameters,
  stream_name: s.Optional(s.String({ maxLength: 500, description: 'Full name' })),
  ...namedListParameters,
})

const listed = async (
  { query, caller, url }: Request<undefined, typeof streamQuery, undefined>,
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
  summary: 'List or search streams by name',
  description:
    'Streams that the caller may view; `{"status":"No data found"}` if there are none. With an area a page can be shorter than `limit`.',
  permission: { right: 'ViewGeoStream', unscoped: 'The list holds only streams that the caller may see.' },
  cost: 'export',
  query: streamQuery,
  responses: { 200: listOrNoData(StreamJson) },
  throws: [Invalid],
  async handle(request: Request<undefined, typeof streamQuery, undefined>, found) {
    return orNoData(await listed(request, found))
  },
})

export const searchStreams = route({
  method: 'GET',
  path: '/api/geostreams/stream',
  summary: 'List or search streams by name (pyclowder path)',
  description: 'Like `/api/geostreams/streams`, except that an empty result is `[]`, as pyclowder expects. Not in Clowder 1.x.',
  permission: { right: 'ViewGeoStream', unscoped: 'The list holds only streams that the caller may see.' },
  cost: 'export',
  query: streamQuery,
  responses: { 200: s.list(StreamJson) },
  throws: [Invalid],
  handle: listed,
})

export const listSensorStreams = route({
  method: 'GET',
  path: '/api/geostreams/sensors/:id/streams',
  summary: 'List the streams of a sensor by name',
  description: '`{"status":"No data found"}` if it has none.',
  permission: { right: 'ViewGeoStream', on: ({ id }) => sensorRef(id) },
  cost: 'export',
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
  summary: 'Get a stream',
  permission: { right: 'ViewGeoStream', on: ofStream },
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
  summary: 'Update the properties of a stream',
  description: 'The body is the properties object. Properties are merged member by member.',
  permission: { right: 'CreateSensor', on: ofStream },
  params,
  body: free,
  responses: { 200: StreamJson },
  throws: [Invalid, NotFound, Forbidden],
  async handle({ params, body, caller }, { service, statistics }) {
    const { id } = streamRef(params.id)
    // Read first, so that a failure leaves the stream unchanged.
    const known = await statistics.ofStreams([id])
    const changed = await service.change(id, readProperties(body), caller.user?.id)
    return { status: 200, body: toStreamJson(changed, known.get(id)) }
  },
})

export const deleteStream = route({
  method: 'DELETE',
  path: '/api/geostreams/streams/:id',
  summary: 'Delete a stream with its datapoints',
  description: 'They are hidden at once and deleted in the background.',
  permission: { right: 'DeleteGeoStream', on: ofStream },
  params,
  responses: ok,
  throws: [NotFound],
  async handle({ params, caller }, { service }) {
    await service.remove(streamRef(params.id).id, caller.user?.id)
    return { status: 200, body: { status: 'ok' } }
  },
})
