import { Invalid, type Json, NotFound, s } from 'pounce/sdk'
import type { GeoArea, GeoAttribute, GeoFilter, StreamChoice } from 'pounce/sdk/geo'
import { checkGeoFilter, maxRadiusMetres } from 'pounce/sdk/geo'
import { defaultJsonLimits, NotJson, parseJson, readTime } from 'pounce/sdk/kit'
import { numberOf } from './input.ts'

/** Query parameters that specify an area (reference, api-platform §13 "Area"). Spread into a route's `query`. */
export const areaParameters = {
  geocode: s.Optional(
    s.String({
      maxLength: 60_000,
      description:
        '`latitude,longitude,radius` in kilometres; two corners of a box, the south-western first: `latitude,longitude,latitude,longitude`; or a polygon of three and more such pairs, which need not be closed',
    }),
  ),
  geojson: s.Optional(
    s.String({
      maxLength: 60_000,
      description: 'GeoJSON of a Polygon or MultiPolygon, alone or in features and collections; takes precedence over `geocode`',
    }),
  ),
}

const rightGeocode =
  'geocode takes latitude,longitude,radius in kilometres (3 numbers), the south-western and the north-eastern corner of a box (4), or a polygon of latitude,longitude pairs (6 and more)'

const number = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d{1,3})?$/i

const numbersIn = (text: string): readonly number[] => {
  const all = text.split(',').map(part => part.trim())
  // Java's split, which Clowder 1.x uses, drops empty parts at the end.
  const parts = all.slice(0, all.findLastIndex(part => part !== '') + 1)
  const wrong = parts.find(part => !number.test(part))
  if (wrong !== undefined) throw new Invalid(`geocode has ${JSON.stringify(wrong.slice(0, 40))} instead of a number: ${rightGeocode}`)
  return parts.map(Number)
}

const isWithin = (value: number, min: number, max: number): boolean => value >= min && value <= max

const maxRadiusKilometres = maxRadiusMetres / 1000

/** Refuses what `checkGeoFilter` would refuse, but names the order and units of `geocode`. */
const checkNumbers = (numbers: readonly number[]): void => {
  const { length } = numbers
  const [latitude = 0, longitude = 0, third = 0, fourth = 0] = numbers
  const isPlace = isWithin(latitude, -90, 90) && isWithin(longitude, -180, 180)
  if (length === 3 && !isPlace)
    throw new Invalid('geocode: the centre of a circle must be latitude,longitude in degrees, -90 to 90 and -180 to 180')
  if (length === 3 && !isWithin(third, 0, maxRadiusKilometres))
    throw new Invalid(`geocode: the radius of a circle must be 0 to ${maxRadiusKilometres} kilometres`)
  if (length === 4 && !(isPlace && isWithin(third, -90, 90) && isWithin(fourth, -180, 180)))
    throw new Invalid('geocode: the corners of a box must be latitude,longitude,latitude,longitude in degrees, -90 to 90 and -180 to 180')
  if (length === 4 && latitude > third)
    throw new Invalid('geocode: the first corner of a box must be its south-western one, but is north of the second')
}

const areaOf = (numbers: readonly number[]): GeoArea => {
  const [latitude = 0, longitude = 0, third = 0, fourth = 0] = numbers
  if (numbers.length === 3) return { circle: { latitude, longitude, radiusMetres: third * 1000 } }
  if (numbers.length === 4) return { box: [longitude, latitude, fourth, third] }
  if (numbers.length < 6 || numbers.length % 2 !== 0) throw new Invalid(`${rightGeocode}, not ${numbers.length}`)
  const ring = Array.from({ length: numbers.length / 2 }, (_, at) => [numbers[2 * at + 1] ?? 0, numbers[2 * at] ?? 0])
  return { polygon: [closed(ring)] }
}

const closed = (ring: readonly (readonly number[])[]): readonly (readonly number[])[] => {
  const [first, last] = [ring[0], ring.at(-1)]
  return first && String(first) !== String(last) ? [...ring, first] : ring
}

const rightGeojson = 'geojson takes a Polygon or MultiPolygon, alone or in features and collections'

const maxNested = 8

/** Polygons, not yet validated. */
const polygonsIn = (value: unknown, depth = 0): readonly GeoArea[] => {
  if (typeof value !== 'object' || value === null || depth > maxNested) throw new Invalid(rightGeojson)
  const { type, coordinates, geometry, geometries, features } = value as Readonly<Record<string, unknown>>
  if (type === 'Polygon') return [{ polygon: positionsIn(coordinates) }]
  if (type === 'MultiPolygon' && Array.isArray(coordinates)) return coordinates.map(each => ({ polygon: positionsIn(each) }))
  if (type === 'Feature') return polygonsIn(geometry, depth + 1)
  const inner = type === 'FeatureCollection' ? features : type === 'GeometryCollection' ? geometries : undefined
  if (!Array.isArray(inner)) throw new Invalid(rightGeojson)
  return inner.flatMap(each => polygonsIn(each, depth + 1))
}

const isRings = (value: unknown): value is readonly (readonly (readonly number[])[])[] =>
  Array.isArray(value) && value.every(ring => Array.isArray(ring) && ring.every(Array.isArray))

const positionsIn = (coordinates: unknown): readonly (readonly (readonly number[])[])[] => {
  if (!isRings(coordinates)) throw new Invalid('geojson has a polygon without rings of positions')
  return coordinates
}

const checked = (areas: readonly GeoArea[], name: string): readonly GeoArea[] => {
  try {
    checkGeoFilter({ areas })
    return areas
  } catch (error) {
    throw error instanceof Invalid ? new Invalid(`${name}: ${error.message}`, { cause: error }) : error
  }
}

/** The areas that a query specifies; undefined when it specifies none. Throws `Invalid` for an invalid area. */
export const readAreas = ({
  geocode,
  geojson,
}: {
  readonly geocode?: string
  readonly geojson?: string
}): readonly GeoArea[] | undefined => {
  if (geojson !== undefined && geojson !== '') return checked(polygonsIn(parseJson(geojson, defaultJsonLimits, 'geojson')), 'geojson')
  if (geocode === undefined || geocode === '') return undefined
  const numbers = numbersIn(geocode)
  checkNumbers(numbers)
  return checked([areaOf(numbers)], 'geocode')
}

const time = (description: string) =>
  s.Optional(
    s.String({ maxLength: 60, description: `${description} (such as \`2017-03-31\` or \`2017-03-31T12:00:00Z\`; UTC without a zone)` }),
  )

/** Query parameters that select datapoints (reference, api-platform §13). Spread into a route's `query`. */
export const datapointParameters = {
  since: time('Datapoints that start then or later'),
  until: time('Datapoints that end then or earlier; those without an end are excluded'),
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
          'Datapoints with one of these properties; with names only, no properties but these and `source` are returned. With a colon, `site:A1` or `{"site":"A1"}`: datapoints whose property contains the value, which is JSON or text',
      }),
    ),
  ),
  semi: s.Optional(
    s.String({ maxLength: 20, description: '`spring`: datapoints of January to June of any year; `summer`: of July to December' }),
  ),
}

/** The values of those parameters. */
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

/** A query for datapoints. */
export interface DatapointQuery {
  readonly choice: StreamChoice
  /** Validated; the streams come from `Streams.chosen`. */
  readonly filter: Omit<GeoFilter, 'streams'>
  /** Names of the properties to return; absent: all. */
  readonly shown?: ReadonlySet<string>
}

const given = (text: string | undefined): string | undefined => (text === undefined || text.trim() === '' ? undefined : text)

/** The number of a stream or sensor; an invalid one is treated as unknown. */
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

/** A JSON value, or otherwise plain text. */
const matched = (text: string): Json => {
  try {
    return parseJson(text, defaultJsonLimits, 'The value of an attribute') as Json
  } catch (error) {
    if (error instanceof NotJson) return text
    throw error
  }
}

/** `{"site":"A1"}`, as in Clowder 1.x. */
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

/** Parses the parameters. Throws `Invalid` naming the wrong parameter, or `NotFound` for a stream or sensor that is not a number. */
export const readDatapointQuery = (query: DatapointParameters): DatapointQuery => {
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
