import test from 'ava'
import type { Json } from 'pounce/sdk'
import { bootForTest, FixedClock, type TestServer } from 'pounce/sdk/testing'
import { newSensor, newStream } from '../support/geostreams.ts'
import { labelOf } from '../support/naive-bins.ts'
import { insertReadings, type Reading } from '../support/readings.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { type Somebody, somebody } from '../support/spaces-and-people.ts'

let server: TestServer
let ann: Somebody
let lake: number
let many: number
let streams: readonly number[]
const path = '/api/geostreams/datapoints/trends'
const now = '2026-01-05T12:00:00.000Z'

/** Readings of two streams. */
const readings: readonly (readonly Reading[])[] = [
  [
    { at: '2010-05-01T00:00:00Z', properties: { v: 1, zero: 1, old: 5, note: 'first' } },
    { at: '2016-01-05T12:00:00Z', properties: { v: 2, zero: -1 } },
  ],
  [
    { at: '2016-01-05T11:59:59Z', properties: { v: 3 } },
    { at: '2025-08-01T00:00:00Z', until: '2025-09-01T00:00:00Z', properties: { v: 6, new: 4 } },
    { at: '2026-01-05T12:00:00.001Z', properties: { v: 12, note: 'last' } },
  ],
]
const roll = seededRandom(7)
/** Multiples of 0.25, so that sums are exact in any order. */
const series: readonly Reading[] = Array.from({ length: 400 }, () => ({
  at: Date.UTC(2017, 0, 1) + roll.int(3 * 365 * 24) * 3_600_000,
  properties: { v: roll.int(400) / 4, ...(roll.oneIn(30) ? { w: roll.int(40) / 4 } : {}) },
}))

test.before(async () => {
  server = await bootForTest({ clock: new FixedClock(now) })
  ann = await somebody(server, 'ann')
  lake = await newSensor(ann, { name: 'lake', properties: { type: { id: 'lake' } } })
  many = await newSensor(ann, { name: 'many', properties: { type: { id: 'many' } } })
  streams = await Promise.all([lake, lake, many].map(sensor => newStream(ann, sensor)))
  await Promise.all([...readings, series].map((some, at) => insertReadings(server, streams[at] ?? 0, some)))
})
test.after.always(() => server?.stop())

type Row = Readonly<Record<string, unknown>> & { readonly properties: Readonly<Record<string, Json>> }

const rows = async (query: string): Promise<readonly Row[]> => {
  const { status, body } = await ann.get(`${path}?${query}`)
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`)
  return body as readonly Row[]
}
const only = async (query: string): Promise<Row> => {
  const [row, ...more] = await rows(query)
  if (!row || more.length > 0) throw new Error(`${more.length} more`)
  return row
}

test('the default window is the last ten years; readings outside it count for the total only', async t => {
  const row = await only(`sensor_id=${lake}`)
  t.like(row, { start_time: '2010-05-01T00:00:00Z', end_time: '2026-01-05T12:00:00.001Z', sensor_name: 'lake' })
  t.deepEqual(row['stream_id'], [String(streams[0]), String(streams[1])])
  t.false('last_time' in row)
  const total = (1 + 2 + 3 + 6 + 12) / 5
  t.deepEqual(row.properties, {
    note: 'first',
    v_total_average: total,
    v_interval_average: 4,
    v_percentage_change: ((4 - total) / total) * 100,
    zero_total_average: 0,
    zero_interval_average: -1,
    zero_percentage_change: null,
    old_total_average: 5,
    old_interval_average: null,
    old_percentage_change: null,
    new_total_average: 4,
    new_interval_average: 4,
    new_percentage_change: 0,
  })
})

test('a window includes both ends, and one end is enough', async t => {
  const interval = async (query: string) => (await only(`sensor_id=${lake}&${query}`)).properties['v_interval_average']
  t.is(await interval('window_start=2016-01-05T11:59:59Z&window_end=2016-01-05T12:00:00Z'), 2.5)
  t.is(await interval('window_start=2025-08-01T00:00:00Z'), 6)
  t.is(await interval('window_start=2026-01-05T12:00:00.001Z'), 12)
  // The default start is ten years before the end.
  t.is(await interval('window_end=2020-05-01T00:00:00Z'), 2)
  t.is(await interval('window_end=2020-05-01T00:00:00.001Z'), 2.5)
  t.is(await interval('window_start=2030-01-01T00:00:00Z'), null)
  t.is(await interval('window_end=0005-01-01T00:00:00Z'), null)
  t.is(await interval('window_end=9999-12-31T23:59:59.999Z'), null)
  t.is(await interval('window_start=0001-01-01T00:00:00Z&window_end=9999-12-31T23:59:59.999Z'), 4.8)
})

test('since and until apply to the total and to the window', async t => {
  const { properties } = await only(`sensor_id=${lake}&since=2016-01-05T12:00:00Z&until=2025-12-31T00:00:00Z`)
  t.like(properties, { v_total_average: 4, v_interval_average: 4, v_percentage_change: 0 })
  t.deepEqual(await rows(`sensor_id=${lake}&since=2027-01-01T00:00:00Z`), [])
})

test('with semi, the newest half-year is returned, with null for properties that it lacks', async t => {
  const row = await only(`sensor_id=${lake}&semi=summer`)
  t.like(row, { last_time: '2025 summer', start_time: '2025-08-01T00:00:00Z' })
  t.like(row.properties, { v_total_average: 6, v_last_average: 6, new_last_average: 4 })
  const all = await only(`sensor_id=${lake}&binning=semi`)
  t.is(all['last_time'], '2026 spring')
  t.like(all.properties, { v_last_average: 12, new_last_average: null, zero_last_average: null })
})

for (const binning of ['semi', 'season', 'month', 'week', 'day', 'year', 'lustrum'])
  test(`averages of the newest ${binning} equal those computed here`, async t => {
    const row = await only(`sensor_id=${many}&binning=${binning}`)
    const labels = series.map(({ at }) => labelOf(binning, Number(at)))
    const newest = labels.reduce((one, other) => (one[1] >= other[1] ? one : other))[0]
    const mean = (name: string, isIn: (label: string) => boolean): number | null => {
      const values = series.flatMap(({ properties }, at) => (isIn(labels[at]?.[0] ?? '') ? Number(properties[name] ?? Number.NaN) : []))
      const numbers = values.filter(value => !Number.isNaN(value))
      return numbers.length === 0 ? null : numbers.reduce((sum, value) => sum + value) / numbers.length
    }
    t.is(row['last_time'], newest)
    for (const name of ['v', 'w']) {
      t.is(
        row.properties[`${name}_total_average`],
        mean(name, () => true),
      )
      t.is(
        row.properties[`${name}_last_average`],
        mean(name, label => label === newest),
      )
    }
  })

test('the newest period may have any length', async t => {
  const row = await only(`sensor_id=${lake}&binning=PT12H`)
  t.is(row['last_time'], '2026-01-05T12:00:00.000Z')
  t.is(row.properties['v_last_average'], 12)
})

test('names select the returned properties; GeoJSON has the same rows as JSON, and CSV has a row for each sensor', async t => {
  t.deepEqual(Object.keys((await only(`sensor_id=${lake}&attributes=new`)).properties), [
    'new_total_average',
    'new_interval_average',
    'new_percentage_change',
  ])
  const answer = await ann.call(`${path}?format=geojson`)
  t.deepEqual(await answer.json(), { type: 'FeatureCollection', features: await rows('') })
  const table = await (await ann.call(`${path}?sensor_id=${lake}&semi=summer&attributes=new&format=csv`)).text()
  const head =
    '"id","created","start_time","end_time","last_time","new_interval_average","new_last_average","new_percentage_change","new_total_average"'
  t.is(table.split('\r\n')[0], `${head},"longitude","latitude","altitude","stream_id","sensor_id","sensor_name"`)
  t.regex(table, /,"2025 summer",/)
})

for (const query of ['binning=fortnight', 'window_start=20170', 'format=csvx', 'semi=autumn', 'until=x'])
  test(`${query} is refused with the name of the parameter`, async t => {
    const { status, body } = await ann.get(`${path}?${query}`)
    t.is(status, 400)
    t.true(String((body as { message: unknown }).message).includes(query.split('=')[0] ?? ''))
  })

test('an unknown stream or sensor is not found, and a window that ends before it starts is refused', async t => {
  for (const query of ['stream_id=99999', 'sensor_id=99999', 'stream_id=x']) t.is((await ann.get(`${path}?${query}`)).status, 404)
  t.is((await ann.get(`${path}?window_start=2017-01-02T00:00:00Z&window_end=2017-01-01T00:00:00Z`)).status, 400)
})
