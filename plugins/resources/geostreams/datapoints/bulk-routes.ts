import { byteBody, Forbidden, Invalid, NotFound, routesFor, s, TooLarge, Unsupported } from 'pounce/sdk'
import { MayAddTo } from './adding-rights.ts'
import { openBulk } from './bulk-body.ts'
import { TakesIn } from './intake.ts'
import { takeAll } from './take-all.ts'

const route = routesFor('geostreams', { intake: TakesIn, adding: MayAddTo })

const report = s.Object({
  inserted: s.Integer(),
  refused: s.Integer(),
  lines: s.Array(
    s.Object({
      line: s.Integer({ description: 'Which one, from 1' }),
      field: s.Optional(s.String({ description: 'The member that is wrong, such as `geometry.coordinates`' })),
      message: s.String(),
    }),
    { description: 'The first 1,000 that were refused' },
  ),
})

export const createDatapoints = route({
  method: 'POST',
  path: '/api/geostreams/datapoints/bulk',
  summary: 'Add many datapoints at once',
  description:
    '`{"datapoints":[…],"stream_id":"5"}`, an array of datapoints that each name their `stream_id` (at most 20,000 in 16 MiB), or lines of JSON (`application/x-ndjson`), one datapoint each, of which any number will do. What is refused leaves the others: then the answer is 207 with what was refused and why, or 400 when nothing was left. Of a body that breaks off, what had come complete stays.',
  permission: 'AddGeoStream',
  query: s.Object({
    stream_id: s.Optional(s.String({ maxLength: 20, description: 'Stream of all that name none' })),
    invalidateCache: s.Optional(s.String({ maxLength: 20 })),
  }),
  body: byteBody('datapoints as JSON, or as lines of JSON (application/x-ndjson)', { takes: ['application/x-ndjson', 'application/json'] }),
  responses: { 200: s.Integer({ description: 'How many there were, when all went in' }), 207: report },
  throws: [Invalid, NotFound, Forbidden, TooLarge, Unsupported],
  async handle({ body, headers, query, caller, log }, { intake, adding }) {
    const bulk = await openBulk(body, headers, query.stream_id)
    if (bulk.stream !== undefined) await adding.require(caller, bulk.stream)
    const { inserted, refused, lines } = (await takeAll(bulk, intake.begin(caller, log))).toJSON()
    if (refused === 0) return { status: 200, body: inserted }
    if (inserted > 0) return { status: 207, body: { inserted, refused, lines } }
    throw new Invalid(`None of ${refused} datapoints was taken: ${lines[0]?.message ?? ''}`, { details: { inserted, refused, lines } })
  },
})
