import test from 'ava'
import { anonymous, type Caller, GeoStore, NotFound, Streams, Users } from 'pounce/sdk'
import { sensorIdOf, streamIdOf } from 'pounce/sdk/geo'
import { bootForTest } from 'pounce/sdk/testing'
import { allIds, type Calls, callsOf, idsOf } from '../support/calls.ts'
import { newSensor, newStream, pointAt } from '../support/geostreams.ts'
import { refusal } from '../support/people.ts'
import { somebody } from '../support/spaces-and-people.ts'

const G = '/api/geostreams'
const server = await bootForTest()
const nobody = callsOf(server.as())
const admin = callsOf(server.as(server.admin.key))
const [ann, bob] = [await somebody(server, 'Ann'), await somebody(server, 'Bob')]
test.after.always(() => server.stop())
const geo = server.get(GeoStore)
const noData = { status: 'No data found' }
const unknown = 999_999_999
let points = 0
const reading = (stream: number, startMs: number, endMs: number | null = startMs) => {
  points += 1
  const geometry = { type: 'Point', coordinates: [0, 0] } as const
  return { id: 7_000_000 + points, stream, startMs, endMs, createdMs: 0, geometry, properties: { ph: 7 } }
}
const found = (caller: Calls, query: string) => idsOf(caller.get(`${G}/streams?${query}`))

test('a created stream is returned in the same shape by id and in lists', async t => {
  const sensor = await newSensor(ann)
  const properties = { unit: 'mg/l', nested: { a: [1] } }
  const body = { name: 'Nitrate', type: 'Feature', geometry: pointAt(-88, 40, 1), properties, sensor_id: String(sensor) }
  const made = await ann.post(`${G}/streams`, body)
  t.is(made.status, 200)
  const { id, created, ...rest } = made.body as { id: number; created: string }
  t.deepEqual(rest as unknown, { ...body, start_time: null, end_time: null, params: null })
  t.regex(created, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
  t.deepEqual((await nobody.get(`${G}/streams/${id}`)).body, made.body)
  for (const path of ['streams', 'stream']) t.deepEqual((await nobody.get(`${G}/${path}?stream_name=Nitrate`)).body, [made.body])
  t.is((await ann.post(`${G}/streams`, { ...body, sensor_id: sensor })).status, 200)
})

test('the summary of the readings of a stream is always current', async t => {
  const stream = await newStream(ann, await newSensor(ann), { name: 'told' })
  await geo.insert([reading(stream, Date.UTC(2017, 0, 1)), reading(stream, Date.UTC(2016, 5, 1, 0, 0, 0, 999), null)])
  const expectedTimes = { start_time: '2016-06-01T00:00:00Z', end_time: '2017-01-01T00:00:00Z', params: ['ph'] }
  t.like((await nobody.get(`${G}/streams/${stream}`)).body as object, expectedTimes)
  t.like((await nobody.get(`${G}/streams?stream_name=told`)).body as object, [expectedTimes])
})

test('an invalid stream is refused and not created', async t => {
  const sensor = await newSensor(ann)
  const right = { name: 'not made', type: 'Feature', geometry: pointAt(1, 2), properties: {}, sensor_id: String(sensor) }
  const wrong = [
    { name: '' },
    { name: 7 },
    { type: undefined },
    { geometry: pointAt(1, 95) },
    { geometry: 'x' },
    { properties: null },
    { sensor_id: {} },
    { sensor_id: undefined },
  ]
  for (const part of wrong) t.is((await ann.post(`${G}/streams`, { ...right, ...part })).status, 400, JSON.stringify(part))
  for (const sensor_id of [`${unknown}`, unknown, 0, -1, '0', 'nonsense', '', "1' or 1=1", sensorIdOf(sensor)])
    t.is((await ann.post(`${G}/streams`, { ...right, sensor_id })).status, sensor_id === sensorIdOf(sensor) ? 400 : 404, String(sensor_id))
  t.is((await nobody.post(`${G}/streams`, right)).status, 401)
  t.is((await bob.post(`${G}/streams`, right)).status, 403)
  t.deepEqual((await admin.get(`${G}/streams?stream_name=not%20made`)).body, noData)
})

test('a search without results reports that; results are sorted by name', async t => {
  const sensor = await newSensor(ann)
  const geometry = pointAt(33, -33)
  for (const query of ['stream_name=nowhere', 'geocode=-33,33,1', 'geocode=-33,33,1&limit=3']) {
    t.deepEqual((await nobody.get(`${G}/streams?${query}`)).body, noData, query)
    // The path that pyclowder uses, and the response that it interprets as no results.
    t.deepEqual((await nobody.get(`${G}/stream?${query}`)).body, [], query)
  }
  const two = await newStream(ann, sensor, { name: 'two', geometry })
  const one = await newStream(ann, sensor, { name: 'one', geometry })
  t.deepEqual(await found(nobody, 'geocode=-33,33,1'), [one, two].map(String))
  t.deepEqual(await found(nobody, 'geocode=-33,33,1&stream_name=two'), [String(two)])
  t.deepEqual(await allIds(nobody.get, `${G}/streams?geocode=-33,33,1&limit=1`), [one, two].map(String))
  const polygon = { type: 'Polygon', coordinates: [[[32, -34], [34, -34], [33, -32], [32, -34]]] } // biome-ignore format: one line says it
  t.deepEqual(await found(nobody, `geocode=0,0,1&geojson=${encodeURIComponent(JSON.stringify(polygon))}`), [one, two].map(String))
})

test('unknown and malformed ids get the same response from every route of a stream', async t => {
  const expected = await refusal(await ann.call(`${G}/streams/${unknown}`))
  t.is(expected['httpStatus'], 404)
  for (const id of [`${unknown}`, '0', '-1', '1.5', '007', 'nonsense', 'f'.repeat(24), '99999999999999999999']) {
    t.deepEqual(await refusal(await ann.call(`${G}/streams/${id}`)), expected, id)
    t.deepEqual(await refusal(await ann.call(`${G}/streams/${id}/update`)), expected, id)
    t.deepEqual(await refusal(await ann.call(`${G}/streams/${id}`, { method: 'PUT', json: {} })), expected, id)
    t.deepEqual(await refusal(await ann.call(`${G}/streams/${id}`, { method: 'DELETE' })), expected, id)
  }
})

test('with the permission on its sensor, the properties of a stream can be changed and it is deleted with its readings', async t => {
  const stream = await newStream(ann, await newSensor(ann), { properties: { a: 1, b: 1 } })
  t.like((await ann.put(`${G}/streams/${stream}`, { b: 2, c: [3] })).body as object, { id: stream, properties: { a: 1, b: 2, c: [3] } })
  t.is((await ann.put(`${G}/streams/${stream}`, [1])).status, 400)
  t.is((await ann.put(`${G}/streams/${stream}`, { d: 'x'.repeat(66_000) })).status, 400)
  await geo.insert([reading(stream, 0)])
  for (const [person, status] of [
    [nobody, 401],
    [bob, 403],
    [admin, 403],
  ] as const) {
    // biome-ignore format: one line says it
    t.is((await person.put(`${G}/streams/${stream}`, {})).status, status)
    t.is((await person.get(`${G}/streams/${stream}/update`)).status, status)
    t.is((await person.remove(`${G}/streams/${stream}`)).status, status)
  }
  t.deepEqual((await ann.get(`${G}/streams/${stream}/update`)).body, { status: 'updated' })
  t.deepEqual((await ann.remove(`${G}/streams/${stream}`)).body, { status: 'ok' })
  t.is((await ann.get(`${G}/streams/${stream}`)).status, 404)
  t.is((await ann.remove(`${G}/streams/${stream}`)).status, 404)
  await server.drained()
  t.is((await geo.statistics([stream])).size, 0)
})

test('callers who may add streams can request updates of all sensors and streams, which write nothing', async t => {
  for (const path of [`${G}/sensors/update`, `${G}/streams/update`]) {
    t.is((await nobody.get(path)).status, 401)
    for (const who of [ann, admin]) t.deepEqual((await who.get(path)).body, { status: 'updated' })
  }
})

const callerOf = async (id: string): Promise<Caller> => {
  const users = server.get(Users)
  const user = await users.get(id)
  if (!user) throw new Error(`no user ${id}`)
  return users.callerOf(user)
}

test('streams are selected by id, sensor and source', async t => {
  const sensors = [
    await newSensor(ann, { properties: { type: { id: 'choice' } } }),
    await newSensor(ann, { properties: { type: { id: 'choice' } } }),
    await newSensor(ann, { properties: { type: { id: 'other choice' } } }),
  ] as const
  const streams: number[] = []
  for (const sensor of sensors) streams.push(await newStream(ann, sensor), await newStream(ann, sensor))
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0] = streams
  const caller = await callerOf(bob.id)
  const chosen = async (choice: Parameters<Streams['chosen']>[1], who: Caller = caller) =>
    (await server.get(Streams).chosen(who, choice))?.toSorted((one, other) => one - other)
  t.is(await chosen({}), undefined)
  t.is(await chosen({}, anonymous), undefined)
  t.deepEqual(await chosen({ stream: a }), [a])
  t.deepEqual(await chosen({ sensor: sensors[0] }), [a, b])
  t.deepEqual(await chosen({ sensor: sensors[0], stream: b }), [b])
  t.deepEqual(await chosen({ sensor: sensors[0], stream: c }), [])
  t.deepEqual(await chosen({ sources: ['choice'] }), [a, b, c, d])
  t.deepEqual(await chosen({ sources: ['choice', 'other choice', 'nothing'] }), [a, b, c, d, e, f])
  t.deepEqual(await chosen({ sources: ['other choice'], sensor: sensors[0] }), [])
  t.deepEqual(await chosen({ sources: ['other choice'], stream: e }), [e])
  t.deepEqual(await chosen({ sources: ['choice'], stream: e }), [])
  t.deepEqual(await chosen({ sources: ['nothing'] }), [])
  await t.throwsAsync(chosen({ stream: unknown }), { instanceOf: NotFound })
  await t.throwsAsync(chosen({ sensor: unknown }), { instanceOf: NotFound })
})

test('streams can be listed by age, in either direction, also within an area', async t => {
  const sensor = await newSensor(ann)
  const made: number[] = []
  for (const name of ['z', 'y', 'x']) made.push(await newStream(ann, sensor, { name, geometry: pointAt(-120, -77) }))
  const caller = await callerOf(bob.id)
  const areas = [{ circle: { longitude: -120, latitude: -77, radiusMetres: 10 } }] as const
  const list = async (order: 'ascending' | 'descending', query: object) => {
    const ids: string[] = []
    let after: Awaited<ReturnType<Streams['list']>>['next']
    do {
      const page = await server.get(Streams).list(caller, query, { sort: { by: 'id', order }, limit: 1, ...(after ? { after } : {}) })
      ids.push(...page.items.map(({ id }) => id))
      after = page.next
    } while (after)
    return ids
  }
  const ids = made.map(streamIdOf)
  t.deepEqual(await list('ascending', { areas }), ids)
  t.deepEqual(await list('descending', { areas }), ids.toReversed())
  t.deepEqual(await list('descending', { sensors: [sensorIdOf(sensor)] }), ids.toReversed())
  t.is(await server.get(Streams).count(caller, { areas }, 10), 3)
  t.is(await server.get(Streams).count(caller, { areas }, 2), 2)
  t.is(await server.get(Streams).count(caller, { sensors: [sensorIdOf(sensor)] }, 10), 3)
})

test('streams are found by name, properties and parameters of their readings', async t => {
  const sensor = await newSensor(ann)
  const stream = await newStream(ann, sensor, { name: 'Wobblewater probe', properties: { unit: 'furlong' } })
  const time = '2026-01-05T10:00:00Z'
  const place = { type: 'Point', coordinates: [10, 50] }
  const point = { start_time: time, end_time: time, type: 'Feature', geometry: place, properties: { nitrate: 1 }, stream_id: `${stream}` }
  t.is((await ann.post(`${G}/datapoints`, point)).status, 200)
  await server.drained()
  for (const query of ['wobblewater', 'unit:furlong', 'parameters:nitrate resource_type:stream']) {
    const { body } = await nobody.get(`/api/search?query=${encodeURIComponent(query)}`)
    t.like((body as { results: object[] }).results[0], {
      id: String(stream),
      name: 'Wobblewater probe',
      sensor_id: String(sensor),
      resource_type: 'stream',
    })
  }
})
