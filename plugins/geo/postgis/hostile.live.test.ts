import test from 'ava'
import type { Datapoint, GeoFilter, Geometry } from 'pounce/sdk/geo'
import { liveTests } from 'pounce/sdk/testing'
import { onServer, openStore, testSchema } from './testing.ts'

const { test: live, url } = liveTests(test, 'POSTGIS')

const start = Date.UTC(2026, 0, 5)
const pointAt = (id: number, changes: Partial<Datapoint> = {}): Datapoint => ({
  id,
  stream: 1,
  startMs: start,
  endMs: null,
  createdMs: start,
  geometry: { type: 'Point', coordinates: [1, 1] },
  properties: {},
  ...changes,
})

const bowTie = [
  [0, 0],
  [2, 2],
  [2, 0],
  [0, 2],
  [0, 0],
]
const flat = [
  [0, 0],
  [4, 4],
  [0, 0],
  [0, 0],
]
const spike = [
  [0, 0],
  [3, 0],
  [1, 0],
  [1, 1],
  [0, 0],
]
const strange: readonly Geometry[] = [
  { type: 'Polygon', coordinates: [bowTie] },
  { type: 'Polygon', coordinates: [flat] },
  { type: 'Polygon', coordinates: [spike, bowTie] },
  { type: 'MultiPolygon', coordinates: [[bowTie], [spike], [bowTie]] },
  {
    type: 'LineString',
    coordinates: [
      [1, 1],
      [1, 1],
    ],
  },
  {
    type: 'LineString',
    coordinates: [
      [-180, -90],
      [180, 90],
    ],
  },
  { type: 'Point', coordinates: [5e-324, -5e-324, 1.7976931348623157e308] },
  { type: 'GeometryCollection', geometries: [{ type: 'GeometryCollection', geometries: [{ type: 'Polygon', coordinates: [bowTie] }] }] },
  { type: 'MultiPoint', coordinates: Array.from({ length: 10_000 }, (_, at) => [at / 100, 0]) },
]

const areas: readonly NonNullable<GeoFilter['areas']>[] = [
  [{ polygon: [bowTie] }],
  [{ polygon: [flat] }],
  [{ polygon: [spike, bowTie] }],
  [{ box: [0, 0, 0, 0] }],
  [{ box: [180, -90, -180, 90] }],
  [{ circle: { longitude: 0, latitude: 90, radiusMetres: 0 } }],
  [{ circle: { longitude: 180, latitude: -90, radiusMetres: 20_040_000 } }],
  [{ circle: { longitude: 5e-324, latitude: 5e-324, radiusMetres: 5e-324 } }],
  Array.from({ length: 100 }, (_, at) => ({ circle: { longitude: at, latitude: 0, radiusMetres: at * 1000 } })),
]

live('self-intersecting, degenerate and huge shapes are stored unchanged, and no area query fails on them', async t => {
  const store = await openStore(t, { url: url('POSTGIS') })
  const points = strange.map((geometry, at) => pointAt(at + 1, { geometry, stream: at + 1 }))
  for (const { status } of await store.insert(points)) t.is(status, 'inserted')
  for (const point of points) t.deepEqual(await store.get(point.id), point)
  for (const of of areas) await t.notThrowsAsync(store.find({ filter: { areas: of }, limit: 1000 }), JSON.stringify(of).slice(0, 200))
  const whole = await store.find({ filter: { areas: [{ box: [-180, -90, 180, 90] }] }, limit: 1000 })
  t.is(whole.points.length, strange.length)
})

live('numbers and names at the limits of JSON are returned unchanged', async t => {
  const store = await openStore(t, { url: url('POSTGIS') })
  const properties = {
    ...Object.fromEntries([
      ['__proto__', { __proto__: null }],
      ['n'.repeat(50_000), 1],
      ['葉'.repeat(1000), 2],
      ["'; drop table points; --", '\\\'"{},\\\\ $1 \u0001\u2028'],
    ]),
    numbers: [
      9_007_199_254_740_991,
      -9_007_199_254_740_991,
      1e-300,
      5e-324,
      1.7976931348623157e308,
      0.1 + 0.2,
      1 / 3,
      1e21,
      123_456_789.123_456_79,
    ],
    toString: 'x',
  }
  const point = pointAt(Number.MAX_SAFE_INTEGER, {
    stream: Number.MAX_SAFE_INTEGER,
    properties,
    startMs: -62_135_596_800_000,
    endMs: 253_402_300_799_999,
  })
  t.deepEqual(await store.insert([point]), [{ status: 'inserted' }])
  t.deepEqual(await store.get(point.id), point)
  for (const key of Object.keys(properties).filter(name => name.length < 1001))
    t.is(await store.count({ attributes: [{ key }] }, 10), 1, key)
  t.deepEqual((await store.statistics([point.stream])).get(point.stream)?.properties, Object.keys(properties).sort())
  t.is(await store.count({ attributes: [{ key: 'numbers', contains: [5e-324] }] }, 10), 1)
})

live('a large insert full of characters that need escaping is stored and read unchanged', async t => {
  const store = await openStore(t, { url: url('POSTGIS') })
  const text = '"\\'.repeat(10_000)
  const points = Array.from({ length: 300 }, (_, at) => pointAt(at + 1, { properties: { text: `${at}${text}` } }))
  t.true((await store.insert(points)).every(({ status }) => status === 'inserted'))
  t.deepEqual((await store.get(300))?.properties, points[299]?.properties)
  t.is((await Array.fromAsync(store.read({ filter: {} }))).flat().length, 300)
})

live('query values never become part of an SQL statement', async t => {
  const schema = testSchema(t, url('POSTGIS'))
  const store = await openStore(t, { url: url('POSTGIS'), schema })
  await store.insert([pointAt(1, { properties: { a: 1 } })])
  const key = `a') is not null or true; drop table ${schema}.points; --`
  t.is(await store.count({ attributes: [{ key }, { key: '$1' }, { key: 'x', contains: key }] }, 10), 0)
  t.deepEqual(
    (await Array.fromAsync(store.bins({ filter: {}, binning: { time: 'day', groupBy: [key], properties: [key, 'a'] } }))).flat().length,
    1,
  )
  const sort = { by: `id; drop table ${schema}.points` as 'start', order: 'sideways' as 'ascending' }
  t.is((await store.find({ filter: {}, limit: 1, sort })).points.length, 1)
  const { rows } = await onServer(url('POSTGIS'), client => client.query(`select count(*)::int as left from ${schema}.points`))
  t.deepEqual(rows, [{ left: 1 }])
})

live('statistics return the first thousand of many property names, also after removals', async t => {
  const store = await openStore(t, { url: url('POSTGIS') })
  const name = (at: number): string => `${at % 2 ? '\uffff' : '🍂'}${String(at).padStart(5, '0')}`
  const points = Array.from({ length: 2500 }, (_, at) => pointAt(at + 1, { properties: { [name(at)]: at } }))
  for (let at = 0; at < points.length; at += 250) await store.insert(points.slice(at, at + 250).toReversed())
  const propertiesOf = async () => (await store.statistics([1])).get(1)?.properties
  const first = (left: readonly Datapoint[]) =>
    left
      .flatMap(({ properties }) => Object.keys(properties))
      .sort((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)))
      .slice(0, 1000)
  t.deepEqual(await propertiesOf(), first(points))
  await store.remove({ ids: points.slice(0, 700).map(({ id }) => id) })
  t.deepEqual(await propertiesOf(), first(points.slice(700)))
})
