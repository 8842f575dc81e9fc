import type { Datapoint, GeoBin, GeoBinning, GeoFilter, GeoStore } from '../ports/geo-store.ts'
import { Invalid } from '../problem.ts'
import type { ContractTest, TestContext } from './any-runner.ts'
import { pointAt } from './geo-points.ts'

type Open = (t: TestContext) => Promise<GeoStore>

const at = (text: string): number => Date.parse(text)

/** A datapoint with the value `v` at a time. */
const reading = (id: number, start: string, v: number, changes: Partial<Datapoint> = {}): Datapoint =>
  pointAt(id, { startMs: at(start), endMs: at(start), properties: { v }, ...changes })

const binsOf = async (store: GeoStore, binning: GeoBinning, filter: GeoFilter = {}): Promise<readonly GeoBin[]> =>
  (await Array.fromAsync(store.bins({ filter, binning }))).flat()

/** Start and end as text, and the number of datapoints. */
const spans = (bins: readonly GeoBin[]) =>
  bins.map(({ fromMs, toMs, count }) => [new Date(fromMs).toISOString().slice(0, 16), new Date(toMs).toISOString().slice(0, 16), count])

/** A time, and the span of each kind that contains it. */
const named: readonly (readonly [string, GeoBinning['time'], string, string])[] = [
  ['2017-01-25T09:41:59.999Z', 'minute', '2017-01-25T09:41', '2017-01-25T09:42'],
  ['2017-01-25T09:41:30Z', 'hour', '2017-01-25T09:00', '2017-01-25T10:00'],
  ['2017-01-25T00:00:00Z', 'day', '2017-01-25T00:00', '2017-01-26T00:00'],
  ['2017-01-29T23:59:00Z', 'week', '2017-01-23T00:00', '2017-01-30T00:00'],
  ['1969-12-28T12:00:00Z', 'week', '1969-12-22T00:00', '1969-12-29T00:00'],
  ['2016-02-29T12:00:00Z', 'month', '2016-02-01T00:00', '2016-03-01T00:00'],
  ['1965-12-31T23:59:00Z', 'month', '1965-12-01T00:00', '1966-01-01T00:00'],
  ['2017-06-30T23:59:00Z', 'semi', '2017-01-01T00:00', '2017-07-01T00:00'],
  ['2017-07-01T00:00:00Z', 'semi', '2017-07-01T00:00', '2018-01-01T00:00'],
  ['2017-03-20T23:59:00Z', 'season', '2017-01-01T00:00', '2017-03-21T00:00'],
  ['2017-03-21T00:00:00Z', 'season', '2017-03-21T00:00', '2017-06-21T00:00'],
  ['2017-12-25T00:00:00Z', 'season', '2017-12-21T00:00', '2018-01-01T00:00'],
  ['2017-12-31T23:59:00Z', 'year', '2017-01-01T00:00', '2018-01-01T00:00'],
  ['2017-12-31T23:59:00Z', 'lustrum', '2015-01-01T00:00', '2020-01-01T00:00'],
  ['1969-05-05T00:00:00Z', 'decade', '1960-01-01T00:00', '1970-01-01T00:00'],
  ['0007-05-05T00:00:00Z', 'decade', '0000-01-01T00:00', '0010-01-01T00:00'],
  ['2017-01-25T09:41:30Z', { everyMs: 90 * 60_000, originMs: at('2017-01-25T00:00:00Z') }, '2017-01-25T09:00', '2017-01-25T10:30'],
  ['2017-01-24T23:30:00Z', { everyMs: 90 * 60_000, originMs: at('2017-01-25T00:00:00Z') }, '2017-01-24T22:30', '2017-01-25T00:00'],
]

/** The contract of GeoStore bins. */
export function geoBinsContract(test: ContractTest, open: Open): void {
  test('bins aggregate the numbers of each property of each stream, in order', async t => {
    const store = await open(t)
    await store.insert([
      reading(1, '2026-01-05T01:00:00Z', 2, { properties: { v: 2, b: -1, text: '7', no: null, list: [1], isOn: true } }),
      reading(2, '2026-01-05T23:59:59Z', 0.5),
      reading(3, '2026-01-04T12:00:00Z', -8),
      reading(4, '2026-01-05T12:00:00Z', 100, { stream: 2 }),
    ])
    const day = { fromMs: at('2026-01-05T00:00:00Z'), toMs: at('2026-01-06T00:00:00Z'), depth: null, group: [] }
    const before = { ...day, fromMs: at('2026-01-04T00:00:00Z'), toMs: day.fromMs }
    t.deepEqual(await binsOf(store, { time: 'day' }), [
      { ...day, stream: 1, property: 'b', count: 1, sum: -1, min: -1, max: -1 },
      { ...before, stream: 1, property: 'v', count: 1, sum: -8, min: -8, max: -8 },
      { ...day, stream: 1, property: 'v', count: 2, sum: 2.5, min: 0.5, max: 2 },
      { ...day, stream: 2, property: 'v', count: 1, sum: 100, min: 100, max: 100 },
    ])
    const only = await binsOf(store, { time: 'day', properties: ['b', 'text', 'absent'] })
    t.deepEqual(
      only.map(({ property }) => property),
      ['b'],
    )
    t.deepEqual(
      (await binsOf(store, { time: 'day' }, { streams: [2] })).map(({ sum }) => sum),
      [100],
    )
    t.deepEqual(await binsOf(store, { time: 'day' }, { streams: [] }), [])
  })

  test('spans follow the calendar in UTC', async t => {
    const store = await open(t)
    for (const [index, [start, time, from, to]] of named.entries()) {
      await store.insert([reading(index + 1, start, 1, { stream: index + 1 })])
      t.deepEqual(spans(await binsOf(store, { time }, { streams: [index + 1] })), [[from, to, 1]], `${start} ${JSON.stringify(time)}`)
    }
  })

  test('a point is counted in every bin that it overlaps, but not in one that begins where it ends', async t => {
    const store = await open(t)
    const span = (id: number, start: string, end: string | null): Datapoint =>
      reading(id, start, id, { stream: id, endMs: end === null ? null : at(end) })
    await store.insert([
      span(1, '2026-01-05T12:00:00Z', '2026-01-07T00:00:00.001Z'),
      span(2, '2026-01-05T00:00:00Z', '2026-01-06T00:00:00Z'),
      span(3, '2026-01-06T00:00:00Z', '2026-01-06T00:00:00Z'),
      span(4, '2026-01-05T12:00:00Z', null),
    ])
    const days = async (stream: number) =>
      (await binsOf(store, { time: 'day' }, { streams: [stream] })).map(({ fromMs }) => new Date(fromMs).getUTCDate())
    t.deepEqual(await days(1), [5, 6, 7])
    t.deepEqual(await days(2), [5])
    t.deepEqual(await days(3), [6])
    t.deepEqual(await days(4), [5])
  })

  test('a point is counted once in the winter of a year', async t => {
    const store = await open(t)
    const span = (id: number, start: string, end: string): Datapoint => reading(id, start, 1, { stream: id, endMs: at(end) })
    await store.insert([
      span(1, '2016-12-25T00:00:00Z', '2018-12-31T00:00:00Z'),
      span(2, '2017-03-21T00:00:00Z', '2017-12-31T00:00:00Z'),
      span(3, '2017-03-20T00:00:00Z', '2017-12-31T00:00:00Z'),
    ])
    const seasons = async (stream: number) =>
      (await binsOf(store, { time: 'season' }, { streams: [stream] })).map(({ fromMs }) => new Date(fromMs).toISOString().slice(0, 10))
    const year = (of: number) => [`${of}-01-01`, `${of}-03-21`, `${of}-06-21`, `${of}-09-21`]
    t.deepEqual(await seasons(1), ['2016-12-21', ...year(2017), ...year(2018)])
    t.deepEqual(await seasons(2), [...year(2017).slice(1), '2017-12-21'])
    t.deepEqual(await seasons(3), year(2017))
  })

  test('without a time span there is one bin, from the first start to the last end', async t => {
    const store = await open(t)
    await store.insert([
      reading(1, '2026-01-05T00:00:00Z', 1, { endMs: at('2026-03-01T00:00:00Z') }),
      reading(2, '2020-01-05T00:00:00Z', 2, { endMs: null }),
      reading(3, '2026-02-05T00:00:00Z', 4),
    ])
    const [bin, ...more] = await binsOf(store, { time: 'all' })
    t.deepEqual(more, [])
    t.like(bin, { fromMs: at('2020-01-05T00:00:00Z'), toMs: at('2026-03-01T00:00:00Z'), count: 3, sum: 7, min: 1, max: 4 })
  })

  test('depth is rounded up to the next step, and a position without altitude is at 0', async t => {
    const store = await open(t)
    const altitudes = [0, 0.1, 5, 5.1, -0.1, -5, -12]
    await store.insert([
      ...altitudes.map((altitude, index) =>
        reading(index + 1, '2026-01-05T00:00:00Z', 1, { geometry: { type: 'Point', coordinates: [10, 50, altitude] } }),
      ),
      reading(50, '2026-01-05T00:00:00Z', 1),
    ])
    const bins = await binsOf(store, { time: 'all', depthMetres: 5 })
    t.deepEqual(
      bins.map(({ depth, count }) => [depth, count]),
      [
        [-10, 1],
        [-5, 1],
        [0, 3],
        [5, 2],
        [10, 1],
      ],
    )
  })

  test('groups are the values of properties as strings, or null', async t => {
    const store = await open(t)
    const codes = ['b', 'a', null, 7, true, { x: 1 }, 'a', '7']
    await store.insert(codes.map((code, index) => reading(index + 1, '2026-01-05T00:00:00Z', 1, { properties: { v: 1, code } })))
    await store.insert([reading(90, '2026-01-05T00:00:00Z', 1)])
    const bins = await binsOf(store, { time: 'year', groupBy: ['code', 'absent'], properties: ['v'] })
    t.deepEqual(
      bins.map(({ group, count }) => [...group, count]),
      [
        [null, null, 3],
        ['7', null, 2],
        ['a', null, 2],
        ['b', null, 1],
        ['true', null, 1],
      ],
    )
  })

  test('a sum that overflows is infinite, and does not affect others', async t => {
    const store = await open(t)
    const values = [1.7e308, 1.7e308, -1.7e308, -1.7e308, 1e301, 0.5, 3e-320, 5e-324]
    await store.insert(
      values.map((v, index) => reading(index + 1, '2026-01-05T00:00:00Z', v, { stream: Math.min(3, Math.floor(index / 2) + 1) })),
    )
    t.deepEqual(
      (await binsOf(store, { time: 'all' })).map(({ count, sum, min, max }) => [count, sum, min, max]),
      [
        [2, Number.POSITIVE_INFINITY, 1.7e308, 1.7e308],
        [2, Number.NEGATIVE_INFINITY, -1.7e308, -1.7e308],
        [4, 1e301, 5e-324, 1e301],
      ],
    )
  })

  test('many bins are returned in chunks', async t => {
    const store = await open(t)
    const start = at('2026-01-05T00:00:00Z')
    await store.insert(
      Array.from({ length: 4500 }, (_, index) =>
        reading(index + 1, '2026-01-05T00:00:00Z', 1, { startMs: start + index * 60_000, endMs: null }),
      ),
    )
    const pieces = await Array.fromAsync(store.bins({ filter: {}, binning: { time: 'minute' } }))
    t.true(pieces.every(piece => piece.length > 0 && piece.length <= 2000))
    t.deepEqual(
      pieces.flat().map(({ fromMs }) => fromMs),
      Array.from({ length: 4500 }, (_, index) => start + index * 60_000),
    )
  })

  test('counting numbers in a million bins beyond their first is refused, in half a million it is not', async t => {
    const store = await open(t)
    const start = at('2026-01-05T00:00:00Z')
    const properties = { a: 1, b: 2, c: 3, d: 4, e: 5, f: 6 }
    const long = (index: number) => reading(index, '', 1, { startMs: start + index, endMs: start + 9950 * 3_600_000, properties })
    await store.insert(Array.from({ length: 9 }, (_, index) => long(index + 1)))
    t.is((await binsOf(store, { time: 'hour' })).length, 6 * 9950)
    await store.insert(Array.from({ length: 8 }, (_, index) => long(index + 10)))
    const refusal = await t.throwsAsync(binsOf(store, { time: 'hour' }), { instanceOf: Invalid })
    t.regex(String((refusal as Error).message), /longer bins, a shorter period, or fewer/)
    t.is((await binsOf(store, { time: 'hour', properties: ['a'] })).length, 9950)
    t.is((await binsOf(store, { time: 'decade' })).length, 6)
  })

  test('an aborted signal ends bins and readings', async t => {
    const store = await open(t)
    const start = at('2026-01-05T00:00:00Z')
    await store.insert(
      Array.from({ length: 4500 }, (_, index) => reading(index + 1, '', 1, { startMs: start + index * 60_000, endMs: null })),
    )
    const ways: readonly ((signal: AbortSignal) => AsyncIterable<unknown>)[] = [
      signal => store.bins({ filter: {}, binning: { time: 'minute' }, signal }),
      signal => store.read({ filter: {}, signal }),
    ]
    for (const way of ways) {
      const leaving = new AbortController()
      const pieces = way(leaving.signal)[Symbol.asyncIterator]()
      await pieces.next()
      leaving.abort(new Error('gone'))
      await t.throwsAsync(pieces.next(), { message: 'gone' })
      await t.throwsAsync(Array.fromAsync(way(leaving.signal)), { message: 'gone' })
    }
  })

  test('a point in too many bins is refused, and so are invalid binnings', async t => {
    const store = await open(t)
    await store.insert([reading(1, '1900-01-01T00:00:00Z', 1, { endMs: at('2020-01-01T00:00:00Z') })])
    await t.throwsAsync(binsOf(store, { time: 'minute' }), { instanceOf: Invalid })
    t.is((await binsOf(store, { time: 'year' })).length, 120)
    const odd: readonly GeoBinning[] = [
      { time: 'fortnight' as never },
      { time: 'constructor' as never },
      { time: { everyMs: 999, originMs: 0 } },
      { time: { everyMs: 1000, originMs: Number.NaN } },
      { time: 'day', depthMetres: 0 },
      { time: 'day', depthMetres: Number.POSITIVE_INFINITY },
      { time: 'day', groupBy: ['a', 'b', 'c', 'd', 'e'] },
      { time: 'day', properties: Array.from({ length: 1001 }, (_, index) => `p${index}`) },
    ]
    for (const binning of odd) await t.throwsAsync(binsOf(store, binning), { instanceOf: Invalid }, JSON.stringify(binning))
  })
}
