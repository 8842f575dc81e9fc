import type { Geometry, GeoPosition } from '../ports/geo-store.ts'

/** West, south, east, north in degrees. */
export type GeoBox = readonly [west: number, south: number, east: number, north: number]

/** The parts of a geometry: single positions, lines, and areas as rings (the outer one, then holes). */
export interface GeoParts {
  readonly points: readonly GeoPosition[]
  readonly lines: readonly (readonly GeoPosition[])[]
  readonly polygons: readonly (readonly (readonly GeoPosition[])[])[]
}

/** Splits a valid geometry into its parts, including those of collections. */
export const partsOf = (geometry: Geometry): GeoParts => {
  switch (geometry.type) {
    case 'Point':
      return { points: [geometry.coordinates], lines: [], polygons: [] }
    case 'MultiPoint':
      return { points: geometry.coordinates, lines: [], polygons: [] }
    case 'LineString':
      return { points: [], lines: [geometry.coordinates], polygons: [] }
    case 'MultiLineString':
      return { points: [], lines: geometry.coordinates, polygons: [] }
    case 'Polygon':
      return { points: [], lines: [], polygons: [geometry.coordinates] }
    case 'MultiPolygon':
      return { points: [], lines: [], polygons: geometry.coordinates }
    case 'GeometryCollection': {
      const all = geometry.geometries.map(partsOf)
      return {
        points: all.flatMap(({ points }) => points),
        lines: all.flatMap(({ lines }) => lines),
        polygons: all.flatMap(({ polygons }) => polygons),
      }
    }
  }
}

/** Every position of a geometry. */
export const positionsOf = (geometry: Geometry): readonly GeoPosition[] => {
  const { points, lines, polygons } = partsOf(geometry)
  return [...points, ...lines.flat(), ...polygons.flat(2)]
}

/** The bounding box of at least one position. */
export const boxAround = (positions: Iterable<GeoPosition>): GeoBox => {
  let [west, south, east, north] = [180, 90, -180, -90]
  for (const [longitude = 0, latitude = 0] of positions) {
    west = Math.min(west, longitude)
    south = Math.min(south, latitude)
    east = Math.max(east, longitude)
    north = Math.max(north, latitude)
  }
  return [west, south, east, north]
}

/** Splits a box at the antimeridian. */
export const boxesAcross = ([west, south, east, north]: GeoBox): readonly GeoBox[] => {
  if (west > east)
    return [
      [west, south, 180, north],
      [-180, south, east, north],
    ]
  const ends: GeoBox[] = []
  if (east === 180 && west > -180) ends.push([-180, south, -180, north])
  if (west === -180 && east < 180) ends.push([180, south, 180, north])
  return [[west, south, east, north], ...ends]
}

/**
 * The bounding box of a polygon. If it reaches 180° or −180° of longitude, also boxes without width around the same places on the other side: its
 * borders along that meridian, and its corners there.
 */
export const boxesAroundPolygon = (polygon: readonly (readonly GeoPosition[])[]): readonly [GeoBox, ...GeoBox[]] => {
  const otherSide = polygon.flatMap(ring =>
    ring.slice(1).flatMap(([longitude = 0, latitude = 0], at): readonly GeoBox[] => {
      if (Math.abs(longitude) !== 180) return []
      const [before, from = latitude] = ring[at] ?? []
      const to = before === longitude ? from : latitude
      return [[-longitude, Math.min(latitude, to), -longitude, Math.max(latitude, to)]]
    }),
  )
  return [boxAround(polygon.flat()), ...otherSide]
}

/** The altitude of a geometry's first position in metres; 0 if it has none. */
export const altitudeOf = (geometry: Geometry): number => positionsOf(geometry)[0]?.[2] ?? 0
