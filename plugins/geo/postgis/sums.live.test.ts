import test from 'ava'
import type { GeoStore, Json } from 'pounce/sdk'
import type { Datapoint, GeoBin, GeoBinning, GeoFilter } from 'pounce/sdk/geo'
import { liveTests, MemoryGeoStore } from 'pounce/sdk/testing'
import { onServer, openStore, testSchema } from './testing.ts'

const { test: live, url } = liveTests(test, 'POSTGIS')

const start = Date.UTC(2026, 0, 5)
const hourMs = 3_600_000
const pointAt = (id: number, stream: number, properties: Readonly<Record<string, Json>>, hours = 0): Datapoint => ({
  id,
  stream,
  startMs: start + id * hourMs,
  endMs: start + (id + hours) * hourMs,
  createdMs: start,
  geometry: { type: 'Point', coordinates: [stream / 10, 1, id % 7] },
  properties,
})

const sumsIn = async (store: GeoStore, filter: GeoFilter, binning: GeoBinning): Promise<readonly GeoBin[]> =>
  (await Array.fromAsync(store.bins({ filter, binning }))).flat()

/** Queries that the server executes in different ways. */
const binnings: readonly GeoBinning[] = [
  { time: 'day' },
  { time: 'all' },
  { time: 'season', depthMetres: 2 },
  { time: 'hour', properties: ['a', 'b', 'absent'] },
  { time: 'all', properties: ['b'], groupBy: ['site', 'a'] },
  { time: 'day', properties: Array.from({ length: 40 }, (_, n) => `n${n}`) },
]

const compare = async (
  t: { deepEqual(one: unknown, other: unknown, message: string): unknown },
  store: GeoStore,
  points: readonly Datapoint[],
) => {
  const memory = new MemoryGeoStore()
  await memory.insert(points)
  for (const filter of [{}, { streams: [1] }, { streams: [2, 3] }, { streams: [9] }])
    for (const binning of binnings)
      t.deepEqual(await sumsIn(store, filter, binning), await sumsIn(memory, filter, binning), JSON.stringify({ filter, binning }))
}

live('sums are the same with few and with many property names', async t => {
  const store = await openStore(t, { url: url('POSTGIS') })
  const few = Array.from({ length: 30 }, (_, n) => pointAt(n + 1, (n % 3) + 1, { a: n, b: n / 4, site: `s${n % 2}` }, n % 5))
  await store.insert(few)
  await compare(t, store, few)
  const many = Array.from({ length: 60 }, (_, n) => pointAt(n + 100, 2, { [`n${n}`]: n, [`n${n % 7}`]: n / 2, a: 3 - n }, n % 50))
  await store.insert(many)
  await compare(t, store, [...few, ...many])
})

live('a property with only numeric values may later get other values, one by one or in a single insert', async t => {
  const store = await openStore(t, { url: url('POSTGIS') })
  const odd: readonly Json[] = ['5', null, true, { a: 1 }, [1], '', 'NaN']
  const points = Array.from({ length: 20 }, (_, n) => pointAt(n + 1, (n % 2) + 1, { a: n, b: n }))
  await store.insert(points)
  await compare(t, store, points)
  for (const [at, value] of odd.entries()) {
    const more = pointAt(100 + at, at % 2 === 0 ? 1 : 3, { a: value, b: at })
    points.push(more, pointAt(200 + at, 3, { a: at }))
    await store.insert(points.slice(-2))
    await compare(t, store, points)
  }
  // All of them in one insert, together with points that have only numbers.
  const other = await openStore(t, { url: url('POSTGIS') })
  await other.insert(points)
  await compare(t, other, points)
})

live('streams without value statistics are summed correctly', async t => {
  const schema = testSchema(t, url('POSTGIS'))
  const store = await openStore(t, { url: url('POSTGIS'), schema })
  const points = [pointAt(1, 1, { a: 1, b: 'x' }), pointAt(2, 2, { a: 2 })]
  await store.insert(points)
  await onServer(url('POSTGIS'), client => client.query(`update "${schema}".streams set others = null`))
  await compare(t, store, points)
  points.push(pointAt(3, 1, { a: 'x' }), pointAt(4, 2, { a: 3, b: 1 }), pointAt(5, 3, { a: 3, b: 1 }))
  await store.insert(points)
  await compare(t, store, points)
})

live('sums are correct with more non-numeric names than the statistics keep', async t => {
  const store = await openStore(t, { url: url('POSTGIS') })
  const points = Array.from({ length: 4 }, (_, n) =>
    pointAt(n + 1, 1, Object.fromEntries(Array.from({ length: 400 }, (_, at) => [`z${n * 400 + at}`, 'text']))),
  )
  points.push(pointAt(5, 1, { a: 1, b: 2, z3: 4 }), pointAt(6, 1, { z2000: 'x', a: 'x', b: 3 }), pointAt(7, 1, { z2000: 5 }))
  for (const point of points) await store.insert([point])
  await compare(t, store, points)
  t.like((await sumsIn(store, {}, { time: 'all', properties: ['z3'] }))[0], { count: 1, sum: 4 })
  t.like((await sumsIn(store, {}, { time: 'all', properties: ['z2000'] }))[0], { count: 1, sum: 5 })
})
