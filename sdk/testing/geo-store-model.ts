import assert from 'node:assert/strict'
import fc from 'fast-check'
import { intersects } from '../geo/index.ts'
import { MemoryGeoStore } from '../geo/memory-geo-store.ts'
import type { Datapoint, GeoAfter, GeoArea, GeoAttribute, GeoBinning, GeoFilter, Geometry, GeoSort, GeoStore } from '../ports/geo-store.ts'
import { Invalid } from '../problem.ts'
import type { TestContext } from './any-runner.ts'
import type { MakeGeoStore } from './geo-store-contract.ts'

const day = 86_400_000
const streams = [1, 2, 3, 5, 8, 9_007_199_254_740_991] as const
const names = ['v', 'w', 'code', 'deep', 'ä', '', '__proto__'] as const
const at = (text: string): number => Date.parse(text)

const moments = [
  '0001-01-01T00:00:00Z',
  '1583-03-20T23:59:59.999Z',
  '1969-12-31T23:59:59.999Z',
  '1970-01-01T00:00:00Z',
  '2016-02-29T12:00:00Z',
  '2016-12-21T00:00:00Z',
  '2017-01-01T00:00:00Z',
  '2017-03-21T00:00:00Z',
  '2017-06-30T23:59:59.999Z',
  '2017-07-01T00:00:00Z',
  '2017-12-31T23:59:59Z',
  '9998-11-30T00:00:00Z',
].map(at)

const moment = fc
  .tuple(fc.constantFrom(...moments), fc.constantFrom(0, 1, 59_999, 60_000, day, 45 * day))
  .map(([from, more]) => from + more)
const length = fc.constantFrom<number | null>(null, 0, 1, 60_000, day - 1, day, 31 * day, 400 * day)

/** Multiples of half a degree, so that positions on a border are exactly on it with any arithmetic. */
const half = (most: number) => fc.integer({ min: -2 * most, max: 2 * most }).map(halves => halves / 2)
const place = fc.oneof(
  { weight: 6, arbitrary: fc.tuple(half(4), half(4)) },
  { weight: 1, arbitrary: fc.tuple(fc.constantFrom(-180, -179.5, 179, 180), half(4)) },
  { weight: 1, arbitrary: fc.tuple(half(180), fc.constantFrom(-90, -89.5, 89.5, 90)) },
)
const near = fc.tuple(half(4), half(4))
const square = fc
  .tuple(near, fc.integer({ min: 1, max: 6 }))
  .map(([[x, y], size]) => [
    [x, y] as const,
    [x + size, y] as const,
    [x + size, y + size] as const,
    [x, y + size] as const,
    [x, y] as const,
  ])

const point: fc.Arbitrary<Geometry> = place.map(coordinates => ({ type: 'Point', coordinates }))
const line: fc.Arbitrary<Geometry> = fc
  .array(near, { minLength: 2, maxLength: 4 })
  .map(coordinates => ({ type: 'LineString', coordinates }))
const area: fc.Arbitrary<Geometry> = square.map(ring => ({ type: 'Polygon', coordinates: [ring] }))
const geometry: fc.Arbitrary<Geometry> = fc.oneof(
  { weight: 5, arbitrary: point },
  { weight: 2, arbitrary: fc.tuple(place, half(20)).map(([[x, y], z]): Geometry => ({ type: 'Point', coordinates: [x, y, z] })) },
  {
    weight: 1,
    arbitrary: fc.array(place, { minLength: 1, maxLength: 3 }).map((coordinates): Geometry => ({ type: 'MultiPoint', coordinates })),
  },
  { weight: 2, arbitrary: line },
  { weight: 2, arbitrary: area },
  {
    weight: 1,
    arbitrary: fc
      .array(fc.oneof(point, line, area), { minLength: 1, maxLength: 3 })
      .map((geometries): Geometry => ({ type: 'GeometryCollection', geometries })),
  },
)

/** Quarters, whose sums do not depend on the order; and numbers that languages format differently. */
const number = fc.oneof(
  fc.integer({ min: -400, max: 400 }).map(quarters => quarters / 4),
  fc.constantFrom(0, 1e21, 1e-7, 123_456_789_012_345_680_000),
)
const value = fc.oneof(
  number,
  fc.constantFrom(null, true, false, '', 'a', 'A', '7', '🍂', '\uffff'),
  fc.constantFrom(['a', ['b']], [], {}, { x: 1, y: ['a'] }),
)
const properties = fc
  .uniqueArray(fc.tuple(fc.constantFrom(...names), value), { maxLength: 4, selector: ([name]) => name })
  .map(Object.fromEntries)

const datapoint: fc.Arbitrary<Datapoint> = fc
  .record({ id: fc.integer({ min: 1, max: 60 }), stream: fc.constantFrom(...streams), start: moment, length, geometry, properties })
  .map(({ id, stream, start, length: more, ...rest }) => ({
    id,
    stream,
    startMs: start,
    endMs: more === null ? null : start + more,
    createdMs: start,
    ...rest,
  }))

const box = fc.tuple(place, place).map(([[a, b], [c, d]]): GeoArea => ({ box: [a, Math.min(b, d), c, Math.max(b, d)] }))
const circle = fc
  .tuple(place, fc.constantFrom(0, 1000, 40_000, 111_000, 300_000))
  .map(([[longitude, latitude], radiusMetres]): GeoArea => ({ circle: { longitude, latitude, radiusMetres } }))
const polygon = fc.oneof(
  square.map((ring): GeoArea => ({ polygon: [ring] })),
  fc.tuple(near, fc.integer({ min: 2, max: 8 })).map(
    ([[x, y], size]): GeoArea => ({
      polygon: [
        [
          [x, y],
          [x + size, y],
          [x, y + size],
          [x, y],
        ],
      ],
    }),
  ),
)
const attribute: fc.Arbitrary<GeoAttribute> = fc
  .tuple(fc.constantFrom(...names), fc.option(value))
  .map(([key, contains]) => (contains === null ? { key } : { key, contains }))
const month = fc.integer({ min: 1, max: 12 })

const filter: fc.Arbitrary<GeoFilter> = fc.record(
  {
    streams: fc.array(fc.constantFrom(...streams), { maxLength: 3 }),
    areas: fc.array(fc.oneof(box, circle, polygon), { minLength: 1, maxLength: 2 }),
    fromMs: moment,
    beforeMs: moment,
    untilMs: moment,
    months: fc.record({ from: month, to: month }),
    attributes: fc.array(attribute, { minLength: 1, maxLength: 2 }),
  },
  { requiredKeys: [], noNullPrototype: true },
)
const sort: fc.Arbitrary<GeoSort> = fc.record({
  by: fc.constantFrom('start' as const, 'stream' as const),
  order: fc.constantFrom('ascending' as const, 'descending' as const),
})
const named = ['minute', 'hour', 'day', 'week', 'month', 'semi', 'season', 'year', 'lustrum', 'decade', 'all'] as const
const binning: fc.Arbitrary<GeoBinning> = fc.record(
  {
    time: fc.oneof(fc.constantFrom(...named), fc.record({ everyMs: fc.constantFrom(1000 * day, 90 * 60_000), originMs: moment })),
    depthMetres: fc.constantFrom(0.5, 5, 1000),
    groupBy: fc.array(fc.constantFrom(...names), { maxLength: 2 }),
    properties: fc.array(fc.constantFrom(...names), { maxLength: 3 }),
  },
  { requiredKeys: ['time'], noNullPrototype: true },
)

type Step =
  | { readonly insert: readonly Datapoint[] }
  | { readonly remove: { readonly ids: readonly number[] } | { readonly streams: readonly number[] } }
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.array(datapoint, { maxLength: 25 }).map(insert => ({ insert })) },
  { weight: 1, arbitrary: fc.array(fc.integer({ min: 1, max: 60 }), { maxLength: 6 }).map(ids => ({ remove: { ids } })) },
  { weight: 1, arbitrary: fc.array(fc.constantFrom(...streams), { maxLength: 2 }).map(of => ({ remove: { streams: of } })) },
)
const query = fc.record({ filter, sort, limit: fc.constantFrom(1, 3, 1000), binning })
type Query = typeof query extends fc.Arbitrary<infer T> ? T : never

const grown = (areas: readonly GeoArea[], factor: number): readonly GeoArea[] =>
  areas.map(one => ('circle' in one ? { circle: { ...one.circle, radiusMetres: one.circle.radiusMetres * factor } } : one))

/** Whether a datapoint is so near the boundary of a circle that stores may differ. */
const isDoubtful = (points: readonly Datapoint[], areas: readonly GeoArea[] = []): boolean => {
  const touch = (of: readonly GeoArea[], { geometry: shape }: Datapoint): boolean => of.some(one => intersects(shape, one))
  const [small, large] = [grown(areas, 0.99), grown(areas, 1.01)]
  return points.some(one => touch(small, one) !== touch(large, one))
}

const stepBoth = async (store: GeoStore, model: GeoStore, one: Step): Promise<void> => {
  if ('insert' in one) assert.deepEqual(await store.insert(one.insert), await model.insert(one.insert))
  else assert.equal(await store.remove(one.remove), await model.remove(one.remove))
}

const pagesOf = async (store: GeoStore, { filter: of, sort: by, limit }: Query): Promise<readonly Datapoint[]> => {
  const found: Datapoint[] = []
  let after: GeoAfter | undefined
  do {
    const page = await store.find({ filter: of, sort: by, limit, ...(after ? { after } : {}) })
    assert.ok(page.points.length <= limit, 'a page is longer than requested')
    found.push(...page.points)
    if (page.next) assert.notDeepEqual(page.next, after, 'a page ends where the one before it did')
    after = page.next
  } while (after)
  return found
}

const all = async <T>(pieces: AsyncIterable<readonly T[]>): Promise<readonly T[]> => (await Array.fromAsync(pieces)).flat()

const binsOf = (store: GeoStore, { filter: of, binning: by }: Query) =>
  all(store.bins({ filter: of, binning: by })).catch((error: unknown) => {
    if (error instanceof Invalid) return 'too many'
    throw error
  })

const askBoth = async (store: GeoStore, model: GeoStore, one: Query): Promise<void> => {
  if (isDoubtful(await all(model.read({ filter: {} })), one.filter.areas)) return
  const expected = await all(model.read(one))
  assert.deepEqual(await all(store.read(one)), expected)
  assert.deepEqual(await pagesOf(store, one), expected)
  for (const upTo of [3, 1000]) assert.equal(await store.count(one.filter, upTo), Math.min(upTo, expected.length))
  const bins = await binsOf(model, one)
  // A store need not check the times of datapoints without numbers to aggregate.
  if (bins !== 'too many') assert.deepEqual(await binsOf(store, one), bins)
}

/** The body of the test `geoStoreModel`. */
export const runGeoStoreModel = async (t: TestContext, make: MakeGeoStore, runs: number): Promise<void> => {
  const { store } = await make(t)
  const model = new MemoryGeoStore()
  const seed = Number(process.env['POUNCE_SEED'] ?? Date.now() & 0x7fffffff)
  t.log(`seed ${seed}`)
  const run = fc.asyncProperty(
    fc.array(step, { minLength: 1, maxLength: 5 }),
    fc.array(query, { minLength: 1, maxLength: 5 }),
    async (steps, queries) => {
      await stepBoth(store, model, { remove: { streams: [...streams] } })
      for (const one of steps) await stepBoth(store, model, one)
      assert.deepEqual(await store.statistics(streams), await model.statistics(streams))
      for (const one of queries) await askBoth(store, model, one)
    },
  )
  await t.notThrowsAsync(fc.assert(run, { numRuns: runs, seed, includeErrorInReport: true }))
}
