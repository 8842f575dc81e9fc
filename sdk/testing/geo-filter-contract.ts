import type { Datapoint, GeoArea, GeoAttribute, GeoFilter, Geometry, GeoStore } from '../ports/geo-store.ts'
import { Invalid } from '../problem.ts'
import type { ContractTest, TestContext } from './any-runner.ts'
import { idsIn, pinned, pointAt } from './geo-points.ts'

type Open = (t: TestContext) => Promise<GeoStore>

const day = 86_400_000
const square = (west: number, south: number, size: number) => [
  [west, south],
  [west + size, south],
  [west + size, south + size],
  [west, south + size],
  [west, south],
]
const triangle = (...corners: readonly (readonly [number, number])[]) => [...corners, ...corners.slice(0, 1)]
const place = (longitude: number, latitude: number): Geometry => ({ type: 'Point', coordinates: [longitude, latitude] })

/** Geometries by datapoint id. */
const places: readonly Geometry[] = [
  place(10, 50),
  place(0, 0),
  place(10, 10),
  place(5, 5),
  place(179.5, -17),
  place(-179.5, -17),
  {
    type: 'LineString',
    coordinates: [
      [-5, 5],
      [15, 5],
    ],
  },
  { type: 'Polygon', coordinates: [square(-50, -50, 20), square(-45, -45, 10)] },
  place(0, 89.9),
  {
    type: 'LineString',
    coordinates: [
      [20, 60],
      [24, 62],
    ],
  },
  place(180, 40),
  place(-180, 40),
]

const areas: readonly (readonly [string, readonly GeoArea[], readonly number[]])[] = [
  ['a box contains points in it and on its border', [{ box: [0, 0, 10, 10] }], [2, 3, 4, 7]],
  ['a box of one position contains that position', [{ box: [10, 50, 10, 50] }], [1]],
  ['a box across the antimeridian', [{ box: [179, -18, -179, -16] }], [5, 6]],
  ['the box of the whole Earth', [{ box: [-180, -90, 180, 90] }], [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]],
  ['a box that ends at 180 degrees reaches -180', [{ box: [179, 39, 180, 41] }], [11, 12]],
  ['a box that begins at -180 degrees reaches 180', [{ box: [-180, 39, -179, 41] }], [11, 12]],
  ['a polygon that ends at 180 degrees reaches -180', [{ polygon: [square(178, 39, 2)] }], [11, 12]],
  ['a polygon that begins at -180 degrees reaches 180', [{ polygon: [square(-180, 39, 2)] }], [11, 12]],
  ['a polygon with a corner at 180 degrees reaches -180', [{ polygon: [triangle([179, 39], [180, 40], [179, 41])] }], [11, 12]],
  ['a polygon that ends at 180 degrees elsewhere', [{ polygon: [square(175, 41, 5)] }], []],
  ['a circle around 180 degrees contains -180', [{ circle: { longitude: 180, latitude: 40, radiusMetres: 1000 } }], [11, 12]],
  ['a circle around -180 degrees contains 180', [{ circle: { longitude: -180, latitude: 40, radiusMetres: 1000 } }], [11, 12]],
  ['a circle without a radius at -180 degrees contains 180', [{ circle: { longitude: -180, latitude: 40, radiusMetres: 0 } }], [11, 12]],
  ['a polygon matches a line that crosses it', [{ polygon: [square(1, 4, 2)] }], [7]],
  ['a polygon with a hole', [{ polygon: [square(0, 0, 10), square(4, 4, 2)] }], [2, 3, 7]],
  [
    'a polygon that is not a box',
    [
      {
        polygon: [
          [
            [0, 0],
            [10, 0],
            [0, 10],
            [0, 0],
          ],
        ],
      },
    ],
    [2, 4, 7],
  ],
  ['an area inside an area', [{ box: [-49, -49, -48, -48] }], [8]],
  ['an area inside the hole of an area', [{ box: [-42, -42, -40, -40] }], []],
  ['an area around an area', [{ box: [-60, -60, -20, -20] }], [8]],
  ['a circle, measured on the sphere', [{ circle: { longitude: 10, latitude: 51, radiusMetres: 112_500 } }], [1]],
  ['a circle that is just too small', [{ circle: { longitude: 10, latitude: 51, radiusMetres: 110_000 } }], []],
  ['a circle near the pole reaches around it', [{ circle: { longitude: 180, latitude: 89.9, radiusMetres: 25_000 } }], [9]],
  ['a circle across the antimeridian', [{ circle: { longitude: 180, latitude: -17, radiusMetres: 60_000 } }], [5, 6]],
  ['a circle beside a line and inside an area', [{ circle: { longitude: -3, latitude: 5.5, radiusMetres: 60_000 } }], [7]],
  ['a circle beside a slanting line in the north', [{ circle: { longitude: 20, latitude: 62, radiusMetres: 165_000 } }], [10]],
  ['a circle too far from it', [{ circle: { longitude: 20, latitude: 62, radiusMetres: 145_000 } }], []],
  ['any of several areas', [{ box: [9, 49, 11, 51] }, { circle: { longitude: 5, latitude: 5, radiusMetres: 10 } }], [1, 4, 7]],
]

const properties: readonly Datapoint['properties'][] = [
  { site: 'A1', depth: 5 },
  { site: 'A2', depth: null },
  { site: { name: 'A1', tags: ['x', { y: 1 }] } },
  { "o'clock": true, '$."a".b': 1, site: ['A1', ['A2']] },
  JSON.parse('{"__proto__": 1}') as Datapoint['properties'],
]

const attributes: readonly (readonly [GeoAttribute, readonly number[]])[] = [
  [{ key: 'site' }, [1, 2, 3, 4]],
  [{ key: 'depth' }, [1, 2]],
  [{ key: 'depth', contains: null }, [2]],
  [{ key: 'depth', contains: 5 }, [1]],
  [{ key: 'depth', contains: '5' }, []],
  [{ key: 'site', contains: 'A1' }, [1]],
  [{ key: 'site', contains: { name: 'A1' } }, [3]],
  [{ key: 'site', contains: { tags: [{ y: 1 }] } }, [3]],
  [{ key: 'site', contains: { tags: ['x', 'z'] } }, []],
  [{ key: 'site', contains: {} }, [3]],
  [{ key: 'site', contains: ['A1'] }, [4]],
  [{ key: 'site', contains: [['A2'], 'A1', 'A1'] }, [4]],
  [{ key: 'site', contains: [] }, [4]],
  [{ key: "o'clock" }, [4]],
  [{ key: '$."a".b', contains: 1 }, [4]],
  [{ key: '__proto__' }, [5]],
  [{ key: 'constructor' }, []],
  [{ key: 'Site' }, []],
  [{ key: '%' }, []],
  [{ key: '' }, []],
]

const wrong: readonly (readonly [string, GeoFilter])[] = [
  ['a stream that is not an integer', { streams: [1.5] }],
  ['too many streams', { streams: Array.from({ length: 10_001 }, (_, at) => at + 1) }],
  ['no area', { areas: [] }],
  ['a box with south above north', { areas: [{ box: [0, 10, 10, 0] }] }],
  ['a box beyond the Earth', { areas: [{ box: [0, 0, 181, 10] }] }],
  ['a box of NaN', { areas: [{ box: [0, 0, Number.NaN, 10] }] }],
  ['a polygon that is open', { areas: [{ polygon: [square(0, 0, 1).slice(1)] }] }],
  [
    'a polygon across the antimeridian',
    {
      areas: [
        {
          polygon: [
            [
              [179, 9],
              [-179, 9],
              [-179, 11],
              [179, 11],
              [179, 9],
            ],
          ],
        },
      ],
    },
  ],
  ['a polygon beyond the Earth', { areas: [{ polygon: [square(179, 9, 2)] }] }],
  ['a polygon without a ring', { areas: [{ polygon: [] }] }],
  ['a polygon of too many places', { areas: [{ polygon: [[...Array.from({ length: 1000 }, () => [0, 0]), [0, 0]]] }] }],
  ['a circle with a negative radius', { areas: [{ circle: { longitude: 0, latitude: 0, radiusMetres: -1 } }] }],
  ['a circle of NaN', { areas: [{ circle: { longitude: 0, latitude: 0, radiusMetres: Number.NaN } }] }],
  ['a time of NaN', { fromMs: Number.NaN }],
  ['an infinite time', { beforeMs: Number.POSITIVE_INFINITY }],
  ['a time out of range', { untilMs: 9e15 }],
  ['a thirteenth month', { months: { from: 1, to: 13 } }],
  ['no attribute', { attributes: [] }],
  ['an attribute with a null character', { attributes: [{ key: 'a\u0000' }] }],
  ['a value that JSON cannot represent', { attributes: [{ key: 'a', contains: Number.NaN }] }],
]

/** The contract of GeoStore filters. */
export function geoFilterContract(test: ContractTest, open: Open): void {
  test('a filter by streams selects their points, and an empty list none', async t => {
    const store = await open(t)
    await store.insert([1, 2, 3, 4].map(id => pointAt(id, { stream: (id % 3) + 1 })))
    t.deepEqual(await idsIn(store, { streams: [2] }), [1, 4])
    t.deepEqual(await idsIn(store, { streams: [3, 1, 3, 77] }), [2, 3])
    t.deepEqual(await idsIn(store, { streams: [] }), [])
    t.deepEqual(await idsIn(store, { streams: Array.from({ length: 10_000 }, (_, at) => at + 2) }), [1, 2, 4])
    t.is(await store.count({ streams: [] }, 10), 0)
  })

  test('a time span contains points that start and end in it, bounds included', async t => {
    const store = await open(t)
    const spans: readonly (readonly [number, number | null])[] = [
      [0, 10],
      [10, 20],
      [10, null],
      [20, 20],
      [-5, 30],
    ]
    await store.insert(spans.map(([from, to], at) => pointAt(at + 1, { startMs: pinned + from, endMs: to === null ? null : pinned + to })))
    t.deepEqual(await idsIn(store, { fromMs: pinned + 10 }), [2, 3, 4])
    t.deepEqual(await idsIn(store, { fromMs: pinned + 11 }), [4])
    t.deepEqual(await idsIn(store, { untilMs: pinned + 20 }), [1, 2, 4])
    t.deepEqual(await idsIn(store, { untilMs: pinned + 19 }), [1])
    t.deepEqual(await idsIn(store, { fromMs: pinned + 10, untilMs: pinned + 20 }), [2, 4])
    t.deepEqual(await idsIn(store, { beforeMs: pinned + 10 }), [5, 1])
    t.deepEqual(await idsIn(store, { beforeMs: pinned + 11, fromMs: pinned + 10 }), [2, 3])
    t.deepEqual(await idsIn(store, { beforeMs: pinned + 20, fromMs: pinned, untilMs: pinned + 20 }), [1, 2])
    t.deepEqual(await idsIn(store, { beforeMs: pinned, fromMs: pinned }), [])
    t.deepEqual(await idsIn(store, { fromMs: pinned + 21 }), [])
    t.deepEqual(await idsIn(store, { fromMs: pinned + 20, untilMs: pinned }), [])
  })

  test('months of any year match points that overlap them, also across the new year', async t => {
    const store = await open(t)
    const date = (year: number, month: number, dayOfMonth: number): number => Date.UTC(year, month - 1, dayOfMonth)
    const spans: readonly (readonly [number, number | null])[] = [
      [date(2024, 6, 30) + day - 1, null],
      [date(2024, 7, 1), null],
      [date(1969, 5, 1), date(1969, 8, 1)],
      [date(2023, 11, 5), date(2024, 2, 1)],
      [date(2020, 4, 1), date(2024, 5, 1)],
    ]
    await store.insert(spans.map(([startMs, endMs], at) => pointAt(at + 1, { startMs, endMs })))
    const ids = async (from: number, to: number) => (await idsIn(store, { months: { from, to } })).toSorted()
    t.deepEqual(await ids(1, 6), [1, 3, 4, 5])
    t.deepEqual(await ids(7, 12), [2, 3, 4, 5])
    t.deepEqual(await ids(12, 1), [4, 5])
    t.deepEqual(await ids(6, 6), [1, 3, 5])
    t.deepEqual(await ids(1, 12), [1, 2, 3, 4, 5])
  })

  test('areas match points that touch them', async t => {
    const store = await open(t)
    await store.insert(places.map((geometry, at) => pointAt(at + 1, { geometry, stream: at + 1 })))
    for (const [name, of, ids] of areas) t.deepEqual(await idsIn(store, { areas: of }), ids, name)
  })

  test('a circle matches lines around the Earth, and one with radius 0 is a point', async t => {
    const store = await open(t)
    const geometries: readonly Geometry[] = [
      {
        type: 'LineString',
        coordinates: [
          [8.5, -53.4973],
          [180, 85],
        ],
      },
      {
        type: 'LineString',
        coordinates: [
          [90, 40.03],
          [-10, 40.03],
        ],
      },
      { type: 'Point', coordinates: [9, -90] },
    ]
    await store.insert(geometries.map((geometry, at) => pointAt(at + 1, { geometry, stream: at + 1 })))
    const inCircle = (longitude: number, latitude: number, radiusMetres: number) =>
      idsIn(store, { areas: [{ circle: { longitude, latitude, radiusMetres } }] })
    t.deepEqual(await inCircle(-145.009, -8.0485, 10_000_000), [1, 3])
    t.deepEqual(await inCircle(26.4778, 40.03, 0), [2])
    t.deepEqual(await inCircle(26.4778, 40.0301, 0), [])
    t.deepEqual(await inCircle(179, -90, 0), [3])
  })

  test('an area also matches moving points of one stream', async t => {
    const store = await open(t)
    await store.insert(
      Array.from({ length: 400 }, (_, at) => pointAt(at + 1, { geometry: place(at / 10, at / 20), startMs: pinned + at, endMs: null })),
    )
    t.deepEqual(await idsIn(store, { areas: [{ box: [10, 0, 10.4, 90] }] }), [101, 102, 103, 104, 105])
    t.is(await store.count({ areas: [{ box: [-1, -1, 40, 40] }], fromMs: pinned + 390 }, 100), 10)
  })

  test('attributes are compared literally, never interpreted', async t => {
    const store = await open(t)
    await store.insert(properties.map((each, at) => pointAt(at + 1, { properties: each })))
    for (const [attribute, ids] of attributes) t.deepEqual(await idsIn(store, { attributes: [attribute] }), ids, JSON.stringify(attribute))
    t.deepEqual(await idsIn(store, { attributes: [{ key: 'depth' }, { key: '__proto__' }] }), [1, 2, 5])
  })

  test('all conditions of a filter must hold, in pages and in counts', async t => {
    const store = await open(t)
    const points = Array.from({ length: 200 }, (_, at) =>
      pointAt(at + 1, {
        stream: (at % 5) + 1,
        startMs: pinned + at,
        endMs: pinned + at,
        geometry: place(at % 2 ? 10 : 20, 50),
        properties: at % 3 ? {} : { mark: at },
      }),
    )
    await store.insert(points)
    const filter: GeoFilter = {
      streams: [1, 2],
      areas: [{ box: [9, 49, 11, 51] }],
      fromMs: pinned + 20,
      untilMs: pinned + 150,
      months: { from: 1, to: 1 },
      attributes: [{ key: 'mark' }],
    }
    // Odd multiples of 3 that are 0 or 1 more than a multiple of 5.
    const expected = [21, 45, 51, 75, 81, 105, 111, 135, 141].map(at => at + 1)
    t.deepEqual(await idsIn(store, filter), expected)
    const { points: found, next } = await store.find({ filter, limit: 4, sort: { by: 'start', order: 'descending' } })
    t.deepEqual(
      found.map(({ id }) => id),
      expected.toReversed().slice(0, 4),
    )
    t.truthy(next)
    t.is(await store.count(filter, 1000), 9)
    t.is(await store.count({ ...filter, months: { from: 2, to: 12 } }, 1000), 0)
    const counted = async (changes: GeoFilter): Promise<number> => {
      const bins = store.bins({ filter: { ...filter, ...changes }, binning: { time: 'all', properties: ['mark'] } })
      return (await Array.fromAsync(bins)).flat().reduce((sum, { count }) => sum + count, 0)
    }
    t.is(await counted({}), 9, 'bins')
    t.is(await counted({ areas: [{ box: [19, 49, 21, 51] }] }), 9, 'bins of another area')
    for (const changes of [
      { streams: [99] },
      { areas: [{ box: [30, 49, 31, 51] }] },
      { fromMs: pinned + 142 },
      { untilMs: pinned + 20 },
      { months: { from: 2, to: 12 } },
      { attributes: [{ key: 'absent' }] },
    ] as const)
      t.is(await counted(changes), 0, `bins with ${JSON.stringify(changes)}`)
  })

  test('an invalid filter is refused by every read', async t => {
    const store = await open(t)
    const binning = { time: 'day' } as const
    for (const [name, filter] of wrong) {
      await t.throwsAsync(store.find({ filter, limit: 1 }), { instanceOf: Invalid }, name)
      await t.throwsAsync(store.count(filter, 1), { instanceOf: Invalid }, name)
      await t.throwsAsync(Array.fromAsync(store.read({ filter })), { instanceOf: Invalid }, name)
      await t.throwsAsync(Array.fromAsync(store.bins({ filter, binning })), { instanceOf: Invalid }, name)
    }
    for (const limit of [0, 1001, 1.5, Number.NaN]) await t.throwsAsync(store.find({ filter: {}, limit }), { instanceOf: Invalid })
    for (const upTo of [0, -1, 1e10, Number.NaN]) await t.throwsAsync(store.count({}, upTo), { instanceOf: Invalid })
    const many = Array.from({ length: 1001 }, (_, at) => at + 1)
    await t.throwsAsync(store.statistics(many), { instanceOf: Invalid })
    await t.throwsAsync(store.remove({ streams: many }), { instanceOf: Invalid })
    await t.throwsAsync(store.remove({ ids: [Number.NaN] }), { instanceOf: Invalid })
  })
}
