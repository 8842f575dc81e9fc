import { type Bytes, Clock, configPort, Invalid, NotFound, routesFor, Streams, s } from 'pounce/sdk'
import { Answers } from '../cache/answer-cache.ts'
import { config, type Settings } from '../config.ts'
import { datapointParameters, readDatapointQuestion } from '../datapoint-filter.ts'
import { aggregateParameter, readAggregates } from './bin-entry.ts'
import { binTimesOf } from './bin-times.ts'
import { Figures } from './figure-desk.ts'
import { type FigureRow, FigureRowJson } from './figure-row.ts'
import { figureTable } from './figure-table.ts'
import { collectionOf, csvAnswer, type Format, formatParameter, jsonAnswer, listOf, mediaTypes } from './text-answer.ts'
import { readWindow, windowParameters, within } from './windows.ts'

const route = routesFor('geostreams', { figures: Figures, streams: Streams, answers: Answers, clock: Clock, settings: configPort(config) })

/** Puts the rows together. */
const write = (rows: AsyncIterable<FigureRow>, format: Format | undefined, settings: Settings): Bytes => {
  if (format === 'csv') return csvAnswer(() => figureTable(rows, settings), 'sensors.csv')
  const texts = printed(rows)
  return format === 'geojson' ? jsonAnswer(collectionOf(texts), mediaTypes.geojson) : jsonAnswer(listOf(texts), mediaTypes.json)
}

async function* printed(rows: AsyncIterable<FigureRow>): AsyncGenerator<string, void, undefined> {
  for await (const row of rows) yield JSON.stringify(row)
}

/** Written while it is read. */
const answer = s.Unsafe<Bytes>({ ...s.Array(FigureRowJson), [s.bodyKind]: 'bytes' })

export const averageDatapoints = route({
  method: 'GET',
  path: '/api/geostreams/datapoints/averages',
  summary: 'The average of what each sensor tells',
  description:
    'An object for each sensor with readings that fit, by name: its first reading, with averages in the place of numbers, and the first value of each property that is no number. As `csv` each sensor is a line.',
  permission: 'ViewGeoStream',
  query: s.Object({ ...datapointParameters, ...windowParameters, ...aggregateParameter, ...formatParameter }),
  responses: { 200: answer },
  throws: [Invalid, NotFound],
  async handle({ query, caller, isHead }, { figures, streams, answers, settings }) {
    const { choice, filter, shown } = readDatapointQuestion(query)
    const aggregates = readAggregates(query.aggregates)
    const question = { filter: within(filter, readWindow(query)), aggregates, ...(shown ? { shown } : {}) }
    const chosen = await streams.chosen(caller, choice)
    const asked = { caller, streams: chosen, isHead, route: 'datapoints/averages', parameters: query }
    return {
      status: 200,
      body: await answers.answer(asked, () => write(figures.averages(caller, chosen, question), query.format, settings)),
    }
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
  async handle({ query, caller, isHead }, { figures, streams, answers, clock, settings }) {
    const { choice, filter, shown } = readDatapointQuestion(query)
    const { fromMs, toMs } = readWindow(query)
    const now = clock.now().getTime()
    const window = {
      fromMs: fromMs ?? yearsBefore(toMs ?? now, windowYears),
      toMs: toMs ?? (fromMs !== undefined && fromMs > now ? undefined : now),
    }
    const binning = query.binning === undefined || query.binning === '' ? (filter.months ? 'semi' : undefined) : query.binning
    const last = binning === undefined ? {} : { last: binTimesOf(binning, 0, 'binning') }
    const chosen = await streams.chosen(caller, choice)
    const question = { filter, window, ...last, ...(shown ? { shown } : {}) }
    const produce = (): Bytes => write(figures.trends(caller, chosen, question), query.format, settings)
    const asked = { caller, streams: chosen, isHead, route: 'datapoints/trends', parameters: query }
    // A window that ends now is another one the next time.
    return { status: 200, body: toMs === undefined ? produce() : await answers.answer(asked, produce) }
  },
})
