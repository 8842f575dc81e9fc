import { byteBody, Forbidden, Invalid, NotFound, routesFor, s, TooLarge, Unsupported } from 'pounce/sdk'
import { AddingRights } from './adding-rights.ts'
import { openBulk } from './bulk-body.ts'
import { DatapointImport } from './datapoint-import.ts'
import { takeAll } from './take-all.ts'

const route = routesFor('geostreams', { intake: DatapointImport, adding: AddingRights })

const report = s.model(
  'BulkReport',
  s.Object({
    inserted: s.Integer(),
    refused: s.Integer(),
    lines: s.Array(
      s.Object({
        line: s.Integer({ description: 'Line number, from 1' }),
        field: s.Optional(s.String({ description: 'Invalid member, such as `geometry.coordinates`' })),
        message: s.String(),
      }),
      { description: 'The first 1,000 rejected lines' },
    ),
  }),
)

export const createDatapoints = route({
  method: 'POST',
  path: '/api/geostreams/datapoints/bulk',
  summary: 'Add several datapoints',
  description:
    '`{"datapoints":[…],"stream_id":"5"}`, an array of datapoints that each name their `stream_id` (at most 20,000 in 16 MiB), or newline-delimited JSON (`application/x-ndjson`), one datapoint per line, without limit. Invalid datapoints do not affect the others: the response is then 207 with the rejected ones and the reasons, or 400 if none is valid. Of an interrupted body, the complete datapoints are stored.',
  permission: {
    right: 'AddGeoStream',
    unscoped: 'The body names the streams; the handler checks AddGeoStream on each, which the setting anybodyMayAdd can waive.',
  },
  query: s.Object({
    stream_id: s.Optional(s.String({ maxLength: 20, description: 'Stream of all datapoints that name none' })),
    invalidateCache: s.Optional(s.String({ maxLength: 20 })),
  }),
  body: byteBody('Datapoints as JSON or newline-delimited JSON (application/x-ndjson)', {
    takes: ['application/x-ndjson', 'application/json'],
  }),
  responses: { 200: s.Integer({ description: 'Number of datapoints, if all were added' }), 207: report },
  throws: [Invalid, NotFound, Forbidden, TooLarge, Unsupported],
  async handle({ body, headers, query, caller, log }, { intake, adding }) {
    const bulk = await openBulk(body, headers, query.stream_id)
    if (bulk.stream !== undefined) await adding.require(caller, bulk.stream)
    const { inserted, refused, lines } = (await takeAll(bulk, intake.begin(caller, log))).toJSON()
    if (refused === 0) return { status: 200, body: inserted }
    if (inserted > 0) return { status: 207, body: { inserted, refused, lines } }
    throw new Invalid(`All ${refused} datapoints were rejected: ${lines[0]?.message ?? ''}`, { details: { inserted, refused, lines } })
  },
})
