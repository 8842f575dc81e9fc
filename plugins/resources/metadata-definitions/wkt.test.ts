import test from 'ava'
import { isWkt } from './wkt.ts'

test('geometries in well-known text are recognized, regardless of case and spacing', t => {
  for (const text of [
    'POINT (-88.2 40.1)',
    'point(-88.2 40.1 220)',
    'POINT Z (1 2 3)',
    'POINTZM (1 2 3 4)',
    'POINT EMPTY',
    'SRID=4326;POINT(1 2)',
    'LINESTRING (30 10, 10 30, 40 40)',
    'POLYGON ((35 10, 45 45, 15 40, 10 20, 35 10),\n(20 30, 35 35, 30 20, 20 30))',
    'MULTIPOINT ((10 40), (40 30))',
    'MULTIPOINT (10 40, 40 30)',
    'MULTILINESTRING ((10 10, 20 20), (40 40, 30 30))',
    'MULTIPOLYGON (((40 40, 20 45, 45 30, 40 40)), ((20 35, 10 30, 10 10, 20 35)))',
    'GEOMETRYCOLLECTION (POINT (4 6), LINESTRING (4 6, 7 1e1))',
  ])
    t.true(isWkt(text), text)
})

test('other strings are not recognized as geometries', t => {
  for (const text of [
    '',
    'Champaign',
    'POINT',
    'POINT ()',
    'POINT (1)',
    'POINT (1, 2)',
    'POINT (1 2',
    'POINT (1 2) POINT (1 2)',
    'POINT Z (1 2)',
    'POINT (1 x)',
    'LINESTRING ((1 2))',
    'POLYGON (1 2, 3 4)',
    'CIRCLE (1 2)',
    'CONSTRUCTOR (1 2)',
    `${'GEOMETRYCOLLECTION ('.repeat(5000)}POINT (1 2)${')'.repeat(5000)}`,
  ])
    t.false(isWkt(text), text.slice(0, 40))
})
