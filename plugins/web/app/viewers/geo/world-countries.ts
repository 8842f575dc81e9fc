import type { Feature, FeatureCollection, MultiPolygon, Polygon, Position } from 'geojson'

const longitude = ([degrees = 0]: Position = []): number => degrees
const latitude = ([, degrees = 0]: Position = []): number => degrees

/** Whether a ring crosses the antimeridian between two of its points. */
const isJump = (from: Position | undefined, to: Position): boolean => from !== undefined && Math.abs(longitude(to) - longitude(from)) > 180

/** The same ring with longitudes continued beyond 180°, so that no line is drawn across the whole map. */
const continuous = (ring: readonly Position[]): Position[] => {
  let turned = 0
  return ring.map((point, at) => {
    const before = ring[at - 1]
    if (isJump(before, point)) turned += longitude(point) < longitude(before) ? 360 : -360
    return [longitude(point) + turned, latitude(point)]
  })
}

/** A ring around a pole, drawn from one edge of the map to the other and closed along the pole. */
const closedAtPole = (ring: readonly Position[]): Position[] => {
  const start = ring.findIndex((point, at) => isJump(ring[at - 1], point))
  const line = [...ring.slice(start), ...ring.slice(1, start)]
  const first = longitude(line[0])
  const last = first + 360 * Math.sign(longitude(line.at(-1)) - first)
  const pole = Math.sign(latitude(line[0])) * 90
  return [...line, [last, latitude(line[0])], [last, pole], [first, pole], line[0] ?? []]
}

const flat = (ring: readonly Position[]): Position[] => {
  const line = continuous(ring)
  return longitude(line[0]) === longitude(line.at(-1)) ? line : closedAtPole(ring)
}

/** Repeats polygons that extend beyond an edge of the map at the opposite edge. */
const withCopies = (polygon: readonly Position[][]): Position[][][] => {
  const longitudes = polygon.flat().map(longitude)
  const shift = Math.max(...longitudes) > 180 ? -360 : Math.min(...longitudes) < -180 ? 360 : 0
  const copy = polygon.map(ring => ring.map(point => [longitude(point) + shift, latitude(point)]))
  return shift === 0 ? [copy] : [[...polygon], copy]
}

const onFlatMap = <P>({ geometry, ...rest }: Feature<Polygon | MultiPolygon, P>): Feature<MultiPolygon, P> => {
  const polygons = geometry.type === 'Polygon' ? [geometry.coordinates] : geometry.coordinates
  return { ...rest, geometry: { type: 'MultiPolygon', coordinates: polygons.flatMap(polygon => withCopies(polygon.map(flat))) } }
}

/** Countries prepared for a flat map. In `world-atlas` they are on a sphere, where Russia, Fiji and Antarctica are not cut at 180°. */
export const flatCountries = (world: FeatureCollection): FeatureCollection<MultiPolygon> => ({
  ...world,
  features: world.features.map(country => onFlatMap(country as Feature<Polygon | MultiPolygon>)),
})
