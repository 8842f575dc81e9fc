import { type Bytes, Clock, configPort, Invalid, NotFound, routesFor, Streams, s } from 'pounce/sdk'
import { type Produce, ResponseCache } from '../cache/response-cache.ts'
import { config, type Settings } from '../config.ts'
import { datapointParameters, readDatapointQuery } from '../datapoint-filter.ts'
import { omittedProperties } from '../datapoints/csv-table.ts'
import { tableAnswer } from '../table-answer.ts'
import { type AverageRow, AverageRowJson, averagesTable } from './averages-table.ts'
import { binTimesOf } from './bin-times.ts'
import { aggregateParameter, readAggregates } from './raw-entries.ts'
import { AverageService, readWindow, windowParameters, within } from './sensor-averages.ts'
import { type BinFormat, collectionOf, csvAnswer, formatParameter, jsonAnswer, listOf, mediaTypes } from './text-answer.ts'

const route = routesFor('geostreams', {
  averages: AverageService,
  streams: Streams,
  responseCache: ResponseCache,
  clock: Clock,
  settings: configPort(config),
})

/** What the settings omit from CSV. */
const omittedFrom = (format: BinFormat | undefined, settings: Settings) =>
  format === 'csv' ? { omitted: omittedProperties(settings) } : {}

/** Formats the rows. */
const write = (rows: AsyncIterable<AverageRow>, format: BinFormat | undefined, settings: Settings): Bytes => {
  if (format === 'csv') return csvAnswer(() => averagesTable(rows, settings), 'sensors.csv')
  const texts = printed(rows)
  return format === 'geojson' ? jsonAnswer(collectionOf(texts), mediaTypes.geojson) : jsonAnswer(listOf(texts), mediaTypes.json)
}

async function* printed(rows: AsyncIterable<AverageRow>): AsyncGenerator<string, void, undefined> {
  for await (const row of rows) yield JSON.stringify(row)
}

/** Streamed. */
const answer = tableAnswer(s.Array(AverageRowJson), AverageRowJson)

export const averageDatapoints = route({
  method: 'GET',
  path: '/api/geostreams/datapoints/averages',
  summary: 'Get the averages of each sensor',
  description:
    'An object for each sensor with matching datapoints, by name: its first datapoint, with averages for numbers, and the first value of each other property. As `csv` each sensor is a line.',
  permission: { right: 'ViewGeoStream', unscoped: 'The answer is made of streams that the caller may see.' },
  cost: 'export',
  query: s.Object({ ...datapointParameters, ...windowParameters, ...aggregateParameter, ...formatParameter }),
  responses: { 200: answer },
  throws: [Invalid, NotFound],
  async handle({ query, caller, isHead, signal }, { averages, streams, responseCache, settings }) {
    const { choice, filter, shown } = readDatapointQuery(query)
    const aggregates = readAggregates(query.aggregates)
    const omitted = omittedFrom(query.format, settings)
    const request = { filter: within(filter, readWindow(query)), aggregates, ...omitted, ...(shown ? { shown } : {}) }
    const chosen = await streams.chosen(caller, choice)
    const cacheQuery = { caller, streams: chosen, isHead, signal, route: 'datapoints/averages', parameters: query }
    const produce: Produce = signal => write(averages.averages(caller, chosen, { ...request, signal }), query.format, settings)
    return { status: 200, body: await responseCache.answer(cacheQuery, produce) }
  },
})

/** Length of the default window. */
const windowYears = 10

/** The earliest time that a datapoint can have. */
const firstMs = new Date(0).setUTCFullYear(1, 0, 1)

const yearsBefore = (ms: number, years: number): number => {
  const date = new Date(ms)
  return Math.max(firstMs, date.setUTCFullYear(date.getUTCFullYear() - years))
}

export const datapointTrends = route({
  method: 'GET',
  path: '/api/geostreams/datapoints/trends',
  summary: 'Get the trends of each sensor',
  description:
    'Like averages; for each numeric property `p` it has `p_total_average`, `p_interval_average` of datapoints that start within the window, and `p_percentage_change` between the two. Null without such a number, and if the total is 0. The default window is the last ten years. With `semi` or `binning` also `p_last_average` of the latest bin with a number of the sensor, which is `last_time`.',
  permission: { right: 'ViewGeoStream', unscoped: 'The answer is made of streams that the caller may see.' },
  cost: 'export',
  query: s.Object({
    ...datapointParameters,
    ...windowParameters,
    ...formatParameter,
    binning: s.Optional(
      s.String({ maxLength: 60, description: 'Bins of which the latest is returned, as for bins; default `semi` with `semi`' }),
    ),
  }),
  responses: { 200: answer },
  throws: [Invalid, NotFound],
  async handle({ query, caller, isHead, signal }, { averages, streams, responseCache, clock, settings }) {
    const { choice, filter, shown } = readDatapointQuery(query)
    const { fromMs, toMs } = readWindow(query)
    const now = clock.now().getTime()
    const window = {
      fromMs: fromMs ?? yearsBefore(toMs ?? now, windowYears),
      toMs: toMs ?? (fromMs !== undefined && fromMs > now ? undefined : now),
    }
    const binning = query.binning === undefined || query.binning === '' ? (filter.months ? 'semi' : undefined) : query.binning
    const last = binning === undefined ? {} : { last: binTimesOf(binning, 0, 'binning') }
    const chosen = await streams.chosen(caller, choice)
    const request = { filter, window, ...last, ...omittedFrom(query.format, settings), ...(shown ? { shown } : {}) }
    const produce: Produce = signal => write(averages.trends(caller, chosen, { ...request, signal }), query.format, settings)
    const cacheQuery = { caller, streams: chosen, isHead, signal, route: 'datapoints/trends', parameters: query }
    // A window that ends now differs on the next request, so it is not cached.
    return { status: 200, body: toMs === undefined ? produce(signal) : await responseCache.answer(cacheQuery, produce) }
  },
})
