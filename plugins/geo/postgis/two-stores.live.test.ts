import test from 'ava'
import type { Datapoint, StreamStatistics } from 'pounce/sdk/geo'
import { liveTests } from 'pounce/sdk/testing'
import type { PostgisPoints } from './postgis-points.ts'
import { onServer, openStore, testSchema } from './testing.ts'

const { test: live, url } = liveTests(test, 'POSTGIS')

const start = Date.UTC(2026, 0, 5)
const pointAt = (id: number, stream: number): Datapoint => ({
  id,
  stream,
  startMs: start + id,
  endMs: null,
  createdMs: start,
  geometry: { type: 'Point', coordinates: [stream / 10, id / 1000] },
  properties: { [`p${id % 11}`]: id },
})

const shuffled = <T>(all: readonly T[]): readonly T[] =>
  all
    .map(one => [Math.random(), one] as const)
    .sort(([a], [b]) => a - b)
    .map(([, one]) => one)

/** Statistics of a stream computed from all its points. */
const lookedAt = async (store: PostgisPoints, stream: number): Promise<StreamStatistics | undefined> => {
  const all = (await Array.fromAsync(store.read({ filter: { streams: [stream] } }))).flat()
  if (all.length === 0) return undefined
  const [xs, ys] = [0, 1].map(axis => all.map(({ geometry }) => (geometry.type === 'Point' ? (geometry.coordinates[axis] ?? 0) : 0))) as [
    number[],
    number[],
  ]
  return {
    count: all.length,
    firstStartMs: Math.min(...all.map(({ startMs }) => startMs)),
    lastEndMs: null,
    properties: [...new Set(all.flatMap(({ properties }) => Object.keys(properties)))].sort(),
    box: [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)],
  }
}

live('of two stores that insert the same points concurrently, exactly one inserts each point', async t => {
  const schema = testSchema(t, url('POSTGIS'))
  const stores = await Promise.all([1, 2].map(() => openStore(t, { url: url('POSTGIS'), schema })))
  const points = Array.from({ length: 3000 }, (_, at) => pointAt(at + 1, (at % 5) + 1))
  const reports = await Promise.all(
    stores.flatMap(store =>
      [1, 2, 3].map(async () => {
        const mixed = shuffled(points)
        const report = await store.insert(mixed)
        return mixed.flatMap(({ id }, at) => (report[at]?.status === 'inserted' ? [id] : []))
      }),
    ),
  )
  t.deepEqual(
    reports.flat().sort((a, b) => a - b),
    points.map(({ id }) => id),
  )
  for (const store of stores) t.is(await store.count({}, 10_000), 3000)
})

live(
  'concurrent inserts and removals on the same streams and points cause no deadlock in the database, and statistics stay exact',
  async t => {
    const schema = testSchema(t, url('POSTGIS'))
    const stores = await Promise.all([1, 2].map(() => openStore(t, { url: url('POSTGIS'), schema })))
    const [one] = stores
    if (!one) throw new Error('no store')
    const points = Array.from({ length: 2000 }, (_, at) => pointAt(at + 1, (at % 9) + 1))
    const before = await onServer(url('POSTGIS'), client =>
      client.query('select deadlocks from pg_stat_database where datname = current_database()'),
    )
    for (let round = 0; round < 4; round++) {
      await Promise.all(
        stores.flatMap(store => [
          ...Array.from({ length: 4 }, () => store.insert(shuffled(points).slice(0, 700))),
          store.remove({ ids: shuffled(points.map(({ id }) => id)).slice(0, 300) }),
          store.remove({ streams: [(round % 9) + 1, 4] }),
          store.statistics([1, 2, 3, 4, 5, 6, 7, 8, 9]),
        ]),
      )
      const known = await one.statistics([1, 2, 3, 4, 5, 6, 7, 8, 9])
      for (let stream = 1; stream <= 9; stream++)
        t.deepEqual(known.get(stream), await lookedAt(one, stream), `round ${round}, stream ${stream}`)
      const total = [...known.values()].reduce((sum, { count }) => sum + count, 0)
      t.is(await one.count({ fromMs: start }, 1e9), total)
      t.is(await one.count({}, 1e9), total)
    }
    const after = await onServer(url('POSTGIS'), client =>
      client.query('select deadlocks from pg_stat_database where datname = current_database()'),
    )
    t.deepEqual(after.rows, before.rows)
  },
)

live('concurrent inserts into one stream count every point', async t => {
  const store = await openStore(t, { url: url('POSTGIS') })
  await Promise.all(
    Array.from({ length: 40 }, (_, batch) => store.insert(Array.from({ length: 100 }, (_, at) => pointAt(batch * 100 + at + 1, 1)))),
  )
  t.like((await store.statistics([1])).get(1), { count: 4000, firstStartMs: start + 1 })
})

live('after a removal concurrent with inserts, the statistics of the stream match its remaining points', async t => {
  const store = await openStore(t, { url: url('POSTGIS') })
  await store.insert(Array.from({ length: 5000 }, (_, at) => pointAt(at + 1, 1)))
  await Promise.all([
    store.remove({ streams: [1] }),
    ...Array.from({ length: 10 }, (_, batch) => store.insert([pointAt(10_000 + batch, 1)])),
  ])
  t.deepEqual((await store.statistics([1])).get(1), await lookedAt(store, 1))
})
