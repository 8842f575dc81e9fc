import type { Datapoint, GeoAfter, Geometry, GeoStore } from '../ports/geo-store.ts'
import { Invalid } from '../problem.ts'
import { advanced, contractTest, type TestContext, type TestRunner } from './any-runner.ts'
import { geoBinsContract } from './geo-bins-contract.ts'
import { geoFilterContract } from './geo-filter-contract.ts'
import { idsIn, pinned, pointAt } from './geo-points.ts'

/** A store under test. */
export interface GeoStoreUnderTest {
  /** Started and empty. */
  readonly store: GeoStore
  /** Stops the store as a stopping kernel does, and starts another one with the same data. */
  reopen(): Promise<GeoStore>
}

/** Returns a fresh store; may use `t.teardown`. */
export type MakeGeoStore = (t: TestContext) => Promise<GeoStoreUnderTest>

const ring = [
  [0, 0],
  [4, 0],
  [4, 4],
  [0, 4],
  [0, 0],
]
const geometries: readonly Geometry[] = [
  { type: 'Point', coordinates: [-179.123456789, 89.5, 1234.5] },
  {
    type: 'MultiPoint',
    coordinates: [
      [0, 0],
      [1, 1],
    ],
  },
  {
    type: 'LineString',
    coordinates: [
      [0, 0, 1],
      [1, 1, 2],
    ],
  },
  {
    type: 'MultiLineString',
    coordinates: [
      [
        [0, 0],
        [1, 1],
      ],
      [
        [2, 2],
        [3, 3],
      ],
    ],
  },
  {
    type: 'Polygon',
    coordinates: [
      ring,
      [
        [1, 1],
        [2, 1],
        [2, 2],
        [1, 1],
      ],
    ],
  },
  {
    type: 'MultiPolygon',
    coordinates: [
      [ring],
      [
        [
          [10, 10],
          [11, 10],
          [11, 11],
          [10, 10],
        ],
      ],
    ],
  },
  {
    type: 'GeometryCollection',
    geometries: [
      { type: 'Point', coordinates: [1, 2] },
      {
        type: 'LineString',
        coordinates: [
          [0, 0],
          [5, 5],
        ],
      },
    ],
  },
]
const odd: Datapoint['properties'] = {
  text: 'Größe 葉 🍂 "quoted" \\ \n\'; drop table datapoints; --',
  number: -12.375,
  large: 9_007_199_254_740_991,
  nothing: null,
  isOn: false,
  'a.b$c["d"]': { deep: [{ er: [] }, {}] },
  ['']: 'no name',
  ...(JSON.parse('{"__proto__": {"x": 1}, "constructor": 2}') as Datapoint['properties']),
}

/** Datapoints that a store must reject, and what the reason must mention. */
const refused: readonly (readonly [Partial<Datapoint> | Readonly<Record<string, unknown>>, RegExp])[] = [
  [{ id: 0 }, /^id /],
  [{ id: 1.5 }, /^id /],
  [{ id: 2 ** 53 }, /^id /],
  [{ stream: -1 }, /^stream /],
  [{ startMs: Number.NaN }, /^start /],
  [{ startMs: 8e15 }, /^start /],
  [{ endMs: pinned - 1 }, /^end /],
  [{ endMs: Number.POSITIVE_INFINITY }, /^end /],
  [{ createdMs: 0.5 }, /^created /],
  [{ geometry: null }, /^geometry /],
  [{ geometry: { type: 'Circle', coordinates: [0, 0] } }, /^geometry /],
  [{ geometry: { type: '__proto__', coordinates: [0, 0] } }, /^geometry /],
  [{ geometry: { type: 'Point', coordinates: [0] } }, /^geometry /],
  [{ geometry: { type: 'Point', coordinates: ['0', '0'] } }, /^geometry /],
  [{ geometry: { type: 'Point', coordinates: [181, 0] } }, /^geometry /],
  [{ geometry: { type: 'Point', coordinates: [0, -90.1] } }, /^geometry /],
  [{ geometry: { type: 'Point', coordinates: [0, Number.NaN] } }, /^geometry /],
  [{ geometry: { type: 'Point', coordinates: [0, 0, 0, 0] } }, /^geometry /],
  [{ geometry: { type: 'LineString', coordinates: [[0, 0]] } }, /^geometry /],
  [
    {
      geometry: {
        type: 'LineString',
        coordinates: [
          [0, 0],
          [1, 1, 1],
        ],
      },
    },
    /^geometry /,
  ],
  [{ geometry: { type: 'Polygon', coordinates: [] } }, /^geometry /],
  [
    {
      geometry: {
        type: 'Polygon',
        coordinates: [
          [
            [0, 0],
            [1, 0],
            [1, 1],
            [0, 1],
          ],
        ],
      },
    },
    /^geometry /,
  ],
  [{ geometry: { type: 'MultiPoint', coordinates: Array.from({ length: 10_001 }, () => [0, 0]) } }, /^geometry /],
  [{ geometry: { type: 'GeometryCollection', geometries: [] } }, /^geometry /],
  [{ properties: [1] }, /^properties /],
  [{ properties: { a: Number.NaN } }, /^properties /],
  [{ properties: { a: { b: ['\u0000'] } } }, /^properties /],
  [{ properties: { '\ud800': 1 } }, /^properties /],
  [{ properties: { a: 'x'.repeat(70_000) } }, /^properties /],
  [{ properties: { a: Array.from({ length: 100 }).reduce<unknown>(inner => [inner], 1) } }, /^properties /],
]

/** Random inserts, removals and queries, compared with the in-memory store; needs `fast-check`. The seed is logged; `POUNCE_SEED` repeats a run. */
export function geoStoreModel(runner: TestRunner, make: MakeGeoStore, { runs }: { readonly runs: number }): void {
  const test = contractTest(runner)
  test(`${runs} random runs of points and queries agree with a store in memory`, async t => {
    const { runGeoStoreModel } = await import('./geo-store-model.ts')
    await runGeoStoreModel(t, make, runs)
  })
}

/** The contract of GeoStore. Run it in a test file of the implementation. */
export function geoStoreContract(runner: TestRunner, make: MakeGeoStore): void {
  const test = contractTest(runner)
  const open = async (t: TestContext): Promise<GeoStore> => (await make(t)).store

  test('points are returned unchanged, with any geometry and properties', async t => {
    const store = await open(t)
    const points = geometries.map((geometry, at) => pointAt(at + 1, { geometry, endMs: at % 2 ? null : pinned + at, properties: odd }))
    t.deepEqual(
      await store.insert(points),
      points.map(() => ({ status: 'inserted' as const })),
    )
    for (const point of points) t.deepEqual(await store.get(point.id), point)
    const pieces = await Array.fromAsync(store.read({ filter: {} }))
    t.deepEqual(pieces.flat(), points)
    t.is(await store.get(99), undefined)
    t.true(store.engine.length > 0)
  })

  test('inserting again is no error, and the first point of an id is kept', async t => {
    const store = await open(t)
    const statuses = async (points: readonly Datapoint[]) => (await store.insert(points)).map(({ status }) => status)
    t.deepEqual(await statuses([pointAt(1), pointAt(2), pointAt(1, { stream: 9 })]), ['inserted', 'inserted', 'present'])
    t.deepEqual(await statuses([pointAt(2, { stream: 9 }), pointAt(3)]), ['present', 'inserted'])
    t.is((await store.get(1))?.stream, 1)
    t.is((await store.get(2))?.stream, 1)
    t.deepEqual(await statuses([]), [])
    t.is(await store.count({}, 100), 3)
  })

  test('of many concurrent inserts of one point one succeeds', async t => {
    const store = await open(t)
    const all = await Promise.all(Array.from({ length: 20 }, (_, at) => store.insert([pointAt(1, { stream: at + 1 }), pointAt(100 + at)])))
    t.is(all.filter(([first]) => first?.status === 'inserted').length, 1)
    t.true(all.every(([, second]) => second?.status === 'inserted'))
    t.is((await store.get(1))?.stream, all.findIndex(([first]) => first?.status === 'inserted') + 1)
    t.is(await store.count({}, 100), 21)
  })

  test('a rejected point has a reason and does not affect the others', async t => {
    const store = await open(t)
    const wrong = refused.map(([changes], at) => ({ ...pointAt(1000 + at), ...changes }) as Datapoint)
    const report = await store.insert([pointAt(1), ...wrong, pointAt(2)])
    t.is(report.length, wrong.length + 2)
    t.deepEqual([report[0], report.at(-1)], [{ status: 'inserted' }, { status: 'inserted' }])
    for (const [at, [, reason]] of refused.entries()) {
      const item = report[at + 1]
      t.is(item?.status, 'refused', `${at}`)
      if (item?.status === 'refused') t.regex(item.reason, reason)
    }
    t.deepEqual(await idsIn(store), [1, 2])
  })

  test('five thousand points are inserted in one call, one more is refused completely', async t => {
    const store = await open(t)
    const points = Array.from({ length: 5001 }, (_, at) => pointAt(at + 1, { startMs: pinned - at, stream: (at % 7) + 1 }))
    await t.throwsAsync(store.insert(points), { instanceOf: Invalid })
    t.is(await store.count({}, 10_000), 0)
    t.true((await store.insert(points.slice(1))).every(({ status }) => status === 'inserted'))
    const pieces = await Array.fromAsync(store.read({ filter: {} }))
    t.true(pieces.every(piece => piece.length > 0 && piece.length <= 2000))
    t.deepEqual(
      pieces.flat().map(({ id }) => id),
      points
        .slice(1)
        .map(({ id }) => id)
        .reverse(),
    )
    t.deepEqual([await store.count({}, 10_000), await store.count({}, 17)], [5000, 17])
  })

  test('an iteration can be ended early, and two can run concurrently', async t => {
    const store = await open(t)
    await store.insert(Array.from({ length: 4500 }, (_, at) => pointAt(at + 1)))
    for await (const piece of store.read({ filter: {} })) {
      t.is(piece[0]?.id, 1)
      break
    }
    const [one, other] = await Promise.all([idsIn(store), idsIn(store)])
    t.deepEqual(one, other)
    t.is(new Set(one).size, 4500)
    t.deepEqual(await Array.fromAsync(store.read({ filter: { streams: [5] } })), [])
  })

  test('a reader sees no point twice during inserts and removals', async t => {
    const store = await open(t)
    await store.insert(Array.from({ length: 4500 }, (_, at) => pointAt(at + 1, { stream: at < 4000 ? 1 : 2 })))
    const seen: number[] = []
    for await (const piece of store.read({ filter: {} })) {
      if (seen.length === 0) {
        await store.remove({ streams: [2] })
        await store.insert([pointAt(9000), pointAt(9001, { startMs: pinned - 1 })])
      }
      seen.push(...piece.map(({ id }) => id))
    }
    t.is(new Set(seen).size, seen.length)
    t.deepEqual(
      seen.filter(id => id <= 4000),
      Array.from({ length: 4000 }, (_, at) => at + 1),
    )
  })

  test('points are paged by start or by stream, then by id, in either direction', async t => {
    const store = await open(t)
    const starts = [3, 1, 2, 1, 3, 1, 2]
    await store.insert(starts.map((start, at) => pointAt(at + 1, { startMs: start, endMs: null, stream: (at % 2) + 1 })).reverse())
    const expected = { start: [2, 4, 6, 3, 7, 1, 5], stream: [3, 7, 1, 5, 2, 4, 6] }
    for (const by of ['start', 'stream'] as const)
      for (const order of ['ascending', 'descending'] as const)
        for (const limit of [1, 2, 3, 7, 8]) {
          const ids: number[] = []
          let after: GeoAfter | undefined
          do {
            const page = await store.find({ filter: {}, sort: { by, order }, limit, ...(after ? { after } : {}) })
            t.true(page.points.length <= limit)
            ids.push(...page.points.map(({ id }) => id))
            after = advanced(t, page.next, after)
          } while (after)
          t.deepEqual(ids, order === 'ascending' ? expected[by] : expected[by].toReversed(), `${by} ${order} ${limit}`)
        }
    for (const by of ['start', 'stream'] as const)
      for (const order of ['ascending', 'descending'] as const) {
        const read = (await Array.fromAsync(store.read({ filter: {}, sort: { by, order } }))).flat().map(({ id }) => id)
        t.deepEqual(read, order === 'ascending' ? expected[by] : expected[by].toReversed(), `read by ${by} ${order}`)
      }
    t.deepEqual(await idsIn(store), expected.start)
  })

  test('a page continues after a point that was removed', async t => {
    const store = await open(t)
    await store.insert([1, 2, 3, 4].map(id => pointAt(id, { startMs: id, endMs: null })))
    const { next } = await store.find({ filter: {}, limit: 2 })
    await store.remove({ ids: [2] })
    const rest = await store.find({ filter: {}, limit: 2, ...(next ? { after: next } : {}) })
    t.deepEqual(
      rest.points.map(({ id }) => id),
      [3, 4],
    )
  })

  test('statistics contain count, times, property names and bounding box of each stream that has points', async t => {
    const store = await open(t)
    await store.insert([
      pointAt(1, { startMs: 500, endMs: null, properties: { b: 1, a: null } }),
      pointAt(2, { startMs: 100, endMs: 900, properties: { c: { d: 1 } }, geometry: { type: 'Point', coordinates: [-20, 60, 5] } }),
      pointAt(3, { startMs: 200, endMs: 300, properties: { b: 'x', '🍂': 1, '\uffff': 1 } }),
      pointAt(4, { stream: 2, startMs: -5, endMs: null, geometry: { type: 'Polygon', coordinates: [ring] } }),
    ])
    t.deepEqual(
      await store.statistics([1, 2, 3]),
      new Map([
        [1, { count: 3, firstStartMs: 100, lastEndMs: 900, properties: ['a', 'b', 'c', '\uffff', '🍂'], box: [-20, 50, 10, 60] as const }],
        [2, { count: 1, firstStartMs: -5, lastEndMs: null, properties: [], box: [0, 0, 4, 4] as const }],
      ]),
    )
    t.is((await store.statistics([])).size, 0)
  })

  test('the highest numbers are those of stored datapoints', async t => {
    const store = await open(t)
    t.deepEqual(await store.highest(), { id: 0, stream: 0 })
    await store.insert([pointAt(70, { stream: 3 }), pointAt(5, { stream: 2 ** 40 }), pointAt(2 ** 41), pointAt(8)])
    t.deepEqual(await store.highest(), { id: 2 ** 41, stream: 2 ** 40 })
    await store.remove({ ids: [2 ** 41] })
    await store.remove({ streams: [2 ** 40] })
    t.deepEqual(await store.highest(), { id: 70, stream: 3 })
  })

  test('a removal deletes whole streams or single points, returns their number, and keeps the rest', async t => {
    const store = await open(t)
    await store.insert(Array.from({ length: 4200 }, (_, at) => pointAt(at + 1, { stream: at < 4100 ? 1 : 2 + (at % 2) })))
    t.is(await store.remove({ streams: [1, 99] }), 4100)
    t.is(await store.remove({ streams: [1] }), 0)
    t.is(await store.remove({ ids: [4101, 4101, 1] }), 1)
    t.is(await store.remove({ ids: [] }), 0)
    t.is(await store.count({}, 1000), 99)
    await store.insert(Array.from({ length: 1000 }, (_, at) => pointAt(at + 5001, { stream: 3 })))
    t.is(await store.remove({ ids: Array.from({ length: 1000 }, (_, at) => at + 5001) }), 1000)
    t.is(await store.count({}, 1000), 99)
    t.deepEqual([await store.get(1), await store.get(4101)], [undefined, undefined])
    t.false((await store.statistics([1])).has(1))
    t.deepEqual(await store.insert([pointAt(1)]), [{ status: 'inserted' }])
  })

  test('acknowledged changes persist after the store is reopened', async t => {
    const { store, reopen } = await make(t)
    await store.insert([pointAt(1, { properties: odd }), pointAt(2), pointAt(3)])
    await store.remove({ ids: [2] })
    const again = await reopen()
    t.deepEqual(await again.get(1), pointAt(1, { properties: odd }))
    t.deepEqual(await idsIn(again), [1, 3])
    t.deepEqual(await again.insert([pointAt(3)]), [{ status: 'present' }])
  })

  geoFilterContract(test, open)
  geoBinsContract(test, open)
}
