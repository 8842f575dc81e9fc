import test from 'ava'
import fc from 'fast-check'
import { metresBetween } from 'pounce/sdk/geo'
import { boxesOf } from './areas.ts'

const degrees = (most: number) => fc.double({ min: -most, max: most, noNaN: true })

test('every position in a circle lies in one of its boxes, also at the poles and across the antimeridian', t => {
  const radius = fc.oneof(
    fc.constantFrom(0, 1, 20_040_000),
    fc.double({ min: 0, max: 20_040_000, noNaN: true }),
    fc.double({ min: 0, max: 50_000, noNaN: true }),
  )
  fc.assert(
    fc.property(
      degrees(180),
      degrees(90),
      radius,
      degrees(180),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (longitude, latitude, radiusMetres, bearing, share) => {
        const boxes = boxesOf({ circle: { longitude, latitude, radiusMetres } })
        for (const [west, south, east, north] of boxes) {
          if (west > east || south > north || west < -180 || east > 180 || south < -90 || north > 90) return false
        }
        // The position at this share of the radius, in the direction of the bearing.
        const [angle, turn, from] = [(radiusMetres * share) / 6_371_009, (bearing * Math.PI) / 180, (latitude * Math.PI) / 180]
        const to = Math.asin(
          Math.max(-1, Math.min(1, Math.sin(from) * Math.cos(angle) + Math.cos(from) * Math.sin(angle) * Math.cos(turn))),
        )
        const away = Math.atan2(Math.sin(turn) * Math.sin(angle) * Math.cos(from), Math.cos(angle) - Math.sin(from) * Math.sin(to))
        const place = [((((longitude + (away * 180) / Math.PI + 180) % 360) + 360) % 360) - 180, (to * 180) / Math.PI] as const
        if (metresBetween([longitude, latitude], place) > radiusMetres) return true
        return boxes.some(([west, south, east, north]) => place[0] >= west && place[0] <= east && place[1] >= south && place[1] <= north)
      },
    ),
    { numRuns: 5000 },
  )
  t.deepEqual(boxesOf({ circle: { longitude: 0, latitude: 90, radiusMetres: 1000 } }).length, 1)
})

test('a box across the antimeridian is split in two; any other box is unchanged', t => {
  t.deepEqual(boxesOf({ box: [179, -1, -179, 1] }), [
    [179, -1, 180, 1],
    [-180, -1, -179, 1],
  ])
  t.deepEqual(boxesOf({ box: [-5, -1, 5, 1] }), [[-5, -1, 5, 1]])
})

test('the box of a polygon covers all its rings', t => {
  const ring = [
    [0, 0],
    [4, 0],
    [4, 3],
    [0, 0],
  ]
  t.deepEqual(boxesOf({ polygon: [ring] }), [[0, 0, 4, 3]])
})
