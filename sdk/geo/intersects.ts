import type { GeoArea, Geometry, GeoPosition } from '../ports/geo-store.ts'
import { boxAround, boxesAcross, boxesAroundPolygon, type GeoBox, type GeoParts, partsOf, positionsOf } from './geometry.ts'

type Ring = readonly GeoPosition[]
type Polygon = readonly Ring[]
type Edge = readonly [GeoPosition, GeoPosition]

/** The mean radius of the Earth in metres (IUGG). */
const earthMetres = 6_371_008.8
const radians = (degrees: number): number => (degrees * Math.PI) / 180

const edgesOf = (line: readonly GeoPosition[]): readonly Edge[] => line.slice(1).map((to, at) => [line[at] as GeoPosition, to])
const [x, y] = [(position: GeoPosition): number => position[0] ?? 0, (position: GeoPosition): number => position[1] ?? 0]

/** Positive if `c` is left of the line from `a` to `b`, 0 if on it. */
const side = (a: GeoPosition, b: GeoPosition, c: GeoPosition): number => (x(b) - x(a)) * (y(c) - y(a)) - (y(b) - y(a)) * (x(c) - x(a))

const isOnEdge = (place: GeoPosition, [a, b]: Edge): boolean =>
  side(a, b, place) === 0 &&
  x(place) >= Math.min(x(a), x(b)) &&
  x(place) <= Math.max(x(a), x(b)) &&
  y(place) >= Math.min(y(a), y(b)) &&
  y(place) <= Math.max(y(a), y(b))

const meet = (one: Edge, other: Edge): boolean => {
  const [a, b] = one
  const [c, d] = other
  const areApart = (p: number, q: number): boolean => (p > 0 && q > 0) || (p < 0 && q < 0)
  if (isOnEdge(a, other) || isOnEdge(b, other) || isOnEdge(c, one) || isOnEdge(d, one)) return true
  const [sideC, sideD, sideA, sideB] = [side(a, b, c), side(a, b, d), side(c, d, a), side(c, d, b)]
  return sideC !== 0 && sideD !== 0 && sideA !== 0 && sideB !== 0 && !areApart(sideC, sideD) && !areApart(sideA, sideB)
}

/** True inside or on the border; holes are outside. */
const isInside = (place: GeoPosition, polygon: Polygon): boolean => {
  const [px, py] = [x(place), y(place)]
  let isIn = false
  for (const ring of polygon)
    for (let at = 1; at < ring.length; at += 1) {
      const [a, b] = [ring[at - 1] as GeoPosition, ring[at] as GeoPosition]
      const [ay, by] = [y(a), y(b)]
      // Skips most edges: those entirely above or below.
      if ((ay > py && by > py) || (ay < py && by < py)) continue
      if (isOnEdge(place, [a, b])) return true
      if (ay > py !== by > py && px < ((x(b) - x(a)) * (py - ay)) / (by - ay) + x(a)) isIn = !isIn
    }
  return isIn
}

const areApart = (one: GeoBox, other: GeoBox): boolean => one[0] > other[2] || other[0] > one[2] || one[1] > other[3] || other[1] > one[3]

const touchesPolygon = ({ points, lines, polygons }: GeoParts, area: Polygon): boolean => {
  if ([...points, ...lines.flat(), ...polygons.flat(2)].some(place => isInside(place, area))) return true
  const corner = area[0]?.[0]
  if (corner && polygons.some(polygon => isInside(corner, polygon))) return true
  const border = area.flatMap(edgesOf)
  return [...lines, ...polygons.flat()].some(line => edgesOf(line).some(edge => border.some(other => meet(edge, other))))
}

/** The length of a degree of longitude relative to the equator; exactly 0 at a pole, where the cosine is not exact. */
const narrowing = (latitude: number): number => (Math.abs(latitude) === Math.PI / 2 ? 0 : Math.cos(latitude))

/** The distance between two positions along the surface of a sphere, in metres. */
export const metresBetween = (one: GeoPosition, other: GeoPosition): number => {
  const [latitude, otherLatitude] = [radians(y(one)), radians(y(other))]
  const across = Math.sin(radians((x(other) - x(one)) % 360) / 2) ** 2 * narrowing(latitude) * narrowing(otherLatitude)
  const along = Math.sin((otherLatitude - latitude) / 2) ** 2
  return 2 * earthMetres * Math.asin(Math.min(1, Math.sqrt(across + along)))
}

/** Where edges are about as near as the boundary of a circle they are subdivided down to this share of the radius, and this number of metres. */
const [finestShare, finestMetres] = [1 / 400, 0.01]

/** Whether a circle touches an edge: at its midpoint, or in one of its halves that are not entirely too far away. */
const reaches = (centre: GeoPosition, radiusMetres: number, [a, b]: Edge): boolean => {
  const middle: GeoPosition = [(x(a) + x(b)) / 2, (y(a) + y(b)) / 2]
  const beyond = metresBetween(middle, centre) - radiusMetres
  if (beyond <= 0) return true
  // Degrees of longitude are at most as long as those of latitude, so no path along the half is longer.
  const half = earthMetres * radians(Math.hypot(x(b) - x(a), y(b) - y(a)) / 2)
  if (beyond > half || half < Math.max(finestMetres, radiusMetres * finestShare)) return false
  return reaches(centre, radiusMetres, [a, middle]) || reaches(centre, radiusMetres, [middle, b])
}

const touchesCircle = ({ points, lines, polygons }: GeoParts, centre: GeoPosition, radiusMetres: number): boolean => {
  const isNear = (place: GeoPosition): boolean => metresBetween(place, centre) <= radiusMetres
  if (points.some(isNear) || polygons.some(polygon => isInside(centre, polygon))) return true
  return [...lines, ...polygons.flat()].some(
    line => line.some(isNear) || edgesOf(line).some(edge => isOnEdge(centre, edge) || reaches(centre, radiusMetres, edge)),
  )
}

const ringAround = ([west, south, east, north]: GeoBox): Ring => [
  [west, south],
  [east, south],
  [east, north],
  [west, north],
  [west, south],
]

/** The same area is compared with many geometries. */
const polygonBoxes = new WeakMap<Polygon, ReturnType<typeof boxesAroundPolygon>>()

const boxesOfPolygon = (polygon: Polygon): ReturnType<typeof boxesAroundPolygon> => {
  const boxes = polygonBoxes.get(polygon) ?? boxesAroundPolygon(polygon)
  polygonBoxes.set(polygon, boxes)
  return boxes
}

const isInBox = (place: GeoPosition, [west, south, east, north]: GeoBox): boolean =>
  y(place) >= south && y(place) <= north && (west <= east ? x(place) >= west && x(place) <= east : x(place) >= west || x(place) <= east)

/** Fast path: most geometries are points. */
const touchesPoint = (place: GeoPosition, area: GeoArea): boolean => {
  if ('box' in area) return isInBox(place, area.box) || (Math.abs(x(place)) === 180 && isInBox([-x(place), y(place)], area.box))
  if ('polygon' in area) {
    const [box, ...otherSide] = boxesOfPolygon(area.polygon)
    return (isInBox(place, box) && isInside(place, area.polygon)) || otherSide.some(line => isInBox(place, line))
  }
  return metresBetween(place, [area.circle.longitude, area.circle.latitude]) <= area.circle.radiusMetres
}

/** Whether a geometry and an area intersect, including their borders. Both must be valid. */
export const intersects = (geometry: Geometry, area: GeoArea): boolean => {
  if (geometry.type === 'Point') return touchesPoint(geometry.coordinates, area)
  const parts = partsOf(geometry)
  if ('circle' in area) return touchesCircle(parts, [area.circle.longitude, area.circle.latitude], area.circle.radiusMetres)
  const own = boxAround(positionsOf(geometry))
  const touchesBox = (box: GeoBox): boolean => !areApart(own, box) && touchesPolygon(parts, [ringAround(box)])
  if ('box' in area) return boxesAcross(area.box).some(touchesBox)
  const [box, ...otherSide] = boxesOfPolygon(area.polygon)
  return (!areApart(own, box) && touchesPolygon(parts, area.polygon)) || otherSide.some(touchesBox)
}
