import { type Bytes, configPort, Installation, Invalid, linkToNext, NotFound, routesFor, Streams, s } from 'pounce/sdk'
import { ResponseCache } from '../cache/response-cache.ts'
import { config } from '../config.ts'
import { datapointParameters, readDatapointQuestion } from '../datapoint-filter.ts'
import { tableAnswer } from '../table-answer.ts'
import { CsvHeaders } from './csv-headers.ts'
import { CsvTable } from './csv-table.ts'
import { DatapointJson } from './datapoint-json.ts'
import { csvBytes, jsonBytes, wholeBytes } from './output.ts'
import { type Question, ReadingsStore, readGeoAfter } from './readings.ts'

const route = routesFor('geostreams', {
  readings: ReadingsStore,
  streams: Streams,
  heads: CsvHeaders,
  answers: ResponseCache,
  installation: Installation,
  settings: configPort(config),
})

const oneOf = <const T extends string>(...values: readonly T[]) => s.Unsafe<T>({ type: 'string', enum: values })
const mostCounted = 1_000_000_000
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

const pageOf = ({ limit, after }: Query): Pick<Question, 'page'> => {
  if (limit === undefined && after === undefined) return {}
  return { page: { limit: limit ?? 1000, ...(after === undefined ? {} : { after: readGeoAfter(after) }) } }
}

const sortOf = ({ sort, order }: Query): Question['sort'] => ({
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
  async handle({ query, caller, url, isHead }, { readings, streams, heads, answers, installation, settings }) {
    const { choice, filter: asked, shown } = readDatapointQuestion(query)
    const page = pageOf(query)
    const chosen = await streams.chosen(caller, choice)
    const filter = chosen ? { ...asked, streams: chosen } : asked
    if (query.onlyCount) return { status: 200, body: wholeBytes({ datapointsLength: await readings.geo.count(filter, mostCounted) }) }
    const question: Question = { filter, sort: sortOf(query), ...page }
    const names = asked.attributes?.every(({ contains }) => contains === undefined) ? shown : undefined
    const answer = await readings.ask(question)
    const head = linkToNext(installation.baseUrl, url, answer, { dated: false })
    const { format = 'json' } = query
    const table = async (): Promise<CsvTable> => new CsvTable(await heads.columnsOf(caller, question, answer, names), settings)
    const produce = (): Bytes => (format === 'csv' ? csvBytes(answer.pieces(), table) : jsonBytes(answer.pieces(), format, names))
    if (question.page) return { status: 200, body: produce(), ...head }
    const whole = { caller, streams: chosen, isHead, route: 'datapoints', parameters: query }
    return { status: 200, body: await answers.answer(whole, produce), ...head }
  },
})
