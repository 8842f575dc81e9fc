import {
  defaultJsonLimits,
  type GeoAttribute,
  type GeoFilter,
  Invalid,
  type Json,
  NotFound,
  NotJson,
  parseJson,
  readTime,
  type StreamChoice,
  s,
} from 'pounce/sdk'
import { checkGeoFilter } from 'pounce/sdk/geo'
import { areaParameters, readAreas } from './area.ts'
import { numberOf } from './input.ts'

const time = (description: string) =>
  s.Optional(
    s.String({ maxLength: 60, description: `${description} (such as \`2017-03-31\` or \`2017-03-31T12:00:00Z\`; UTC without a zone)` }),
  )

/** Query parameters that choose readings (reference, api-platform §13). Spread into a route's `query`. */
export const datapointParameters = {
  since: time('Readings that start then or later'),
  until: time('Readings that end then or earlier; those without an end drop out'),
  ...areaParameters,
  stream_id: s.Optional(s.String({ maxLength: 20, description: 'Number of a stream' })),
  sensor_id: s.Optional(s.String({ maxLength: 20, description: 'Number of a sensor' })),
  sources: s.Optional(
    s.repeated(s.String({ maxLength: 500, description: 'Datapoints of sensors with one of these values of `properties.type.id`' })),
  ),
  attributes: s.Optional(
    s.repeated(
      s.String({
        maxLength: 10_000,
        description:
          'Datapoints with one of these properties; with names only, just these properties and `source` are returned. With a colon, `site:A1` or `{"site":"A1"}`: datapoints whose property contains the value, which is JSON or text',
      }),
    ),
  ),
  semi: s.Optional(
    s.String({ maxLength: 20, description: '`spring`: datapoints of January to June of any year; `summer`: of July to December' }),
  ),
}

/** What those parameters bring. */
export interface DatapointParameters {
  readonly since?: string
  readonly until?: string
  readonly geocode?: string
  readonly geojson?: string
  readonly stream_id?: string
  readonly sensor_id?: string
  readonly sources?: readonly string[]
  readonly attributes?: readonly string[]
  readonly semi?: string
}

/** Which readings somebody asks for. */
export interface DatapointQuestion {
  readonly choice: StreamChoice
  /** Checked; the streams come from `Streams.chosen`. */
  readonly filter: Omit<GeoFilter, 'streams'>
  /** Names of the properties to tell; absent: all. */
  readonly shown?: ReadonlySet<string>
}

const given = (text: string | undefined): string | undefined => (text === undefined || text.trim() === '' ? undefined : text)

/** The number of a stream or sensor; whatever is none is answered like an unknown one. */
const wanted = (sent: string | undefined, kind: 'stream' | 'sensor'): number | undefined => {
  if (given(sent) === undefined) return undefined
  const number = numberOf(sent ?? '')
  if (number === undefined) throw new NotFound(kind)
  return number
}

const halves: Readonly<Record<string, GeoFilter['months']>> = { spring: { from: 1, to: 6 }, summer: { from: 7, to: 12 } }

const monthsOf = (semi: string): NonNullable<GeoFilter['months']> => {
  const name = semi.toLowerCase()
  const months = Object.hasOwn(halves, name) ? halves[name] : undefined
  if (!months) throw new Invalid('semi must be spring or summer')
  return months
}

/** As JSON, or else as the text that it is. */
const matched = (text: string): Json => {
  try {
    return parseJson(text, defaultJsonLimits, 'The value of an attribute') as Json
  } catch (error) {
    if (error instanceof NotJson) return text
    throw error
  }
}

/** `{"site":"A1"}`, as Clowder 1.x takes it. */
const memberOf = (text: string): GeoAttribute => {
  const value = matched(text)
  const members = typeof value === 'object' && value !== null ? Object.entries(value) : []
  const [member] = members
  if (!member || members.length > 1) throw new Invalid('attributes: JSON must be an object with one member, such as {"site":"A1"}')
  return { key: member[0], contains: member[1] }
}

const attributeOf = (text: string): GeoAttribute => {
  const colon = text.indexOf(':')
  if (colon === -1) return { key: text }
  if (text.startsWith('{')) return memberOf(text)
  return { key: text.slice(0, colon), contains: matched(text.slice(colon + 1)) }
}

const attributesOf = (texts: readonly string[]): readonly GeoAttribute[] => texts.map(attributeOf)

/** Reads the parameters; `Invalid` names the one that is wrong, `NotFound` the stream or sensor that is no number. */
export const readDatapointQuestion = (query: DatapointParameters): DatapointQuestion => {
  const since = given(query.since)
  const until = given(query.until)
  const fromMs = since === undefined ? undefined : readTime(since, 'since')
  const untilMs = until === undefined ? undefined : readTime(until, 'until')
  if (fromMs !== undefined && untilMs !== undefined && untilMs < fromMs) throw new Invalid('until is before since')
  const areas = readAreas(query)
  const semi = given(query.semi)
  const attributes = attributesOf((query.attributes ?? []).filter(text => text !== ''))
  const sources = query.sources?.filter(source => source !== '') ?? []
  const filter = {
    ...(areas ? { areas } : {}),
    ...(fromMs === undefined ? {} : { fromMs }),
    ...(untilMs === undefined ? {} : { untilMs }),
    ...(semi === undefined ? {} : { months: monthsOf(semi) }),
    ...(attributes.length === 0 ? {} : { attributes }),
  }
  checkGeoFilter(filter)
  const [stream, sensor] = [wanted(query.stream_id, 'stream'), wanted(query.sensor_id, 'sensor')]
  const isByName = attributes.length > 0 && attributes.every(({ contains }) => contains === undefined)
  return {
    choice: {
      ...(stream === undefined ? {} : { stream }),
      ...(sensor === undefined ? {} : { sensor }),
      ...(sources.length === 0 ? {} : { sources }),
    },
    filter,
    ...(isByName ? { shown: new Set([...attributes.map(({ key }) => key), 'source']) } : {}),
  }
}
