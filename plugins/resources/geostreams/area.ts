import { defaultJsonLimits, type GeoArea, Invalid, parseJson, s } from 'pounce/sdk'
import { checkGeoFilter, maxRadiusMetres } from 'pounce/sdk/geo'

/** Query parameters that name an area (reference, api-platform §13 "Area"). Spread into a route's `query`. */
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
  const parts = text.split(',').map(part => part.trim())
  const wrong = parts.find(part => !number.test(part))
  if (wrong !== undefined) throw new Invalid(`geocode has ${JSON.stringify(wrong.slice(0, 40))} instead of a number: ${rightGeocode}`)
  return parts.map(Number)
}

const isWithin = (value: number, least: number, most: number): boolean => value >= least && value <= most
const maxRadiusKilometres = maxRadiusMetres / 1000

/** What `checkGeoFilter` would refuse as well, in the order and units of `geocode`. */
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
const mostNested = 8

/** Polygons, not checked yet. */
const polygonsIn = (value: unknown, depth = 0): readonly GeoArea[] => {
  if (typeof value !== 'object' || value === null || depth > mostNested) throw new Invalid(rightGeojson)
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

/** The areas that a query names; undefined when it names none. `Invalid` for anything that is no area. */
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
