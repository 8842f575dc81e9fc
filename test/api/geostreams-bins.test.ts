import test, { type ExecutionContext } from 'ava'
import { GeoStore, Unavailable } from 'pounce/sdk'
import type { Datapoint, GeoBin } from 'pounce/sdk/geo'
import { bootForTest, MemoryGeoStore, type TestServer } from 'pounce/sdk/testing'
import { callsOf } from '../support/calls.ts'
import { newSensor, newStream } from '../support/geostreams.ts'
import { type NaiveEntry, naiveBins } from '../support/naive-bins.ts'
import { insertReadings, type Reading } from '../support/readings.ts'
import { type SeededRandom, seededRandom } from '../support/seeded-random.ts'
import { type Somebody, somebody } from '../support/spaces-and-people.ts'

// @separate-process: at most eight exports run at once, and slow ones would exceed this limit.
let server: TestServer
let ann: Somebody
/** Sensors by name: number, streams, and all readings. */
const made: Record<string, { readonly id: number; readonly streams: readonly number[]; readonly points: readonly Datapoint[] }> = {}
const path = '/api/geostreams/datapoints/bin'
const [hourMs, dayMs] = [3_600_000, 86_400_000]

/** Starts of years, months and seasons, leap days, and their last milliseconds. */
const edges = [
  '2016-02-29',
  '2016-03-01',
  '2017-03-21',
  '2017-06-21',
  '2016-12-21',
  '2017-01-01',
  '2017-07-01',
  '2020-01-01',
  '2018-12-31',
].flatMap(date => [Date.parse(date), Date.parse(date) - 1])

/** Values are multiples of 1/4, so that sums are exact in any order. */
const reading = (roll: SeededRandom, longestMs: number): Reading => {
  const at = roll.oneIn(3) ? roll.pick(edges) : Date.UTC(2015, 0, 1) + roll.int(5 * 366 * 24 * 60) * 60_000
  const until = roll.pick([null, at, at + roll.int(longestMs / 1000) * 1000, at + Math.min(longestMs, hourMs)])
  const properties = {
    v: roll.int(400) / 4 - 50,
    ...(roll.oneIn(2) ? { w: roll.int(40) / 4 } : {}),
    ...(roll.oneIn(4) ? { site: roll.pick(['A1', 'ö "x"']) } : {}),
    ...(roll.oneIn(5) ? { o: { a: roll.int(2) } } : {}),
    ...(roll.oneIn(3) ? { DEPTH_CODE: roll.pick(['A', 'B']) } : {}),
    ...(roll.oneIn(3) ? { source: roll.pick(['s1', 's2']) } : {}),
  }
  return { at, until, properties, ...(roll.oneIn(2) ? { altitude: roll.pick([0, 3.2, -1, -10, 10, 10.5]) } : {}) }
}

const makeSensor = async (
  roll: SeededRandom,
  name: string,
  { streams, readings, longestMs }: Readonly<Record<string, number>>,
): Promise<void> => {
  const id = await newSensor(ann, { name })
  const numbers: number[] = []
  const points: Datapoint[] = []
  for (let n = 0; n < (streams ?? 1); n += 1) {
    const stream = await newStream(ann, id)
    numbers.push(stream)
    points.push(
      ...(await insertReadings(
        server,
        stream,
        Array.from({ length: readings ?? 0 }, () => reading(roll, longestMs ?? 0)),
      )),
    )
  }
  made[name] = { id, streams: numbers, points }
}

test.before(async t => {
  const roll = seededRandom(20_260_105)
  t.log(`seed ${roll.seed}`)
  // The tests of this file run at once: on a slow machine the last of them waits longer than the default.
  server = await bootForTest({ config: { http: { budgets: { maxWaitMs: 120_000 } } } })
  ann = await somebody(server, 'ann')
  await makeSensor(roll, 'short', { streams: 1, readings: 120, longestMs: 3 * hourMs })
  await makeSensor(roll, 'long', { streams: 3, readings: 60, longestMs: 500 * dayMs })
  await makeSensor(roll, 'busy', { streams: 12, readings: 15, longestMs: 2 * dayMs })
})
test.after.always(() => server?.stop())

type Entry = Readonly<Record<string, unknown>> & { readonly sources: readonly string[] }
interface Row {
  readonly sensor_name: string
  readonly properties: Readonly<Record<string, readonly Entry[]>>
}

const rows = async (rest: string, call = ann): Promise<readonly Row[]> => {
  const { status, body } = await call.get(`${path}/${rest}`)
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`)
  return body as readonly Row[]
}

/** The expected response of the server for a manually computed entry. */
const expectedEntry = ({ depth, label, date, depth_code, sources, doubles, array }: NaiveEntry) => ({
  ...{ depth, label, date, depth_code, sources },
  ...(doubles.length > 0
    ? { average: doubles.reduce((sum, value) => sum + value, 0) / doubles.length, count: doubles.length }
    : { array, count: array.length }),
})

const sorted = (list: unknown): unknown => (Array.isArray(list) ? [...list].sort() : list)
/** An entry without the parts of its date, with unordered lists sorted. */
const comparable = ({ year, month, week, day, hour, minute, ...entry }: Entry) => ({
  ...entry,
  sources: sorted(entry.sources),
  ...('array' in entry ? { array: sorted(entry['array']) } : {}),
})

const compare = (t: ExecutionContext, actual: readonly Row[], kind: string, depth: number, names: readonly string[]): void => {
  t.deepEqual(
    actual.map(row => row.sensor_name),
    names,
  )
  for (const [at, name] of names.entries()) {
    const expected = Object.entries(naiveBins(made[name]?.points ?? [], kind, depth)).map(([property, entries]) => [
      property,
      entries.map(expectedEntry),
    ])
    const answered = Object.entries(actual[at]?.properties ?? {}).map(([property, entries]) => [property, entries.map(comparable)])
    t.deepEqual(Object.fromEntries(answered), Object.fromEntries(expected), `${kind} ${depth} ${name}`)
  }
}

for (const kind of ['decade', 'lustrum', 'year', 'semi', 'season', 'month', 'week', 'day'])
  test(`readings of all sensors by ${kind} and depth match a manual computation`, async t => {
    compare(t, await rows(`${kind}/5`), kind, 5, ['busy', 'long', 'short'])
  })

for (const kind of ['hour', 'minute'])
  test(`readings of a stream by ${kind}, regardless of depth, match a manual computation`, async t => {
    compare(t, await rows(`${kind}/0?stream_id=${made['short']?.streams[0]}`), kind, 0, ['short'])
  })

test('as GeoJSON, each sensor is a feature at its location with the content of the JSON format', async t => {
  const query = `month/5?sensor_id=${made['long']?.id}`
  const answer = await ann.call(`${path}/${query}&format=geojson`)
  t.is(answer.headers.get('content-type'), 'application/geo+json')
  const sensor = (await ann.get(`/api/geostreams/sensors/${made['long']?.id}`)).body as { readonly geometry: object }
  const [row] = await rows(query)
  t.deepEqual(await answer.json(), {
    type: 'FeatureCollection',
    features: [{ type: 'Feature', id: made['long']?.id, geometry: sensor.geometry, properties: row }],
  })
  const none = await ann.call(`${path}/month/5?since=2900-01-01T00:00:00Z&format=geojson`)
  t.deepEqual(await none.json(), { type: 'FeatureCollection', features: [] })
})

test('names of bins are case-insensitive, and the parts of their dates are returned', async t => {
  const parts = async (kind: string) => {
    const [row] = await rows(`${kind}/0?sensor_id=${made['short']?.id}&since=2016-02-29T00:00:00Z&attributes=v`)
    const entry = row?.properties['v']?.[0]
    return Object.fromEntries(['year', 'month', 'week', 'day', 'hour', 'minute'].map(part => [part, entry?.[part]]))
  }
  const none = { year: 2016, month: undefined, week: undefined, day: undefined, hour: undefined, minute: undefined }
  t.deepEqual(await parts('Decade'), { ...none, year: 2010 })
  t.deepEqual(await parts('SEMI'), none)
  t.deepEqual(await parts('Month'), { ...none, month: 2 })
  t.deepEqual(await parts('week'), { ...none, week: 9 })
  t.deepEqual(await parts('day'), { ...none, month: 2, day: 29 })
  t.deepEqual(await parts('HOUR'), { ...none, month: 2, day: 29, hour: 0 })
  t.deepEqual(await parts('minute'), { ...none, month: 2, day: 29, hour: 0, minute: 0 })
})

test('raw returns all numbers in chronological order, and the distinct strings', async t => {
  const [row] = await rows(`month/5?raw=true&sensor_id=${made['busy']?.id}`)
  const expected = naiveBins(made['busy']?.points ?? [], 'month', 5)
  t.deepEqual(Object.keys(row?.properties ?? {}), ['o', 'v', 'w'])
  for (const [property, entries] of Object.entries(expected)) {
    const actual = row?.properties[property] ?? []
    t.is(actual.length, entries.length)
    for (const [at, { doubles, strings, ...entry }] of entries.entries()) {
      t.deepEqual(actual[at]?.['doubles'], doubles)
      t.deepEqual(sorted(actual[at]?.['strings']), strings)
      t.like(comparable(actual[at] as Entry), expectedEntry({ ...entry, doubles, strings }))
    }
  }
})

test('the requested aggregates are added to each entry', async t => {
  const [row] = await rows(`year/0?sensor_id=${made['long']?.id}&aggregates=min,MAX&aggregates=sum,count,mean`)
  const expected = naiveBins(made['long']?.points ?? [], 'year', 0)['v'] ?? []
  for (const [at, { doubles }] of expected.entries()) {
    const sum = doubles.reduce((one, other) => one + other)
    const figures = { count: doubles.length, sum, min: Math.min(...doubles), max: Math.max(...doubles), mean: sum / doubles.length }
    t.like(row?.properties['v']?.[at], { average: figures.mean, ...figures })
  }
})

test('bins of any duration are aligned to an origin', async t => {
  const stream = await newStream(ann, await newSensor(ann, { name: 'custom', properties: { type: { id: 'custom' } } }))
  const minutes = [0, 89, 90, 179, 180]
  await insertReadings(
    server,
    stream,
    minutes.map(minute => ({ at: Date.parse('2017-01-25T00:30:00Z') + minute * 60_000, properties: { v: minute } })),
  )
  const counts = async (time: string, origin = '') => {
    const [row] = await rows(`${time}/0?stream_id=${stream}${origin && `&origin=${origin}`}`)
    return row?.properties['v']?.map(({ label, date, count }) => [label, date, count])
  }
  const day = '2017-01-25T'
  t.deepEqual(await counts('PT90M', '2020-01-01T00:30:00Z'), [
    [`${day}00:30:00.000Z`, `${day}01:15:00.000Z`, 2],
    [`${day}02:00:00.000Z`, `${day}02:45:00.000Z`, 2],
    [`${day}03:30:00.000Z`, `${day}04:15:00.000Z`, 1],
  ])
  t.deepEqual(await counts('pt1h30m'), [
    [`${day}00:00:00.000Z`, `${day}00:45:00.000Z`, 1],
    [`${day}01:30:00.000Z`, `${day}02:15:00.000Z`, 2],
    [`${day}03:00:00.000Z`, `${day}03:45:00.000Z`, 2],
  ])
  t.deepEqual(await counts('P1DT12H', '2017-01-25T00:00:00+01:00'), [['2017-01-24T23:00:00.000Z', '2017-01-25T17:00:00.000Z', 5]])
  t.is((await counts('P4W'))?.length, 1)
  t.is((await counts('PT1S'))?.length, 5)
})

test('a window selects readings that start in it, both ends included; since and until apply as elsewhere', async t => {
  const sensor = await newSensor(ann, { name: 'window' })
  const stream = await newStream(ann, sensor)
  await insertReadings(
    server,
    stream,
    [1, 2, 3, 4].map(day => ({ at: Date.UTC(2017, 0, day), until: Date.UTC(2017, 0, day, 12), properties: { v: day } })),
  )
  const days = async (query: string) => (await rows(`day/0?stream_id=${stream}&${query}`))[0]?.properties['v']?.map(entry => entry['day'])
  t.deepEqual(await days('window_start=2017-01-02T00:00:00Z&window_end=2017-01-03T00:00:00Z'), [2, 3])
  t.deepEqual(await days('window_start=2017-01-02T00:00:00.001Z'), [3, 4])
  t.deepEqual(await days('window_end=2017-01-02T23:00:00Z&since=2017-01-02T00:00:00Z'), [2])
  t.deepEqual(await days('window_start=2017-01-01T00:00:00Z&since=2017-01-03T00:00:00Z'), [3, 4])
  t.deepEqual(await days('until=2017-01-02T12:00:00Z'), [1, 2])
  t.deepEqual(await rows(`day/0?stream_id=${stream}&since=2018-01-01T00:00:00Z`), [])
})

test('attribute names restrict the returned properties; an attribute value only selects readings', async t => {
  const { streams } = made['short'] ?? { streams: [] }
  const named = await rows(`decade/0?stream_id=${streams[0]}&attributes=w&attributes=o`)
  t.deepEqual(Object.keys(named[0]?.properties ?? {}), ['w', 'o'])
  const [chosen] = await rows(`decade/0?stream_id=${streams[0]}&attributes=${encodeURIComponent('{"o":{"a":1}}')}`)
  const points = made['short']?.points.filter(({ properties }) => JSON.stringify(properties['o']) === '{"a":1}') ?? []
  t.true(points.length > 0)
  const expected = Object.entries(naiveBins(points, 'decade', 0)).map(([property, entries]) => [property, entries.map(expectedEntry)])
  const answered = Object.entries(chosen?.properties ?? {}).map(([property, entries]) => [property, entries.map(comparable)])
  t.deepEqual(Object.fromEntries(answered), Object.fromEntries(expected))
})

const wrong: readonly (readonly [rest: string, word: string])[] = [
  ['fortnight/1', 'decade, lustrum, year'],
  ['constructor/1', 'time'],
  ['all/1', 'time'],
  ['PT/1', 'time'],
  ['P/1', 'time'],
  ['PT0S/1', 'time'],
  ['P999999D/1', 'time'],
  ['P1Y/1', 'time'],
  ['day/-1', 'depth'],
  ['day/x', 'depth'],
  ['day/NaN', 'depth'],
  ['day/1e999', 'depth'],
  ['day/1?raw=perhaps', 'raw'],
  ['day/1?origin=yesterday', 'origin'],
  ['day/1?aggregates=median', 'aggregates'],
  ['day/1?window_start=2017-01-32', 'window_start'],
  ['day/1?window_start=2017-01-02T00:00:00Z&window_end=2017-01-01T00:00:00Z', 'window_end'],
  ['day/1?since=2017-01-02T00:00:', 'since'],
  ['day/1?since=2017-01-02T00:00:00Z&until=2017-01-01T00:00:00Z', 'until'],
  ['day/1?semi=winter', 'semi'],
  ['day/1?geocode=1,2', 'geocode'],
]
for (const [rest, word] of wrong)
  test(`${rest} is refused with 400, naming the parameter`, async t => {
    const { status, body } = await ann.get(`${path}/${rest}`)
    t.is(status, 400)
    t.regex(String((body as { message: unknown }).message), new RegExp(word))
  })

test('an unknown stream or sensor is not found', async t => {
  for (const query of ['stream_id=99999', 'sensor_id=99999', 'stream_id=x', "sensor_id=1'--"])
    t.is((await ann.get(`${path}/day/1?${query}`)).status, 404, query)
})

test('a reading that spans too many bins is refused with 400 instead of a partial response', async t => {
  const { status, body } = await ann.get(`${path}/minute/1?sensor_id=${made['long']?.id}`)
  t.is(status, 400)
  t.regex(JSON.stringify(body), /longer/)
})

test('if geostreams are not public, bins contain only visible readings', async t => {
  const closed = await bootForTest({
    t,
    config: { access: { private: true, policy: { makeGeostreamsPublicReadable: false } } },
  })
  const [bob, eve] = [await somebody(closed, 'bob'), await somebody(closed, 'eve')]
  const stream = await newStream(bob, await newSensor(bob, { name: 'hidden' }))
  await insertReadings(closed, stream, [{ at: '2017-01-01T00:00:00Z', properties: { v: 1 } }])
  t.deepEqual(
    (await rows('day/0', bob)).map(({ sensor_name }) => sensor_name),
    ['hidden'],
  )
  t.deepEqual(await rows('day/0', eve), [])
  t.is((await eve.get(`${path}/day/0?stream_id=${stream}`)).status, 404)
  t.is((await callsOf(closed.as()).get(`${path}/day/0`)).status, 401)
})

test('an unavailable store causes 503 before the first byte, and closes the connection after it', async t => {
  const store = new (class extends MemoryGeoStore {
    pieces = 0

    override async *bins(query: Parameters<MemoryGeoStore['bins']>[0]): AsyncGenerator<readonly GeoBin[]> {
      let given = 0
      for await (const piece of super.bins(query)) {
        if (given === this.pieces) throw new Unavailable('The points are unavailable')
        given += 1
        yield piece
      }
    }
  })()
  const away = await bootForTest({ t, overrides: { [GeoStore]: store } })
  const bob = await somebody(away, 'bob')
  const stream = await newStream(bob, await newSensor(bob))
  await insertReadings(
    away,
    stream,
    Array.from({ length: 5000 }, (_, minute) => ({ at: minute * 60_000, properties: { v: minute } })),
  )
  t.is((await bob.get(`${path}/minute/0`)).status, 503)
  t.is((await bob.get(path.replace('bin', 'averages'))).status, 503)
  store.pieces = 2
  await t.throwsAsync(bob.get(`${path}/minute/0`))
  store.pieces = 9
  t.is((await rows('minute/0', bob))[0]?.properties['v']?.length, 5000)
})

test('long responses are compressed with gzip while they are produced, for clients that accept it', async t => {
  const answer = await ann.call(`${path}/day/5`, { headers: { 'accept-encoding': 'gzip' } })
  t.is(answer.headers.get('content-encoding'), 'gzip')
  t.is(((await answer.json()) as readonly unknown[]).length > 0, true)
  const plain = await ann.call(`${path}/day/5?sources=nobody`, { headers: { 'accept-encoding': 'gzip' } })
  t.is(await plain.text(), '[]')
})
