import test from 'ava'
import fc from 'fast-check'
import type { Geometry, GeoPosition } from '../ports/geo-store.ts'
import { intersects } from './intersects.ts'

/** A coarse grid, so that positions are often on borders and corners. */
const degrees = fc.integer({ min: -4, max: 4 })
const place: fc.Arbitrary<GeoPosition> = fc.tuple(degrees, degrees)
const box = fc.tuple(degrees, degrees, degrees, degrees).map(([west, south, east, north]) => {
  const [low, high] = [Math.min(south, north), Math.max(south, north)]
  return [Math.min(west, east), low, Math.max(west, east), high] as const
})
const ringAround = ([west, south, east, north]: readonly [number, number, number, number]): GeoPosition[] => [
  [west, south],
  [east, south],
  [east, north],
  [west, north],
  [west, south],
]
const ring = fc.array(place, { minLength: 3, maxLength: 8 }).map(places => [...places, places[0] as GeoPosition])

test('a point touches a box exactly if it touches the equivalent polygon', t => {
  fc.assert(
    fc.property(place, box, (coordinates, area) => {
      const point = { type: 'Point', coordinates } as const
      t.is(intersects(point, { box: area }), intersects(point, { polygon: [ringAround(area)] }))
    }),
  )
})

test('a point touches the same areas as a collection or MultiPoint of only that point', t => {
  const areas = fc.oneof(
    box.map(area => ({ box: area })),
    ring.map(outer => ({ polygon: [outer] })),
    fc.tuple(degrees, degrees, fc.integer({ min: 0, max: 500_000 })).map(([longitude, latitude, radiusMetres]) => ({
      circle: { longitude, latitude, radiusMetres },
    })),
  )
  fc.assert(
    fc.property(place, areas, (coordinates, area) => {
      const point = { type: 'Point', coordinates } as const
      const expected = intersects({ type: 'MultiPoint', coordinates: [coordinates] }, area)
      t.is(intersects(point, area), expected)
      t.is(intersects({ type: 'GeometryCollection', geometries: [point] }, area), expected)
    }),
  )
})

test('a box across the antimeridian has two sides', t => {
  const at = (longitude: number) => intersects({ type: 'Point', coordinates: [longitude, 0] }, { box: [179, -1, -179, 1] })
  t.deepEqual([178.9, 179, 180, -180, -179, -178.9].map(at), [false, true, true, true, true, false])
})

test('a polygon that ends at 180 degrees touches lines and polygons that end at -180 degrees', t => {
  const ring = (...corners: GeoPosition[]) => [...corners, ...corners.slice(0, 1)]
  const area = { polygon: [ring([170, -1], [180, -1], [180, 1], [178, 0], [180, 3], [170, 3])] }
  const line = (latitude: number): Geometry => ({ type: 'LineString', coordinates: [[-180, latitude], [-170, 9]] }) // biome-ignore format: one line says it
  t.deepEqual(
    [-2, -1, 0, 1, 2, 3, 4].map(latitude => intersects(line(latitude), area)),
    [false, true, true, true, false, true, false],
  )
  t.true(intersects({ type: 'Polygon', coordinates: [ring([-180, -9], [-170, 0], [-180, 9])] }, area))
  t.false(intersects({ type: 'Polygon', coordinates: [ring([-179.9, -9], [-170, 0], [-179.9, 9])] }, area))
})

const circleAt = (longitude: number, latitude: number, kilometres: number) => ({
  circle: { longitude, latitude, radiusMetres: kilometres * 1000 },
})
const lineOf = (...coordinates: GeoPosition[]) => ({ type: 'LineString', coordinates }) as const

test('a long line touches a large circle at the point with the smallest distance on the sphere', t => {
  // From far south to far north-east; the only points near the centre are ones that a flat map would not consider nearest.
  t.true(intersects(lineOf([8.5, -53.4973], [180, 85]), circleAt(-145.009, -8.0485, 10_000)))
  // Across the antimeridian of the centre.
  t.true(intersects(lineOf([100, 0], [180, 1]), circleAt(-179.5, 0.99, 60)))
  t.false(intersects(lineOf([100, 0], [179, 1]), circleAt(-179.5, 0.9, 60)))
})

test('a line touches a circle exactly when one of many points along it does', t => {
  const anywhere = fc.tuple(fc.integer({ min: -180, max: 180 }), fc.integer({ min: -90, max: 90 }))
  fc.assert(
    fc.property(anywhere, anywhere, anywhere, fc.integer({ min: 50, max: 19_000 }), (from, to, [longitude, latitude], kilometres) => {
      const places = Array.from({ length: 2001 }, (_, at) =>
        [0, 1].map(axis => (from[axis] ?? 0) + (((to[axis] ?? 0) - (from[axis] ?? 0)) * at) / 2000),
      )
      const isTouched = (share: number) =>
        places.some(coordinates => intersects({ type: 'Point', coordinates }, circleAt(longitude, latitude, kilometres * share)))
      const found = intersects(lineOf(from, to), circleAt(longitude, latitude, kilometres))
      // For edges up to 20 km long, and near the boundary, the two may differ.
      if (isTouched(0.99)) t.true(found)
      if (!isTouched(1.01 + 12 / kilometres)) t.false(found)
    }),
    { numRuns: 500 },
  )
})

test('a circle with radius 0 is a point, even on a line and at a pole', t => {
  t.true(intersects(lineOf([90, 40.03], [-10, 40.03]), circleAt(26.4778, 40.03, 0)))
  t.false(intersects(lineOf([90, 40.03], [-10, 40.03]), circleAt(26.4778, 40.031, 0)))
  t.true(intersects({ type: 'Point', coordinates: [9, -90] }, circleAt(179, -90, 0)))
})

test('a line around a circle, just outside of it, does not touch it', t => {
  // Every point of it might be the nearest one: the subdivision must terminate.
  const around = lineOf(...Array.from({ length: 361 }, (_, at) => [at - 180, 60]))
  t.false(intersects(around, circleAt(0, 90, 3335.8)))
})
