import test from 'ava'
import fc from 'fast-check'
import type { GeoPosition } from '../ports/geo-store.ts'
import { touches } from './touches.ts'

/** A coarse grid, so that places lie on borders and corners often. */
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

test('a point is in a box as it is in the polygon of the box', t => {
  fc.assert(
    fc.property(place, box, (coordinates, area) => {
      const point = { type: 'Point', coordinates } as const
      t.is(touches(point, { box: area }), touches(point, { polygon: [ringAround(area)] }))
    }),
  )
})

test('a point touches what a collection or many points of that one point touch', t => {
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
      const expected = touches({ type: 'MultiPoint', coordinates: [coordinates] }, area)
      t.is(touches(point, area), expected)
      t.is(touches({ type: 'GeometryCollection', geometries: [point] }, area), expected)
    }),
  )
})

test('a box across the antimeridian has two sides', t => {
  const at = (longitude: number) => touches({ type: 'Point', coordinates: [longitude, 0] }, { box: [179, -1, -179, 1] })
  t.deepEqual([178.9, 179, 180, -180, -179, -178.9].map(at), [false, true, true, true, true, false])
})
