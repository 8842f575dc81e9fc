import test, { type ExecutionContext } from 'ava'
import { basic } from '../support/people.ts'
import { type Group, pyclowderTests, type Session } from './pyclowder-session.ts'

type Known = Readonly<Record<string, unknown>> & { readonly id: number; readonly name: string }

const here = { type: 'Point', coordinates: [-88.2, 40.1, 221.5] }
/** 11.1 km north of it. */
const north = { type: 'Point', coordinates: [-88.2, 40.2, 0] }
const kind = { id: 'igsn', title: 'Illinois stations', sensorType: 1 }

const sensorAt = (session: Session, name: string, geometry: object = here): Promise<number> =>
  session.call('geostreams.create_sensor', name, geometry, kind, 'Sangamon')

const streamOf = (session: Session, name: string, sensor: number, geometry: object = here): Promise<number> =>
  session.call('geostreams.create_stream', name, sensor, geometry)

const names = (found: readonly Known[] | null): readonly string[] | undefined => found?.map(({ name }) => name).toSorted()

const making = async (t: ExecutionContext, session: Session): Promise<void> => {
  const { call, get } = session
  const sensor = await sensorAt(session, 'Allerton')
  t.true(Number.isSafeInteger(sensor))
  const properties = { popupContent: 'Allerton', type: kind, name: 'Allerton', region: 'Sangamon' }
  t.like(await get(`/api/geostreams/sensors/${sensor}`), { id: sensor, name: 'Allerton', type: 'Feature', geometry: here, properties })
  const stream = await call<number>('geostreams.create_stream', 'nitrate', sensor, here, { unit: 'mg/l' })
  t.like(await get(`/api/geostreams/streams/${stream}`), {
    ...{ id: stream, name: 'nitrate', type: 'Feature', sensor_id: String(sensor), geometry: here, properties: { unit: 'mg/l' } },
  })
  const [start, end] = ['2017-01-25T09:33:02-06:00', '2017-01-25T09:43:02-06:00']
  const point = await call<number>('geostreams.create_datapoint', stream, here, start, end, { nitrate: 3.5 })
  t.like(await get(`/api/geostreams/datapoints/${point}`), {
    ...{ id: point, type: 'Feature', stream_id: String(stream), sensor_id: String(sensor), sensor_name: 'Allerton' },
    ...{ start_time: '2017-01-25T15:33:02Z', end_time: '2017-01-25T15:43:02Z', geometry: here, properties: { nitrate: 3.5 } },
  })
  t.like(await get(`/api/geostreams/streams/${stream}`), { start_time: '2017-01-25T15:33:02Z', end_time: '2017-01-25T15:43:02Z' })
}

const withoutProperties = async (t: ExecutionContext, session: Session): Promise<void> => {
  const stream = await streamOf(session, 'bare', await sensorAt(session, 'Bare'))
  const start = '2019-07-01T00:00:00Z'
  const point = await session.call<number>('geostreams.create_datapoint', stream, here, start, start)
  t.like(await session.get(`/api/geostreams/datapoints/${point}`), { start_time: start, end_time: start, properties: {} })
}

const byName = async (t: ExecutionContext, session: Session): Promise<void> => {
  const sensor = await sensorAt(session, 'By name')
  await sensorAt(session, 'By name and more')
  t.like(await session.call('geostreams.get_sensor_by_name', 'By name'), { id: sensor, name: 'By name' })
  t.is(await session.call('geostreams.get_sensor_by_name', 'Nobody calls one so'), null)
  t.is(await session.call('geostreams.get_sensor_by_name', 'By'), null)
  const stream = await streamOf(session, 'a stream by name', sensor)
  t.like(await session.call('geostreams.get_stream_by_name', 'a stream by name'), { id: stream, sensor_id: String(sensor) })
  t.is(await session.call('geostreams.get_stream_by_name', 'nobody calls one so'), null)
}

/** The documentation of pyclowder specifies metres; Clowder 1.x uses kilometres, and so do we. */
const byCircle = async (t: ExecutionContext, session: Session): Promise<void> => {
  const [near, far] = [
    { type: 'Point', coordinates: [12.5, 47.5, 0] },
    { type: 'Point', coordinates: [12.5, 47.6, 0] },
  ]
  const sensor = await sensorAt(session, 'circle near', near)
  await sensorAt(session, 'circle far', far)
  await streamOf(session, 'circle near stream', sensor, near)
  const circle = (of: string, ...rest: readonly number[]) => session.call<Known[] | null>(`geostreams.get_${of}_by_circle`, ...rest)
  t.deepEqual(names(await circle('sensors', 12.5, 47.5, 5)), ['circle near'])
  t.deepEqual(names(await circle('sensors', 12.5, 47.5, 12)), ['circle far', 'circle near'])
  t.deepEqual(names(await circle('sensors', 12.5, 47.5)), ['circle near'])
  t.is(await circle('sensors', 47.5, 12.5, 50), null)
  t.deepEqual(names(await circle('streams', 12.5, 47.5, 5)), ['circle near stream'])
  t.is(await circle('streams', 47.5, 12.5, 50), null)
}

/** Pairs of latitude and longitude in one list. The server reads requests in this order, whatever the documentation of pyclowder states. */
const byPolygon = async (t: ExecutionContext, session: Session): Promise<void> => {
  const there = { type: 'Point', coordinates: [30.5, -10.5, 0] }
  const sensor = await sensorAt(session, 'polygon in', there)
  await streamOf(session, 'polygon in stream', sensor, there)
  await sensorAt(session, 'polygon out', { type: 'Point', coordinates: [32.5, -10.5, 0] })
  const polygon = (of: string, ring: readonly number[]) => session.call<Known[] | null>(`geostreams.get_${of}_by_polygon`, ring)
  const [around, elsewhere] = [
    [-11, 30, -11, 31, -10, 31, -10, 30],
    [-51, 30, -51, 31, -50, 31, -50, 30, -51, 30],
  ]
  t.deepEqual(names(await polygon('sensors', around)), ['polygon in'])
  t.is(await polygon('sensors', elsewhere), null)
  t.deepEqual(names(await polygon('streams', around)), ['polygon in stream'])
  t.is(await polygon('streams', elsewhere), null)
}

const refusals = async (t: ExecutionContext, session: Session): Promise<void> => {
  const { outcome, person, server } = session
  const sensor = await sensorAt(session, 'refusing', north)
  const stream = await streamOf(session, 'refusing', sensor, north)
  const at = '2017-01-25T09:33:02-06:00'
  const status = async (name: string, ...rest: readonly unknown[]) => (await outcome(`geostreams.${name}`, ...rest)).status
  t.is(await status('create_sensor', 'x', { type: 'Point', coordinates: [40, 100] }, kind, 'r'), 400)
  t.is(await status('create_stream', 'x', 999_999_999, here), 404)
  t.is(await status('create_datapoint', 999_999_999, here, at, at), 404)
  t.is(await status('create_datapoint', stream, here, 'yesterday', at), 400)
  t.is(await status('create_datapoint', stream, here, at, '2017-01-25T09:33:01-06:00'), 400)
  const headers = { authorization: basic(person.email, person.password) }
  const counts = async () => (await server.as()('/api/geostreams/counts', { headers })).json()
  const before = await counts()
  t.is((await session.python.call('geostreams.create_sensor', `${server.url}/`, 'not-a-key', 'x', here, kind, 'r')).status, 401)
  t.deepEqual(await counts(), before)
}

const groups: readonly Group[] = [
  ['a sensor, a stream and a datapoint are made', making],
  ['a stream and a datapoint need no properties', withoutProperties],
  ['sensors and streams are found by their whole name, or not at all', byName],
  ['sensors and streams are found in a circle, whose radius is in kilometres', byCircle],
  ['sensors and streams are found in a polygon', byPolygon],
  ['what makes no sense, and a wrong key, is refused', refusals],
]

await pyclowderTests(test, groups)
