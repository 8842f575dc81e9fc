import test from 'ava'
import type { Json } from 'pounce/sdk'
import type { Datapoint } from 'pounce/sdk/geo'
import { bootForTest, type TestServer } from 'pounce/sdk/testing'
import { callsOf } from '../support/calls.ts'
import { newSensor, newStream } from '../support/geostreams.ts'
import { insertReadings, type Reading } from '../support/readings.ts'
import { type Somebody, somebody } from '../support/spaces-and-people.ts'

let server: TestServer
let ann: Somebody
let station: number
let buoy: number
let streams: readonly number[]
let points: readonly Datapoint[]
const path = '/api/geostreams/datapoints/averages'

const july = (day: number): string => `2017-07-${String(day).padStart(2, '0')}T06:00:00Z`

/** Readings by stream: two streams of the station, one without readings, one of the buoy, and one whose sum is infinite. */
const readings: readonly (readonly Reading[])[] = [
  [
    { at: july(3), until: july(4), properties: { v: 3, note: 'third', late: 'x' } },
    { at: july(2), until: july(20), properties: { v: 2, note: 'second', depth: 'deep', source: 'src' } },
  ],
  [
    { at: july(1), until: null, properties: { v: 0.5, w: -1, note: 'first', place: { a: [1] } } },
    { at: july(9), until: null, properties: { v: 1e300, depth: 7 } },
    { at: july(10), properties: { only: 'text', none: null, isOn: true } },
  ],
  [],
  [{ at: july(5), altitude: -3, properties: { v: 10 } }],
  [
    { at: july(1), properties: { v: 1.7e308 } },
    { at: july(2), properties: { v: 1.7e308 } },
  ],
]

test.before(async () => {
  server = await bootForTest()
  ann = await somebody(server, 'ann')
  station = await newSensor(ann, { name: 'station', properties: { type: { id: 'land' } } })
  buoy = await newSensor(ann, { name: 'a buoy', properties: { type: { id: 'sea' } } })
  const huge = await newSensor(ann, { name: 'huge', properties: { type: { id: 'huge' } } })
  await newSensor(ann, { name: 'silent' })
  streams = await Promise.all([station, station, station, buoy, huge].map(sensor => newStream(ann, sensor)))
  points = (await Promise.all(readings.map((some, at) => insertReadings(server, streams[at] ?? 0, some)))).flat()
})
test.after.always(() => server?.stop())

type Row = Readonly<Record<string, unknown>> & { readonly properties: Readonly<Record<string, Json>> }

const rows = async (query = '', call: Pick<Somebody, 'get'> = ann): Promise<readonly Row[]> => {
  const { status, body } = await call.get(`${path}${query && `?${query}`}`)
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`)
  return body as readonly Row[]
}
const only = async (query: string): Promise<Row> => {
  const [row, ...more] = await rows(query)
  if (!row || more.length > 0) throw new Error(`${more.length} more`)
  return row
}
/** The ID of the reading with this start. */
const idAt = (start: string): number | undefined => points.find(({ startMs }) => startMs === Date.parse(start))?.id

test('each sensor with readings is returned, sorted by name: its first reading, with the time range and streams of all', async t => {
  const [first, huge, second, ...more] = (await rows()).filter(row => row['sensor_name'] !== 'late')
  t.deepEqual(more, [])
  t.is(huge?.['sensor_name'], 'huge')
  t.deepEqual(first, {
    ...{ id: idAt(july(5)), created: july(5), start_time: july(5), end_time: july(5), type: 'Feature' },
    ...{ geometry: { type: 'Point', coordinates: [10, 50, -3] }, properties: { v: 10 } },
    ...{ stream_id: [String(streams[3])], sensor_id: String(buoy), sensor_name: 'a buoy' },
  })
  t.like(second, {
    ...{ id: idAt(july(1)), start_time: july(1), end_time: july(20), geometry: { type: 'Point', coordinates: [10, 50] } },
    ...{ sensor_id: String(station), sensor_name: 'station' },
  })
  t.deepEqual(second?.['stream_id'], [String(streams[0]), String(streams[1])])
})

test('numbers are averaged, and everything else keeps its first value', async t => {
  const { properties } = await only(`sensor_id=${station}`)
  t.deepEqual(properties, {
    v: (3 + 2 + 0.5 + 1e300) / 4,
    w: -1,
    depth: 7,
    note: 'first',
    place: { a: [1] },
    source: 'src',
    late: 'x',
    only: 'text',
    none: null,
    isOn: true,
  })
})

test('CSV has a row for each sensor and the columns of all of them', async t => {
  const answer = await server.as(undefined)(`${path}?sensor_id=${station}&until=2017-07-05T00:00:00Z&format=csv`)
  t.is(answer.headers.get('content-disposition'), `attachment; filename="sensors.csv"; filename*=UTF-8''sensors.csv`)
  const [head, line, ...more] = (await answer.text()).split('\r\n')
  t.is(
    head,
    '"id","created","start_time","end_time","late","note","v","longitude","latitude","altitude","stream_id","sensor_id","sensor_name"',
  )
  const created = (await only(`sensor_id=${station}&until=2017-07-05T00:00:00Z`))['created']
  t.is(line, `${idAt(july(3))},"${created}","${july(3)}","${july(4)}","x","third",3,10,50,,"${streams[0]}","${station}","station"`)
  t.deepEqual(more, [''])
  const both = (await (await server.as(undefined)(`${path}?sources=land&sources=sea&format=csv`)).text()).split('\r\n')
  t.is(both.length, 4)
  t.true(both[0]?.includes('"place|a"') || both[0]?.includes('"a"'))
  const none = await server.as(undefined)(`${path}?since=2018-01-01T00:00:00Z&format=csv`)
  t.is(
    await none.text(),
    '"id","created","start_time","end_time","longitude","latitude","altitude","stream_id","sensor_id","sensor_name"\r\n',
  )
})

test('only matching readings count, also for the time range, streams and first values', async t => {
  const row = await only(`sensor_id=${station}&until=2017-07-05T00:00:00Z`)
  t.like(row, { id: idAt(july(3)), start_time: july(3), end_time: july(4), properties: { v: 3, note: 'third', late: 'x' } })
  t.deepEqual(row['stream_id'], [String(streams[0])])
  const late = await only(`sensor_id=${station}&since=2017-07-10T00:00:00Z`)
  t.deepEqual(late.properties, { only: 'text', none: null, isOn: true })
  t.like(late, { start_time: july(10), end_time: july(10) })
  const window = await only(`sensor_id=${station}&window_start=${july(2)}&window_end=${july(3)}`)
  t.deepEqual(window.properties, { v: 2.5, note: 'second', depth: 'deep', late: 'x', source: 'src' })
  t.deepEqual(await rows('since=2018-01-01T00:00:00Z'), [])
  t.deepEqual(await rows('semi=spring&since=2000-01-01T00:00:00Z'), [])
  t.deepEqual(
    (await rows('semi=summer')).map(row => row['sensor_name']),
    ['a buoy', 'huge', 'station'],
  )
})

test('names select the returned properties; a value selects readings, which also provide the first values', async t => {
  t.deepEqual((await only(`sensor_id=${station}&attributes=w&attributes=note`)).properties, { w: -1, note: 'first', source: 'src' })
  const chosen = await only(`sensor_id=${station}&attributes=note:${encodeURIComponent('"second"')}&attributes=isOn:true`)
  t.deepEqual(chosen.properties, { v: 2, note: 'second', depth: 'deep', source: 'src', only: 'text', none: null, isOn: true })
  t.deepEqual(chosen['stream_id'], [String(streams[0]), String(streams[1])])
})

test('first values are found for any number of names, however late they occur', async t => {
  const sensor = await newSensor(ann, { name: 'late', properties: { type: { id: 'late' } } })
  const stream = await newStream(ann, sensor)
  const names = Array.from({ length: 150 }, (_, at) => `name ${at}`)
  const late = names.map((name, at): Reading => ({ at: at * 60_000, properties: { v: 1, often: `${at}`, [name]: `of ${at}` } }))
  const filler = Array.from({ length: 1200 }, (_, at): Reading => ({ at: (200 + at) * 60_000, properties: { v: 1, 'name 0': 'later' } }))
  await insertReadings(server, stream, [...late, ...filler, { at: 2000 * 60_000, properties: { v: 1, 'at last': [1] } }])
  const { properties } = await only(`stream_id=${stream}`)
  t.deepEqual(properties, { v: 1, often: '0', 'at last': [1], ...Object.fromEntries(names.map((name, at) => [name, `of ${at}`])) })
})

test('the last end is that of any matching reading, also of one without numbers', async t => {
  const stream = await newStream(ann, await newSensor(ann, { name: 'late' }))
  await insertReadings(server, stream, [
    { at: '1970-01-01T00:00:00Z', properties: { v: 1 } },
    { at: '1970-01-02T00:00:00Z', until: '1970-01-30T12:34:56.789Z', properties: { note: 'flood' } },
    { at: '1970-01-03T00:00:00Z', until: '1970-01-20T00:00:00Z', properties: { v: 2, note: 'rain' } },
    { at: '1970-01-04T00:00:00Z', until: null, properties: { v: 3 } },
  ])
  const end = async (query: string): Promise<unknown> => (await only(`stream_id=${stream}${query}`))['end_time']
  t.is(await end(''), '1970-01-30T12:34:56.789Z')
  t.is(await end('&attributes=note'), '1970-01-30T12:34:56.789Z')
  t.is(await end('&since=1970-01-02T00:00:00Z'), '1970-01-30T12:34:56.789Z')
  t.is(await end('&until=1970-01-30T00:00:00Z'), '1970-01-20T00:00:00Z')
  t.is(await end('&since=1970-01-04T00:00:00Z'), '1970-01-04T00:00:00Z')
  t.is(await end('&attributes=v'), '1970-01-20T00:00:00Z')
})

test('sources select sensors, and a stream is averaged alone', async t => {
  t.deepEqual(
    (await rows('sources=sea')).map(row => row['sensor_name']),
    ['a buoy'],
  )
  t.deepEqual(
    (await rows('sources=sea&sources=land')).map(row => row['sensor_name']),
    ['a buoy', 'station'],
  )
  t.deepEqual(await rows('sources=air'), [])
  t.is((await only(`stream_id=${streams[0]}`)).properties['v'], 2.5)
  t.deepEqual(await rows(`stream_id=${streams[2]}`), [])
})

test('statistics are returned with the average', async t => {
  const { properties } = await only(`stream_id=${streams[0]}&attributes=v&aggregates=count,sum,min,max,mean`)
  t.deepEqual(properties, { v: 2.5, v_count: 2, v_sum: 5, v_min: 2, v_max: 3, v_mean: 2.5, source: 'src' })
})

test('an average that overflows is null', async t => {
  t.is((await only('sources=huge')).properties['v'], null)
})

test('GeoJSON is a FeatureCollection of the same rows', async t => {
  const answer = await ann.call(`${path}?format=geojson&sources=sea&sources=land`)
  t.regex(answer.headers.get('content-type') ?? '', /^application\/geo\+json/)
  t.deepEqual(await answer.json(), { type: 'FeatureCollection', features: await rows('sources=sea&sources=land') })
})

for (const query of ['format=xml', 'since=now', 'aggregates=mode', 'geojson={', 'semi=fall', 'window_end=x'])
  test(`${query} is refused with the name of the parameter`, async t => {
    const { status, body } = await ann.get(`${path}?${query}`)
    t.is(status, 400)
    t.true(String((body as { message: unknown }).message).includes(query.split('=')[0] ?? ''))
  })

test('an unknown stream or sensor is not found', async t => {
  for (const query of ['stream_id=99999', 'sensor_id=99999', 'sensor_id=x']) t.is((await ann.get(`${path}?${query}`)).status, 404)
})

test('HEAD returns the status of GET, without a body', async t => {
  const head = await ann.call(`${path}?sources=sea`, { method: 'HEAD' })
  t.is(head.status, 200)
  t.is(await head.text(), '')
  t.is((await ann.call(`${path}?stream_id=99999`, { method: 'HEAD' })).status, 404)
})

test('if geostreams are not public, averages and trends include visible readings only', async t => {
  const closed = await bootForTest({ t, config: { access: { private: true, policy: { makeGeostreamsPublicReadable: false } } } })
  const [bob, eve] = [await somebody(closed, 'bob'), await somebody(closed, 'eve')]
  const stream = await newStream(bob, await newSensor(bob, { name: 'hidden' }))
  await insertReadings(closed, stream, [{ at: july(1), properties: { v: 1 } }])
  for (const route of [path, path.replace('averages', 'trends')]) {
    t.is(((await bob.get(route)).body as readonly Row[]).length, 1)
    t.deepEqual((await eve.get(route)).body, [])
    t.is((await eve.get(`${route}?stream_id=${stream}`)).status, 404)
    t.is((await callsOf(closed.as()).get(route)).status, 401)
  }
})

test('averages and trends of a sensor with too many properties are refused, and with attributes they are not', async t => {
  const server = await bootForTest({ t })
  const ann = await somebody(server, 'ann')
  const sensor = await newSensor(ann)
  const named = (n: number) => Object.fromEntries(Array.from({ length: 3400 }, (_, at) => [`p${n}.${at}`, at]))
  await insertReadings(
    server,
    await newStream(ann, sensor),
    Array.from({ length: 15 }, (_, n) => ({ at: n, properties: named(n) })),
  )
  for (const figures of ['averages', 'trends', 'averages?format=csv']) {
    const { status, body } = await ann.get(`/api/geostreams/datapoints/${figures}`)
    t.is(status, 400, figures)
    t.regex(JSON.stringify(body), /more than 50000 numeric properties: filter by attributes/, figures)
  }
  const { body } = await ann.get('/api/geostreams/datapoints/averages?attributes=p14.7')
  t.deepEqual((body as readonly { readonly properties: object }[])[0]?.properties, { 'p14.7': 7 })
})

test('the average of equal values is this value, and its trend is 0', async t => {
  const own = await bootForTest()
  t.teardown(() => own.stop())
  const bob = await somebody(own)
  const stream = await newStream(bob, await newSensor(bob, { name: 'battery' }))
  const second = (at: number): string => new Date(Date.UTC(2026, 9, 25, 0, 0, at)).toISOString()
  const equal = Array.from({ length: 1000 }, (_, at) => ({ at: second(at), properties: { volts: 3.7 } }))
  await insertReadings(own, stream, equal)
  t.is((await rows('', bob))[0]?.properties['volts'], 3.7)
  const points = '/api/geostreams/datapoints'
  const [bins] = (await bob.get(`${points}/bin/minute/1`)).body as { properties: { volts: { average: number; count: number }[] } }[]
  t.deepEqual([...new Set(bins?.properties.volts.map(({ average }) => average))], [3.7])
  const [trend] = (await bob.get(`${points}/trends?window_start=${second(500)}&window_end=${second(999)}&attributes=volts`)).body as Row[]
  t.is(trend?.properties['volts_percentage_change'], 0)
})
