import { configPort, Invalid, NotFound, routesFor, s } from 'pounce/sdk'
import { readTime } from 'pounce/sdk/kit'
import { type Produce, ResponseCache } from '../cache/response-cache.ts'
import { config } from '../config.ts'
import { datapointParameters, readDatapointQuery } from '../datapoint-filter.ts'
import { omittedProperties } from '../datapoints/csv-table.ts'
import { tableAnswer } from '../table-answer.ts'
import { BinService } from './bin-service.ts'
import { binTimesOf } from './bin-times.ts'
import { aggregateParameter, BinEntryJson, readAggregates } from './raw-entries.ts'
import { readWindow, windowParameters, within } from './sensor-averages.ts'
import { csvAnswer, formatParameter, jsonAnswer, mediaTypes } from './text-answer.ts'

const route = routesFor('geostreams', { bins: BinService, responseCache: ResponseCache, settings: configPort(config) })

/** A list whose rows are streamed. */
const answer = tableAnswer(
  s.Array(
    s.model(
      'SensorBins',
      s.Object({ sensor_name: s.String(), sensor_id: s.String(), properties: s.Record(s.String(), s.Array(BinEntryJson)) }),
    ),
  ),
)

const maxStepMetres = 1e6

/** A number of metres; 0: depths are not distinguished. */
const depthOf = (sent: string): number | undefined => {
  const metres = /^\d{1,12}(\.\d{1,12})?$/.test(sent) ? Number(sent) : Number.NaN
  if (!(metres >= 0 && metres <= maxStepMetres))
    throw new Invalid(`depth must be a number of metres, 0 to ${maxStepMetres}; 0 ignores depth`)
  return metres === 0 ? undefined : metres
}

export const binDatapoints = route({
  method: 'GET',
  path: '/api/geostreams/datapoints/bin/:time/:depth',
  summary: 'Aggregate datapoints by time and depth',
  description:
    '`time` is decade, lustrum, year, semi, season, month, week, day, hour or minute, or a duration such as `PT90M`, counted from `origin`; all in UTC. `depth` is a step of altitude in metres: a datapoint belongs to the next multiple at or above its altitude; 0 ignores depth. A datapoint is included in every bin that it overlaps. December belongs to the winter of its own year. Returns, for each sensor by name and each numeric property, its bins by date; for a property that is an object, `array` has the distinct values as JSON. `DEPTH_CODE` and `source` of datapoints group them and are not properties. `raw` adds all numbers and the distinct texts. `sources` are those of the numbers, with `raw` of all datapoints that have the property. As `csv` each bin is a line, without these; as `geojson` each sensor is a feature at its location.',
  permission: { right: 'ViewGeoStream', unscoped: 'The answer is made of streams that the caller may see.' },
  cost: 'export',
  params: s.Object({ time: s.String({ maxLength: 60 }), depth: s.String({ maxLength: 30 }) }),
  query: s.Object({
    ...datapointParameters,
    ...windowParameters,
    ...aggregateParameter,
    raw: s.flag(false),
    ...formatParameter,
    origin: s.Optional(s.String({ maxLength: 60, description: 'Start of the first bin for a duration; default 1970-01-01T00:00:00Z' })),
  }),
  responses: { 200: answer },
  throws: [Invalid, NotFound],
  async handle({ params, query, caller, isHead, signal }, { bins, responseCache, settings }) {
    const originMs = query.origin === undefined || query.origin === '' ? 0 : readTime(query.origin, 'origin')
    const times = binTimesOf(params.time, originMs)
    const depthMetres = depthOf(params.depth)
    const { choice, filter, shown } = readDatapointQuery(query)
    const aggregates = readAggregates(query.aggregates)
    const request = { times, depthMetres, filter: within(filter, readWindow(query)), isRaw: query.raw, ...(shown ? { shown } : {}) }
    const chosen = await bins.choose(caller, choice, request)
    const cacheQuery = { caller, streams: chosen, isHead, signal, route: 'datapoints/bin', parameters: { ...query, ...params } }
    const { format = 'json' } = query
    const produce: Produce = signal => {
      const stoppable = { ...request, signal }
      return format === 'csv'
        ? csvAnswer(bins.table(caller, chosen, stoppable, { aggregates, omitted: omittedProperties(settings) }), 'bins.csv')
        : jsonAnswer(bins.write(caller, chosen, stoppable, { aggregates, isGeojson: format === 'geojson' }), mediaTypes[format])
    }
    return { status: 200, body: await responseCache.answer(cacheQuery, produce) }
  },
})
