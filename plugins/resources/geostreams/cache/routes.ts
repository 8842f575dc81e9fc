import { Forbidden, NotFound, NotSignedIn, routesFor, Streams, s } from 'pounce/sdk'
import { geoNumberOf } from 'pounce/sdk/geo'
import { requireServerAdmin } from 'pounce/sdk/kit'
import { sensorRef, streamRef } from '../input.ts'
import { eachPage } from '../listing.ts'
import { tableAnswer } from '../table-answer.ts'
import { ResponseCache } from './response-cache.ts'
import { StoredResponses } from './stored-responses.ts'

const route = routesFor('geostreams', { responseCache: ResponseCache, storedResponses: StoredResponses, streams: Streams })

const Entry = s.model(
  'CacheEntry',
  s.Object({ route: s.String(), filesize: s.Integer({ description: 'Size in bytes' }), created: s.String() }),
)

export const listCache = route({
  method: 'GET',
  path: '/api/geostreams/cache',
  summary: 'List cached geostreams responses',
  description:
    'By key: the query parameters, the size in bytes, and the time of the response. Empty for callers who may not view all streams, and while `cacheMaxMiB` is 0.',
  permission: { right: 'ViewGeoStream', unscoped: 'The list is empty for a caller who may not see all streams.' },
  responses: { 200: s.Object({ files: s.Record(s.String(), Entry), size: s.Integer() }) },
  async handle({ caller }, { responseCache, storedResponses }) {
    const all = responseCache.isFor(caller) ? await storedResponses.all() : []
    const files = all.map(({ id, query, sizeBytes, created }) => [
      id,
      { ...query, route: String(query['route']), filesize: sizeBytes, created },
    ])
    return { status: 200, body: { files: Object.fromEntries(files), size: all.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0) } }
  },
})

export const getCached = route({
  method: 'GET',
  path: '/api/geostreams/cache/:id',
  summary: 'Get a cached geostreams response',
  description: 'The cached response may be stale; the query itself never returns a stale one.',
  permission: { right: 'ViewGeoStream', unscoped: 'Cached responses are found only by a caller who may see all streams.' },
  cost: 'export',
  params: s.Object({ id: s.String({ maxLength: 100 }) }),
  responses: { 200: tableAnswer(s.json(), s.json()) },
  throws: [NotFound],
  async handle({ params, caller }, { responseCache, storedResponses }) {
    const found = /^[0-9A-F]{32}$/.test(params.id) && responseCache.isFor(caller) ? await storedResponses.get(params.id) : undefined
    if (!found) throw new NotFound('cached response')
    return { status: 200, body: responseCache.show(found) }
  },
})

const named = (sent: string | undefined): sent is string => sent !== undefined && sent !== ''

export const invalidateCache = route({
  method: 'GET',
  path: '/api/geostreams/cache/invalidate',
  summary: 'Invalidate cached geostreams responses',
  description:
    'Responses for a sensor or a stream, for callers who may delete it; all responses, if neither is named, for server admins. Not needed in practice: cached responses are never returned after a datapoint is added or deleted.',
  permission: {
    right: 'DeleteGeoStream',
    on: ({ sensor_id, stream_id }) => [
      ...(named(sensor_id) ? [sensorRef(sensor_id)] : []),
      ...(named(stream_id) ? [streamRef(stream_id)] : []),
    ],
  },
  effects: 'deletes cached responses',
  neverByCookie: true,
  query: s.Object({
    sensor_id: s.Optional(s.String({ maxLength: 20, description: 'Number of a sensor' })),
    stream_id: s.Optional(s.String({ maxLength: 20, description: 'Number of a stream' })),
  }),
  responses: { 200: s.Object({ files: s.Array(s.String()), errors: s.Array(s.String()) }) },
  throws: [Forbidden, NotFound, NotSignedIn],
  async handle({ query, caller }, { storedResponses, streams }) {
    const { sensor_id, stream_id } = query
    const numbers = new Set(named(stream_id) ? [Number(stream_id)] : [])
    if (named(sensor_id)) {
      const list = { sensors: [sensorRef(sensor_id).id] }
      for await (const items of eachPage(page => streams.list(caller, list, page))) for (const { id } of items) numbers.add(geoNumberOf(id))
    } else if (!named(stream_id)) {
      if (caller.via === 'nothing') throw new NotSignedIn()
      requireServerAdmin(caller, 'Only a server admin may invalidate the whole cache: name a sensor or a stream')
    }
    const isAll = !named(sensor_id) && !named(stream_id)
    const files: string[] = []
    for (const entry of await storedResponses.all())
      if (isAll || entry.streams === null || entry.streams.some(number => numbers.has(number)))
        if (await storedResponses.drop(entry)) files.push(entry.id)
    return { status: 200, body: { files, errors: [] } }
  },
})
