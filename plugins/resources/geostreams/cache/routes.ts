import { type Bytes, Forbidden, geoNumberOf, isServerAdmin, NotFound, NotSignedIn, routesFor, Streams, s } from 'pounce/sdk'
import { sensorRef, streamRef } from '../input.ts'
import { eachPage } from '../listing.ts'
import { Answers } from './answer-cache.ts'
import { Kept } from './kept-answers.ts'

const route = routesFor('geostreams', { answers: Answers, kept: Kept, streams: Streams })

const Entry = s.Object({ route: s.String(), filesize: s.Integer({ description: 'Bytes' }), created: s.String() })

export const listCache = route({
  method: 'GET',
  path: '/api/geostreams/cache',
  summary: 'Answers that are kept',
  description:
    'By key: the parameters of the question, the size in bytes, and when it was answered. None for those who may not see all streams, and while `cacheMaxMiB` is 0.',
  permission: 'ViewGeoStream',
  responses: { 200: s.Object({ files: s.Record(s.String(), Entry), size: s.Integer() }) },
  async handle({ caller }, { answers, kept }) {
    const all = answers.isFor(caller) ? await kept.all() : []
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
  summary: 'One answer that is kept, as it was sent',
  description: 'It may be out of date: who asks the question itself never gets one that is.',
  permission: 'ViewGeoStream',
  params: s.Object({ id: s.String({ maxLength: 100 }) }),
  responses: { 200: s.bytes<Bytes>() },
  throws: [NotFound],
  async handle({ params, caller }, { answers, kept }) {
    const found = /^[0-9A-F]{32}$/.test(params.id) && answers.isFor(caller) ? await kept.get(params.id) : undefined
    if (!found) throw new NotFound('kept answer')
    return { status: 200, body: answers.show(found) }
  },
})

const named = (sent: string | undefined): sent is string => sent !== undefined && sent !== ''

export const invalidateCache = route({
  method: 'GET',
  path: '/api/geostreams/cache/invalidate',
  summary: 'Throw answers away',
  description:
    'Those about a sensor or a stream, for who may delete it; all of them, when neither is named, for server admins. Nobody needs it: an answer is never given again when a reading has come or gone.',
  permission: 'DeleteGeoStream',
  of: ({ sensor_id, stream_id }) => [
    ...(named(sensor_id) ? [sensorRef(sensor_id)] : []),
    ...(named(stream_id) ? [streamRef(stream_id)] : []),
  ],
  effects: 'removes answers that are kept',
  neverByCookie: true,
  query: s.Object({
    sensor_id: s.Optional(s.String({ maxLength: 20, description: 'Number of a sensor' })),
    stream_id: s.Optional(s.String({ maxLength: 20, description: 'Number of a stream' })),
  }),
  responses: { 200: s.Object({ files: s.Array(s.String()), errors: s.Array(s.String()) }) },
  throws: [Forbidden, NotFound, NotSignedIn],
  async handle({ query, caller }, { kept, streams }) {
    const { sensor_id, stream_id } = query
    const numbers = new Set(named(stream_id) ? [Number(stream_id)] : [])
    if (named(sensor_id)) {
      const list = { sensors: [sensorRef(sensor_id).id] }
      for await (const items of eachPage(page => streams.list(caller, list, page))) for (const { id } of items) numbers.add(geoNumberOf(id))
    } else if (!named(stream_id) && !isServerAdmin(caller)) {
      throw caller.via === 'nothing'
        ? new NotSignedIn()
        : new Forbidden('Only a server admin may throw all answers away: name a sensor or a stream')
    }
    const isAll = !named(sensor_id) && !named(stream_id)
    const files: string[] = []
    for (const entry of await kept.all())
      if (isAll || entry.streams === null || entry.streams.some(number => numbers.has(number)))
        if (await kept.drop(entry)) files.push(entry.id)
    return { status: 200, body: { files, errors: [] } }
  },
})
