import test from 'ava'
import { DocumentStore, GeoStore, Invalid, Streams, Unavailable, Users } from 'pounce/sdk'
import { streamIdOf } from 'pounce/sdk/geo'
import { CallFailed, clientOf } from 'pounce/sdk/kit'
import { bootForTest, MemoryGeoStore } from 'pounce/sdk/testing'
import { streams } from '../../plugins/resources/geostreams/collections.ts'
import * as upkeepRoutes from '../../plugins/resources/geostreams/routes-upkeep.ts'
import * as sensorRoutes from '../../plugins/resources/geostreams/sensors/routes.ts'
import * as streamRoutes from '../../plugins/resources/geostreams/streams/routes.ts'
import { callsOf } from '../support/calls.ts'
import { newSensor, newStream, pointAt } from '../support/geostreams.ts'
import { newPerson } from '../support/people.ts'
import { until } from '../support/until.ts'

const G = '/api/geostreams'
const geometry = { type: 'Point', coordinates: [0, 0] } as const
const reading = (id: number, stream: number) => ({ id, stream, startMs: 0, endMs: 0, createdMs: 0, geometry, properties: { ph: 7 } })

/** A store that can be made unavailable. */
class FarGeoStore extends MemoryGeoStore {
  isUnavailable = false
  removals = 0

  override statistics(streams: readonly number[]) {
    return this.isUnavailable ? Promise.reject(new Unavailable('The points are unavailable')) : super.statistics(streams)
  }

  override remove(what: Parameters<GeoStore['remove']>[0]) {
    this.removals += 1
    return this.isUnavailable ? Promise.reject(new Unavailable('The points are unavailable')) : super.remove(what)
  }
}

test('while the store is unavailable, sensors and streams are created and deleted; readings are deleted later', async t => {
  const far = new FarGeoStore()
  const server = await bootForTest({ t, overrides: { [GeoStore]: far } })
  const admin = callsOf(server.as(server.admin.key))
  const sensor = await newSensor(admin)
  const [stream, kept] = [await newStream(admin, sensor), await newStream(admin, await newSensor(admin))]
  await far.insert([reading(1, stream), reading(2, stream), reading(3, kept)])
  far.isUnavailable = true
  for (const path of [`sensors/${sensor}`, 'sensors', `streams/${stream}`, 'streams', 'counts'])
    t.is((await admin.get(`${G}/${path}`)).status, 503)
  t.is((await admin.get(`${G}/sensors/${sensor}/streams`)).status, 200)
  await newStream(admin, await newSensor(admin))
  t.is((await admin.remove(`${G}/sensors/${sensor}`)).status, 200)
  await t.throwsAsync(server.drained(1500), { message: /remove-readings/ })
  t.true(far.removals > 0)
  far.isUnavailable = false
  await server.drained(20_000)
  t.deepEqual([await far.get(1), await far.get(2)], [undefined, undefined])
  t.truthy(await far.get(3))
})

test('numbers of datapoints whose records were lost are not used again', async t => {
  const geo = new MemoryGeoStore()
  await geo.insert([reading(1, 1), reading(2, 2), reading(3000, 2)])
  const server = await bootForTest({ t, overrides: { [GeoStore]: geo } })
  const admin = callsOf(server.as(server.admin.key))
  const stream = await newStream(admin, await newSensor(admin))
  t.true(stream > 2)
  t.deepEqual((await admin.get(`${G}/datapoints?stream_id=${stream}`)).body, [])
  const body = { start_time: '2026-01-01T00:00:00Z', type: 'Feature', geometry, properties: { ph: 8 }, stream_id: String(stream) }
  t.is((await admin.post(`${G}/datapoints`, body)).status, 200)
  t.like((await admin.get(`${G}/datapoints?stream_id=${stream}`)).body, [{ properties: { ph: 8 } }])
  t.is(await geo.count({ streams: [1, 2] }, 10), 3)
})

test('while the store is unavailable, updates are refused with 503 and change nothing', async t => {
  const far = new FarGeoStore()
  const server = await bootForTest({ t, overrides: { [GeoStore]: far } })
  const admin = callsOf(server.as(server.admin.key))
  const sensor = await newSensor(admin, { properties: { a: 1 } })
  const stream = await newStream(admin, sensor, { properties: { a: 1 } })
  far.isUnavailable = true
  t.is((await admin.put(`${G}/sensors/${sensor}`, { properties: { b: 2 } })).status, 503)
  t.is((await admin.put(`${G}/streams/${stream}`, { b: 2 })).status, 503)
  far.isUnavailable = false
  for (const path of [`sensors/${sensor}`, `streams/${stream}`])
    t.deepEqual(((await admin.get(`${G}/${path}`)).body as { properties: unknown }).properties, { a: 1 }, path)
  t.deepEqual(((await admin.put(`${G}/sensors/${sensor}`, { properties: { b: 2 } })).body as { properties: unknown }).properties, {
    a: 1,
    b: 2,
  })
  t.deepEqual(((await admin.put(`${G}/streams/${stream}`, { b: 2 })).body as { properties: unknown }).properties, { a: 1, b: 2 })
})

test('the typed client supports sensors and streams', async t => {
  const server = await bootForTest({ t })
  const { key } = await newPerson(server)
  const client = clientOf({ ...sensorRoutes, ...streamRoutes, ...upkeepRoutes }, { url: server.url, key })
  const body = { name: 'typed', type: 'Feature', geometry: pointAt(1, 2), properties: { a: 1 } }
  const { id } = (await client.createSensor({ body })).body
  const params = { id: String(id) }
  const stream = (await client.createStream({ body: { ...body, sensor_id: id } })).body
  t.is(stream.sensor_id, String(id))
  t.deepEqual((await client.getSensor({ params })).body.properties, { a: 1 })
  t.deepEqual((await client.updateSensor({ params, body: { properties: { b: 2 } } })).body.properties, { a: 1, b: 2 })
  t.deepEqual((await client.listStreams({ query: { stream_name: 'nothing', limit: 0 } })).body as unknown, { status: 'No data found' })
  t.deepEqual((await client.countGeostreams({})).body, { sensors: 1, streams: 1, datapoints: 0 })
  t.is((await client.deleteSensor({ params })).body.status, 'ok')
  const refused = await t.throwsAsync(client.getSensor({ params }), { instanceOf: CallFailed })
  t.is(refused.status, 404)
})

test('readings of more than 10,000 streams are counted, but cannot be selected by callers who may not view all', async t => {
  const server = await bootForTest({ t, config: { access: { private: true, policy: { makeGeostreamsPublicReadable: false } } } })
  const person = await newPerson(server)
  const owner = callsOf(person.call)
  const sensor = await newSensor(owner)
  const first = await newStream(owner, sensor)
  const documents = server.get(DocumentStore)
  const made = await documents.get(streams, streamIdOf(first))
  if (!made) throw new Error('no stream')
  const copies = Array.from({ length: 10_000 }, (_, at) => ({ change: { insert: { ...made, id: streamIdOf(1_000 + at) }, into: streams } }))
  for (let at = 0; at < copies.length; at += 1000) await documents.commitEach(copies.slice(at, at + 1000))
  await server.get(GeoStore).insert([reading(1, first), reading(2, 1_000), reading(3, 10_999)])
  t.deepEqual((await callsOf(server.as(server.admin.key)).get(`${G}/counts?superAdmin=true`)).body, {
    sensors: 1,
    streams: 10_001,
    datapoints: 3,
  })
  const user = await server.get(Users).get(person.id)
  const caller = user && (await server.get(Users).callerOf(user))
  if (!caller) throw new Error('no caller')
  await t.throwsAsync(server.get(Streams).chosen(caller, {}), { instanceOf: Invalid, message: /10000 streams/ })
  t.is(await server.get(Streams).chosen({ ...caller, superAdmin: true }, {}), undefined)
  t.deepEqual(await server.get(Streams).chosen(caller, { stream: first }), [first])
})

test('rebuilding the search index includes sensors and streams', async t => {
  const server = await bootForTest({ t })
  const admin = callsOf(server.as(server.admin.key))
  await newStream(admin, await newSensor(admin, { name: 'phoenix tower' }), { name: 'phoenix ash' })
  await server.drained()
  const kinds = async () => {
    const { results } = (await admin.get('/api/search?query=phoenix')).body as { results: { resource_type: string }[] }
    return results.map(({ resource_type }) => resource_type).toSorted()
  }
  t.deepEqual(await kinds(), ['sensor', 'stream'])
  t.is((await admin.post('/api/deleteindex')).status, 200)
  t.deepEqual(await kinds(), [])
  t.is((await admin.post('/api/reindex')).status, 200)
  await until('both to be found again', async () => (await kinds()).length === 2)
  t.deepEqual(await kinds(), ['sensor', 'stream'])
})
