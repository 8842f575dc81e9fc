import { type Bytes, Clock, Invalid, NotFound, routesFor, Streams, s } from 'pounce/sdk'
import { Answers } from '../cache/answer-cache.ts'
import { datapointParameters, readDatapointQuestion } from '../datapoint-filter.ts'
import { aggregateParameter, readAggregates } from './bin-entry.ts'
import { binTimesOf } from './bin-times.ts'
import { Figures } from './figure-desk.ts'
import { collectionOf, jsonAnswer, listOf } from './text-answer.ts'
import { readWindow, windowParameters, within } from './windows.ts'

const route = routesFor('geostreams', { figures: Figures, streams: Streams, answers: Answers, clock: Clock })

const formatParameter = { format: s.Optional(s.String({ maxLength: 20, description: '`json` or `geojson`' })) }

/** Puts the rows together. */
const writerOf = (format: string | undefined): ((rows: AsyncIterable<string>) => Bytes) => {
  if (format === undefined || format === '' || format === 'json') return rows => jsonAnswer(listOf(rows))
  if (format === 'geojson') return rows => jsonAnswer(collectionOf(rows), 'application/geo+json')
  throw new Invalid('format is json or geojson')
}

const feature = s.Object({
  id: s.Integer({ description: 'Of the first reading' }),
  created: s.String(),
  start_time: s.String({ description: 'When the first one started' }),
  end_time: s.String({ description: 'When the last one ended, or started if it has no end' }),
  last_time: s.Optional(s.String({ description: 'Label of the newest span, such as `2017 spring`' })),
  properties: s.Record(s.String(), s.Unknown()),
  type: s.Literal('Feature'),
  geometry: s.Record(s.String(), s.Unknown()),
  stream_id: s.Array(s.String()),
  sensor_id: s.String(),
  sensor_name: s.String(),
})
/** Written while it is read. */
const answer = s.Unsafe<Bytes>({ ...s.Array(feature), [s.bodyKind]: 'bytes' })

export const averageDatapoints = route({
  method: 'GET',
  path: '/api/geostreams/datapoints/averages',
  summary: 'The average of what each sensor tells',
  description:
    'An object for each sensor with readings that fit, by name: its first reading, with averages in the place of numbers, and the first value of each property that is no number.',
  permission: 'ViewGeoStream',
  query: s.Object({ ...datapointParameters, ...windowParameters, ...aggregateParameter, ...formatParameter }),
  responses: { 200: answer },
  throws: [Invalid, NotFound],
  async handle({ query, caller, isHead }, { figures, streams, answers }) {
    const { choice, filter, shown } = readDatapointQuestion(query)
    const aggregates = readAggregates(query.aggregates)
    const question = { filter: within(filter, readWindow(query)), aggregates, ...(shown ? { shown } : {}) }
    const write = writerOf(query.format)
    const chosen = await streams.chosen(caller, choice)
    const asked = { caller, streams: chosen, isHead, route: 'datapoints/averages', parameters: query }
    return { status: 200, body: await answers.answer(asked, () => write(figures.averages(caller, chosen, question))) }
  },
})

/** Of a window whose beginning nobody names. */
const windowYears = 10

/** The first moment that a reading can have. */
const firstMs = new Date(0).setUTCFullYear(1, 0, 1)

const yearsBefore = (ms: number, years: number): number => {
  const date = new Date(ms)
  return Math.max(firstMs, date.setUTCFullYear(date.getUTCFullYear() - years))
}

export const datapointTrends = route({
  method: 'GET',
  path: '/api/geostreams/datapoints/trends',
  summary: 'How the averages of each sensor changed',
  description:
    'As averages; of each property `p` that is a number `p_total_average`, `p_interval_average` of readings that start within the window, and `p_percentage_change` from the one to the other. Null where there is no such number, and where the whole is 0. The window is the last ten years unless said. With `semi` or `binning` also `p_last_average` in the newest span in which the sensor told a number, which is `last_time`.',
  permission: 'ViewGeoStream',
  query: s.Object({
    ...datapointParameters,
    ...windowParameters,
    ...formatParameter,
    binning: s.Optional(
      s.String({ maxLength: 60, description: 'Spans of which the newest is told, as for bins; `semi` with `semi` unless said' }),
    ),
  }),
  responses: { 200: answer },
  throws: [Invalid, NotFound],
  async handle({ query, caller, isHead }, { figures, streams, answers, clock }) {
    const { choice, filter, shown } = readDatapointQuestion(query)
    const { fromMs, toMs } = readWindow(query)
    const now = clock.now().getTime()
    const window = {
      fromMs: fromMs ?? yearsBefore(toMs ?? now, windowYears),
      toMs: toMs ?? (fromMs !== undefined && fromMs > now ? undefined : now),
    }
    const binning = query.binning === undefined || query.binning === '' ? (filter.months ? 'semi' : undefined) : query.binning
    const last = binning === undefined ? {} : { last: binTimesOf(binning, 0, 'binning') }
    const write = writerOf(query.format)
    const chosen = await streams.chosen(caller, choice)
    const question = { filter, window, ...last, ...(shown ? { shown } : {}) }
    const produce = (): Bytes => write(figures.trends(caller, chosen, question))
    const asked = { caller, streams: chosen, isHead, route: 'datapoints/trends', parameters: query }
    // A window that ends now is another one the next time.
    return { status: 200, body: toMs === undefined ? produce() : await answers.answer(asked, produce) }
  },
})
