import type { GeoArea, GeoAttribute, GeoBinning, GeoFilter } from '../ports/geo-store.ts'
import { Invalid } from '../problem.ts'
import { isGeoId, isGeoTime, isPosition, isRing, jsonFault } from './check-datapoint.ts'
import { isTimeBin } from './time-bins.ts'

const maxStreams = 10_000
const maxAlternatives = 100
const maxAreaPositions = 1000
const maxKeyLength = 1000
const minSpanMs = 1000
const maxGroups = 4
const maxProperties = 1000
/** Half the circumference of the Earth: the largest radius of a circle. */
export const maxRadiusMetres = 20_040_000

const requireValid = (isValid: boolean, message: string): void => {
  if (!isValid) throw new Invalid(message)
}

/** Throws `Invalid`, naming the member, for an invalid filter. */
export const checkGeoFilter = ({ streams, areas, fromMs, beforeMs, untilMs, months, attributes }: GeoFilter): void => {
  if (streams) checkGeoIds(streams, 'streams', maxStreams)
  if (areas) {
    requireValid(areas.length > 0 && areas.length <= maxAlternatives, `areas: 1 to ${maxAlternatives} of them, not ${areas.length}`)
    areas.forEach(checkArea)
  }
  requireValid(fromMs === undefined || isGeoTime(fromMs), 'from is not a time in the years 1 to 9999')
  requireValid(beforeMs === undefined || isGeoTime(beforeMs), 'before is not a time in the years 1 to 9999')
  requireValid(untilMs === undefined || isGeoTime(untilMs), 'until is not a time in the years 1 to 9999')
  requireValid(
    !months || [months.from, months.to].every(month => Number.isInteger(month) && month >= 1 && month <= 12),
    'months are 1 to 12',
  )
  if (attributes) {
    requireValid(
      attributes.length > 0 && attributes.length <= maxAlternatives,
      `attributes: 1 to ${maxAlternatives}, not ${attributes.length}`,
    )
    attributes.forEach(checkAttribute)
  }
}

/** Throws `Invalid` unless these are at most `max` valid datapoint ids or stream numbers. */
export const checkGeoIds = (ids: readonly number[], what: string, max: number): void => {
  requireValid(ids.length <= max, `${what}: at most ${max} at once, not ${ids.length}`)
  requireValid(ids.every(isGeoId), `${what} are positive whole numbers`)
}

/** Also true for malformed positions. */
const isInRange = ([longitude = 0, latitude = 0]: readonly number[]): boolean => !(Math.abs(longitude) > 180 || Math.abs(latitude) > 90)

/** Whether a ring crosses the antimeridian or takes the long way around: the two cannot be distinguished except for an edge all around the Earth. */
const isAcross = (ring: readonly (readonly number[])[]): boolean =>
  ring.some(([longitude = 0], at) => {
    const span = Math.abs(longitude - (ring[at - 1]?.[0] ?? longitude))
    return span > 180 && span < 360
  })

const checkArea = (area: GeoArea): void => {
  if ('box' in area) {
    const [west, south, east, north] = area.box
    requireValid(
      area.box.length === 4 && isPosition([west, south]) && isPosition([east, north]),
      'a box is west, south, east, north in degrees',
    )
    requireValid(south <= north, 'a box has its south below its north')
  } else if ('polygon' in area) {
    requireValid(area.polygon.flat().every(isInRange), 'a polygon has a longitude beyond -180 to 180 or a latitude beyond -90 to 90')
    requireValid(area.polygon.length > 0 && area.polygon.every(isRing), 'a polygon has closed rings of longitudes and latitudes')
    requireValid(
      !area.polygon.some(isAcross),
      'an edge of a polygon spans more than 180 degrees of longitude: send what crosses the date line as two polygons, one on each side (a MultiPolygon), or as a box',
    )
    requireValid(area.polygon.flat().length <= maxAreaPositions, `a polygon has at most ${maxAreaPositions} positions`)
  } else {
    const { longitude, latitude, radiusMetres } = area.circle
    requireValid(isPosition([longitude, latitude]), 'a circle has its centre at a longitude and latitude in degrees')
    requireValid(radiusMetres >= 0 && radiusMetres <= maxRadiusMetres, `the radius of a circle is 0 to ${maxRadiusMetres} metres`)
  }
}

const checkAttribute = ({ key, contains }: GeoAttribute): void => {
  requireValid(key.length <= maxKeyLength && jsonFault(key) === undefined, `an attribute is a name of at most ${maxKeyLength} characters`)
  const fault = contains === undefined ? undefined : jsonFault(contains)
  requireValid(fault === undefined, `the value of an attribute ${fault}`)
}

/** Throws `Invalid`, naming the member, for an invalid binning. */
export const checkBinning = ({ time, depthMetres, groupBy = [], properties = [] }: GeoBinning): void => {
  const isSpan =
    typeof time === 'string' ? isTimeBin(time) : Number.isSafeInteger(time.everyMs) && time.everyMs >= minSpanMs && isGeoTime(time.originMs)
  if (!isSpan) throw new Invalid(`time is a named span, or one of at least ${minSpanMs} whole milliseconds with an origin`)
  if (depthMetres !== undefined && !(Number.isFinite(depthMetres) && depthMetres > 0)) throw new Invalid('depth must be more than 0 metres')
  if (groupBy.length > maxGroups) throw new Invalid(`groupBy: at most ${maxGroups} properties, not ${groupBy.length}`)
  if (properties.length > maxProperties) throw new Invalid(`properties: at most ${maxProperties}, not ${properties.length}`)
}
