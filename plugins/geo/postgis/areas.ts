import { boxesAcross, boxesAroundPolygon, type GeoArea, type GeoBox, type GeoPosition } from 'pounce/sdk/geo'
import type { SqlParameters } from './conditions.ts'
import { toWkb } from './wkb.ts'

/** Metres per degree of latitude, slightly below the true value, so that boxes come out larger. */
const metresOfDegree = 111_000
const radians = (degrees: number): number => (degrees * Math.PI) / 180
/** Rounding margin. */
const margin = 1e-6

/** Splits a box that may cross the antimeridian into boxes that do not. */
const cut = ([west, south, east, north]: GeoBox): readonly GeoBox[] => {
  if (east - west >= 360) return [[-180, south, 180, north]]
  const left = west < -180 ? west + 360 : west
  const right = east > 180 ? east - 360 : east
  if (left <= right) return [[left, south, right, north]]
  return [
    [left, south, 180, north],
    [-180, south, right, north],
  ]
}

const boxesOfCircle = (longitude: number, latitude: number, radiusMetres: number): readonly GeoBox[] => {
  const high = radiusMetres / metresOfDegree + margin
  const [south, north] = [latitude - high, latitude + high]
  if (south <= -90 || north >= 90) return [[-180, Math.max(-90, south), 180, Math.min(90, north)]]
  // The circle is widest where a meridian is tangent to it.
  const wide = (Math.asin(Math.min(1, Math.sin(radians(high)) / Math.cos(radians(latitude)))) * 180) / Math.PI + margin
  return cut([longitude - wide, south, longitude + wide, north])
}

/** Boxes, none across the antimeridian, that contain everything that intersects an area. */
export const boxesOf = (area: GeoArea): readonly GeoBox[] => {
  if ('circle' in area) return boxesOfCircle(area.circle.longitude, area.circle.latitude, area.circle.radiusMetres)
  if ('polygon' in area) return boxesAroundPolygon(area.polygon)
  return boxesAcross(area.box)
}

const ringOf = ([west, south, east, north]: GeoBox): readonly GeoPosition[] => [
  [west, south],
  [east, south],
  [east, north],
  [west, north],
  [west, south],
]

const shapeOf = (rings: readonly (readonly GeoPosition[])[], binds: SqlParameters): string =>
  binds.add(toWkb({ type: 'Polygon', coordinates: rings.map(ring => ring.map(([x = 0, y = 0]) => [x, y])) }), 'geometry')

/** Distance 0 rather than `ST_Intersects`, which fails with an error on self-intersecting shapes. */
const touching = (shape: string): string => `ST_DWithin(shape, ${shape}, 0)`

/**
 * Points are measured over the ground. For other shapes, the point nearest on a flat map around the centre is used, plus points along them that
 * are close enough to each other for circles too large for such a map.
 */
const inCircle = ({ longitude, latitude, radiusMetres }: Extract<GeoArea, { circle: object }>['circle'], binds: SqlParameters): string => {
  const centre = binds.add(toWkb({ type: 'Point', coordinates: [longitude, latitude] }), 'geometry')
  const radius = binds.add(radiusMetres, 'float8')
  const narrow = binds.add(Math.cos(radians(latitude)), 'float8')
  const step = binds.add(Math.max(10_000, radiusMetres / 10) / metresOfDegree, 'float8')
  const nearest = `ST_Scale(ST_ClosestPoint(ST_Scale(shape, ${narrow}, 1), ST_Scale(${centre}, ${narrow}, 1)), 1 / ${narrow}, 1)`
  const along = `exists (select from ST_DumpPoints(ST_Segmentize(ST_Force2D(shape), ${step})) d where ST_DistanceSphere(d.geom, ${centre}) <= ${radius})`
  const far = `ST_DWithin(shape, ${centre}, 0) or ST_DistanceSphere(${nearest}, ${centre}) <= ${radius} or ${along}`
  return `case when GeometryType(shape) = 'POINT' then ST_DistanceSphere(shape, ${centre}) <= ${radius} else ${far} end`
}

/** The condition that a shape intersects one of these areas, borders included; `isIndexed` when the index on shapes may be used for it. */
export const areasCondition = (areas: readonly GeoArea[], isIndexed: boolean, binds: SqlParameters): string => {
  const condition = `(${areas.map(area => areaCondition(area, binds)).join(' or ')})`
  return isIndexed ? condition : `${condition} is true`
}

const areaCondition = (area: GeoArea, binds: SqlParameters): string => {
  const boxes = boxesOf(area).map(box => ({ box, shape: shapeOf([ringOf(box)], binds) }))
  const inBox = ({ shape }: { readonly shape: string }): string => `shape && ${shape} and ${touching(shape)}`
  if ('box' in area) return `(${boxes.map(inBox).join(' or ')})`
  if ('circle' in area) return `((${boxes.map(({ shape }) => `shape && ${shape}`).join(' or ')}) and (${inCircle(area.circle, binds)}))`
  const [around, ...otherSide] = boxes
  const inPolygon = `shape && ${around?.shape} and ${touching(shapeOf(area.polygon, binds))}`
  return `(${[inPolygon, ...otherSide.map(inBox)].join(' or ')})`
}
