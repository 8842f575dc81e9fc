import test from 'ava'
import fc from 'fast-check'
import type { Geometry } from 'pounce/sdk/geo'
import { fromWkb, toWkb } from './wkb.ts'

const geometryOf = (dimensions: 2 | 3): fc.Arbitrary<Geometry> => {
  const position = fc.array(fc.double({ noNaN: true, noDefaultInfinity: true }), { minLength: dimensions, maxLength: dimensions })
  const line = fc.array(position, { minLength: 2, maxLength: 4 })
  const rings = fc.array(line, { minLength: 1, maxLength: 3 })
  const { geometry } = fc.letrec<{ geometry: Geometry }>(tie => ({
    geometry: fc.oneof(
      { maxDepth: 4 },
      fc.record({ type: fc.constant('Point' as const), coordinates: position }),
      fc.record({ type: fc.constantFrom('MultiPoint' as const, 'LineString' as const), coordinates: line }),
      fc.record({ type: fc.constantFrom('MultiLineString' as const, 'Polygon' as const), coordinates: rings }),
      fc.record({ type: fc.constant('MultiPolygon' as const), coordinates: fc.array(rings, { minLength: 1, maxLength: 2 }) }),
      fc.record({
        type: fc.constant('GeometryCollection' as const),
        geometries: fc.array(tie('geometry') as fc.Arbitrary<Geometry>, { minLength: 1, maxLength: 3 }),
      }),
    ),
  }))
  return geometry
}

const plain = (geometry: Geometry): unknown => JSON.parse(JSON.stringify(geometry))

test('every geometry survives a round trip exactly', t => {
  for (const dimensions of [2, 3] as const)
    fc.assert(
      fc.property(geometryOf(dimensions), geometry => {
        t.deepEqual(plain(fromWkb(toWkb(geometry))), plain(geometry))
      }),
      { numRuns: 200 },
    )
})

test('the encoding is that of PostGIS', t => {
  const point = '0101000020e6100000000000000000f03f0000000000000040'
  t.is(toWkb({ type: 'Point', coordinates: [1, 2] }), point)
  t.deepEqual(fromWkb(point.toUpperCase()), { type: 'Point', coordinates: [1, 2] })
  t.is(toWkb({ type: 'Point', coordinates: [1, 2, 3] }), '01010000a0e6100000000000000000f03f00000000000000400000000000000840')
})

test('a geometry type that GeoJSON does not define is an error that names it', t => {
  t.throws(() => fromWkb('0108000020e610000000000000'), { message: /type 8/ })
})
