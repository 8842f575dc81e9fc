import {
  type Bytes,
  byteBody,
  configPort,
  Forbidden,
  Installation,
  Invalid,
  NotFound,
  routesFor,
  Streams,
  s,
  TooLarge,
  Unsupported,
} from 'pounce/sdk'
import { linkToNext, streamed } from 'pounce/sdk/kit'
import { ResponseCache } from '../cache/response-cache.ts'
import { config } from '../config.ts'
import { datapointParameters, readDatapointQuery } from '../datapoint-filter.ts'
import { wireNumber } from '../input.ts'
import { tableAnswer } from '../table-answer.ts'
import { AddingRights } from './adding-rights.ts'
import { openBulk } from './bulk-json.ts'
import { CsvHeaders, CsvTable } from './csv-table.ts'
import { DatapointImport, takeAll } from './datapoint-import.ts'
import { DatapointJson, DatapointPrinter, readPoint } from './datapoint-json.ts'
import { DatapointService } from './datapoint-service.ts'
import { type DatapointChunk, type DatapointQuery, ReadingsStore, readGeoAfter } from './readings.ts'
import { TextPieces } from './text-pieces.ts'

/** Text before, between and after datapoints. */
const frames = {
  json: ['[', ',', ']'],
  geojson: ['{ "type": "FeatureCollection", "features": [', ',', '] }'],
} as const

async function* jsonText(pieces: AsyncIterable<DatapointChunk>, format: keyof typeof frames, names: ReadonlySet<string> | undefined) {
  const [begin, between, end] = frames[format]
  const printer = new DatapointPrinter(names)
  const text = new TextPieces()
  text.add(begin)
  let isFirst = true
  for await (const { points, owners } of pieces) {
    for (const point of points) {
      const owner = owners.get(point.stream)
      if (!owner) continue
      text.add((isFirst ? '' : between) + printer.print(point, owner))
      isFirst = false
    }
    yield* text.take()
  }
  text.add(end)
  yield* text.take(true)
}

async function* csvLines(pieces: AsyncIterable<DatapointChunk>, table: CsvTable) {
  const text = new TextPieces()
  text.add(table.head)
  for await (const { points, owners } of pieces) {
    table.write(text, points, owners)
    yield* text.take()
  }
  yield* text.take(true)
}

/** Datapoints as an array or a FeatureCollection, generated while it is sent. */
const jsonBytes = (pieces: AsyncIterable<DatapointChunk>, format: 'json' | 'geojson', names: ReadonlySet<string> | undefined): Bytes => ({
  contentType: format === 'json' ? 'application/json' : 'application/geo+json',
  inline: true,
  open: () => streamed(jsonText(pieces, format, names)),
})

/** Datapoints as a CSV file, generated while it is sent. */
const csvBytes = (pieces: AsyncIterable<DatapointChunk>, table: () => Promise<CsvTable>): Bytes => ({
  contentType: 'text/csv; charset=utf-8',
  filename: 'datapoints.csv',
  open: async () => streamed(csvLines(pieces, await table())),
})

/** A short response that is already complete. */
const wholeBytes = (value: unknown): Bytes => ({
  contentType: 'application/json',
  inline: true,
  open: () => streamed([Buffer.from(JSON.stringify(value))]),
})

const route = routesFor('geostreams', {
  service: DatapointService,
  settings: configPort(config),
  datapointImport: DatapointImport,
  adding: AddingRights,
  readings: ReadingsStore,
  streams: Streams,
  heads: CsvHeaders,
  responseCache: ResponseCache,
  installation: Installation,
})

const free = s.Record(s.String(), s.Unknown())

const time = (description: string) => s.String({ maxLength: 60, description })

const params = s.Object({ id: s.String({ description: 'Number of a datapoint' }) })

export const createDatapoint = route({
  method: 'POST',
  path: '/api/geostreams/datapoints',
  summary: 'Add a datapoint to a stream',
  description:
    'Requires the right to add to the sensor of the stream, unless `anybodyMayAdd` is set. Aggregates and lists include it at once, so `invalidateCache` has no effect.',
  permission: {
    right: 'AddGeoStream',
    unscoped: 'The body names the stream; the handler checks AddGeoStream on it, which the setting anybodyMayAdd can waive.',
  },
  query: s.Object({ invalidateCache: s.Optional(s.String({ maxLength: 20 })) }),
  body: s.model(
    'NewDatapoint',
    s.Object({
      start_time: time(
        'ISO 8601, such as `2017-01-25T09:33:02-06:00`; UTC without a zone. A space instead of the T and fractions of a second are accepted',
      ),
      end_time: s.Optional(s.Union([time('Same format; absent: no known end'), s.Null()])),
      type: s.String({ maxLength: 200, description: '`Feature`' }),
      geometry: free,
      properties: free,
      stream_id: wireNumber('the stream'),
    }),
  ),
  responses: { 200: DatapointJson },
  throws: [Invalid, NotFound, Forbidden],
  async handle({ body, caller, log }, { service, settings }) {
    return { status: 200, body: await service.create(caller, readPoint(body, settings), log) }
  },
})

export const getDatapoint = route({
  method: 'GET',
  path: '/api/geostreams/datapoints/:id',
  summary: 'Get a datapoint',
  permission: { right: 'ViewGeoStream', unscoped: 'A datapoint has no rights of its own; the handler checks ViewGeoStream on its stream.' },
  params,
  responses: { 200: DatapointJson },
  throws: [NotFound],
  async handle({ params, caller }, { service }) {
    return { status: 200, body: await service.get(caller, params.id) }
  },
})

export const deleteDatapoint = route({
  method: 'DELETE',
  path: '/api/geostreams/datapoints/:id',
  summary: 'Delete a datapoint',
  permission: {
    right: 'DeleteGeoStream',
    unscoped: 'A datapoint has no rights of its own; the handler checks DeleteGeoStream on its stream.',
  },
  params,
  responses: { 200: s.Object({ status: s.Literal('ok') }) },
  throws: [NotFound, Forbidden],
  async handle({ params, caller }, { service }) {
    await service.remove(caller, params.id)
    return { status: 200, body: { status: 'ok' as const } }
  },
})

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
  async handle({ body, headers, query, caller, log }, { datapointImport, adding }) {
    const bulk = await openBulk(body, headers, query.stream_id)
    if (bulk.stream !== undefined) await adding.require(caller, bulk.stream)
    const { inserted, refused, lines } = (await takeAll(bulk, datapointImport.begin(caller, log))).toJSON()
    if (refused === 0) return { status: 200, body: inserted }
    if (inserted > 0) return { status: 207, body: { inserted, refused, lines } }
    throw new Invalid(`All ${refused} datapoints were rejected: ${lines[0]?.message ?? ''}`, { details: { inserted, refused, lines } })
  },
})

const oneOf = <const T extends string>(...values: readonly T[]) => s.Unsafe<T>({ type: 'string', enum: values })

const maxCounted = 1_000_000_000

const Count = s.Object({ datapointsLength: s.Integer() })

const query = s.Object({
  ...datapointParameters,
  onlyCount: s.Boolean({ default: false, description: 'Return only the count: `{"datapointsLength":3}`' }),
  format: s.Optional(oneOf('json', 'geojson', 'csv')),
  sort: s.Optional(oneOf('start_time', 'stream')),
  order: s.Optional(oneOf('asc', 'desc')),
  limit: s.Optional(s.Integer({ minimum: 1, maximum: 1000, description: 'Page size, with a `Link` to the next page; absent: all' })),
  after: s.Optional(s.String({ maxLength: 60, description: 'Cursor from a `Link` header: the end of the previous page' })),
})

type Query = s.Static<typeof query>

const pageOf = ({ limit, after }: Query): Pick<DatapointQuery, 'page'> => {
  if (limit === undefined && after === undefined) return {}
  return { page: { limit: limit ?? 1000, ...(after === undefined ? {} : { after: readGeoAfter(after) }) } }
}

const sortOf = ({ sort, order }: Query): DatapointQuery['sort'] => ({
  by: sort === 'stream' ? 'stream' : 'start',
  order: order === 'desc' ? 'descending' : 'ascending',
})

export const listDatapoints = route({
  method: 'GET',
  path: '/api/geostreams/datapoints',
  summary: 'Search datapoints',
  description:
    'All matching datapoints, streamed as an array, as GeoJSON, or as CSV. Sorted by start time unless `sort` is `stream`. CSV text is quoted as in RFC 4180 and prefixed with an apostrophe if a spreadsheet would read it as a formula; geometries other than Point are represented by their first position.',
  permission: { right: 'ViewGeoStream', unscoped: 'The answer holds only datapoints of streams that the caller may see.' },
  cost: 'export',
  query,
  responses: { 200: tableAnswer(s.Union([s.Array(DatapointJson), Count]), DatapointJson) },
  throws: [Invalid, NotFound],
  async handle({ query, caller, url, isHead, signal }, { readings, streams, heads, responseCache, installation, settings }) {
    const { choice, filter: requestedFilter, shown } = readDatapointQuery(query)
    const page = pageOf(query)
    const chosen = await streams.chosen(caller, choice)
    const filter = chosen ? { ...requestedFilter, streams: chosen } : requestedFilter
    if (query.onlyCount) return { status: 200, body: wholeBytes({ datapointsLength: await readings.geo.count(filter, maxCounted) }) }
    const datapointQuery: DatapointQuery = { filter, sort: sortOf(query), ...page }
    const names = requestedFilter.attributes?.every(({ contains }) => contains === undefined) ? shown : undefined
    const answer = await readings.ask(datapointQuery)
    const head = linkToNext(installation.baseUrl, url, answer, { dated: false })
    const { format = 'json' } = query
    const table = async (): Promise<CsvTable> => new CsvTable(await heads.columnsOf(caller, datapointQuery, answer, names), settings)
    const produce = (): Bytes => (format === 'csv' ? csvBytes(answer.pieces(), table) : jsonBytes(answer.pieces(), format, names))
    if (datapointQuery.page) return { status: 200, body: produce(), ...head }
    const whole = { caller, streams: chosen, isHead, signal, route: 'datapoints', parameters: query }
    return { status: 200, body: await responseCache.answer(whole, produce), ...head }
  },
})
