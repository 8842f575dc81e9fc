import test from 'ava'
import { CallFailed, clientOf, GeoStore, Unavailable } from 'pounce/sdk'
import { bootForTest, MemoryGeoStore } from 'pounce/sdk/testing'
import * as upkeepRoutes from '../../plugins/resources/geostreams/routes-upkeep.ts'
import * as sensorRoutes from '../../plugins/resources/geostreams/sensors/routes.ts'
import * as streamRoutes from '../../plugins/resources/geostreams/streams/routes.ts'
import { callsOf } from '../support/calls.ts'
import { newSensor, newStream, pointAt } from '../support/geostreams.ts'
import { newPerson } from '../support/people.ts'

const G = '/api/geostreams'
const geometry = { type: 'Point', coordinates: [0, 0] } as const
const reading = (id: number, stream: number) => ({ id, stream, startMs: 0, endMs: 0, createdMs: 0, geometry, properties: { ph: 7 } })

/** A store that can be away. */
class FarGeoStore extends MemoryGeoStore {
  isAway = false
  removals = 0

  override statistics(streams: readonly number[]) {
    return this.isAway ? Promise.reject(new Unavailable('The points are away')) : super.statistics(streams)
  }

  override remove(what: Parameters<GeoStore['remove']>[0]) {
    this.removals += 1
    return this.isAway ? Promise.reject(new Unavailable('The points are away')) : super.remove(what)
  }
}

test('with the points away sensors and streams are made and deleted, and readings go when it is back', async t => {
  const far = new FarGeoStore()
  const server = await bootForTest({ t, overrides: { [GeoStore]: far } })
  const admin = callsOf(server.as(server.admin.key))
  const sensor = await newSensor(admin)
  const [stream, kept] = [await newStream(admin, sensor), await newStream(admin, await newSensor(admin))]
  await far.insert([reading(1, stream), reading(2, stream), reading(3, kept)])
  far.isAway = true
  for (const path of [`sensors/${sensor}`, 'sensors', `streams/${stream}`, 'streams', 'counts'])
    t.is((await admin.get(`${G}/${path}`)).status, 503)
  t.is((await admin.get(`${G}/sensors/${sensor}/streams`)).status, 200)
  await newStream(admin, await newSensor(admin))
  t.is((await admin.remove(`${G}/sensors/${sensor}`)).status, 200)
  await t.throwsAsync(server.drained(1500), { message: /remove-readings/ })
  t.true(far.removals > 0)
  far.isAway = false
  await server.drained(20_000)
  t.deepEqual([await far.get(1), await far.get(2)], [undefined, undefined])
  t.truthy(await far.get(3))
})

test('the typed client knows sensors and streams', async t => {
  const server = await bootForTest({ t })
  const { key } = await newPerson(server)
  const client = clientOf({ ...sensorRoutes, ...streamRoutes, ...upkeepRoutes }, { url: server.url, key })
  const body = { name: 'typed', geometry: pointAt(1, 2), properties: { a: 1 } }
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
