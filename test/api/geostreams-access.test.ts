import test from 'ava'
import { CommitConflict, DocumentStore, GeoStore, Sensors, Streams, Users } from 'pounce/sdk'
import { sensorIdOf, streamIdOf } from 'pounce/sdk/geo'
import { bootForTest } from 'pounce/sdk/testing'
import { callsOf, idsOf } from '../support/calls.ts'
import { newSensor, newStream, pointAt } from '../support/geostreams.ts'
import { newKey } from '../support/people.ts'
import { letIn, newSpace, type Somebody, somebody } from '../support/spaces-and-people.ts'

const G = '/api/geostreams'
const closed = { access: { private: true, policy: { makeGeostreamsPublicReadable: false } } }
const server = await bootForTest({ config: closed })
const [ann, bob, cid] = [await somebody(server, 'Ann'), await somebody(server, 'Bob'), await somebody(server, 'Cid')]
const nobody = callsOf(server.as())

const noData = { status: 'No data found' }
const [shared, own] = [await newSpace(ann), await newSpace(ann)]
await letIn(ann, shared, 'Viewer', bob)
const sensors = {
  shared: await newSensor(ann, { name: 'shared', spaces: [shared] }),
  own: await newSensor(ann, { name: 'own', spaces: [own] }),
}
const streams = { shared: await newStream(ann, sensors.shared), own: await newStream(ann, sensors.own) }
const geometry = { type: 'Point', coordinates: [0, 0] } as const
const reading = (id: number, stream: number) => ({ id, stream, startMs: 0, endMs: 0, createdMs: 0, geometry, properties: {} })
await server.get(GeoStore).insert([reading(1_000_001, streams.shared), reading(1_000_002, streams.own), reading(1_000_003, streams.own)])
await server.drained()
test.after.always(() => server.stop())

const texts = (...numbers: readonly number[]) => numbers.map(String)

test('if geostreams are not public, lists, counts, ids and search show callers only their own and those of their spaces', async t => {
  for (const path of ['sensors', 'streams', `sensors/${sensors.shared}`, `streams/${streams.shared}`, 'counts', 'config'])
    t.is((await nobody.get(`${G}/${path}`)).status, 401, path)
  const seen: readonly (readonly [Somebody, readonly number[], readonly number[], object])[] = [
    [ann, [sensors.own, sensors.shared], [streams.shared, streams.own], { sensors: 2, streams: 2, datapoints: 3 }],
    [bob, [sensors.shared], [streams.shared], { sensors: 1, streams: 1, datapoints: 1 }],
  ]
  for (const [person, ofSensors, ofStreams, counts] of seen) {
    t.deepEqual(await idsOf(person.get(`${G}/sensors`)), texts(...ofSensors))
    t.deepEqual(await idsOf(person.get(`${G}/sensors?geocode=40.1,-88.2,1`)), texts(...ofSensors))
    t.deepEqual(await idsOf(person.get(`${G}/streams`)), texts(...ofStreams))
    t.deepEqual((await person.get(`${G}/counts`)).body, counts)
    const { results } = (await person.get('/api/search?resource_type=sensor')).body as { results: { id: string }[] }
    t.deepEqual(results.map(({ id }) => id).toSorted(), texts(...ofSensors).toSorted())
  }
  t.deepEqual((await cid.get(`${G}/sensors`)).body, [])
  t.deepEqual((await cid.get(`${G}/streams`)).body, noData)
  t.deepEqual((await cid.get(`${G}/counts`)).body, { sensors: 0, streams: 0, datapoints: 0 })
  for (const path of [`sensors/${sensors.own}`, `sensors/${sensors.own}/stats`, `sensors/${sensors.own}/streams`, `streams/${streams.own}`])
    for (const person of [bob, cid]) t.is((await person.get(`${G}/${path}`)).status, 404, path)
  const caller = await callerOf(bob)
  t.deepEqual(await server.get(Streams).chosen(caller, {}), [streams.shared])
  t.deepEqual(await server.get(Streams).chosen(caller, { sources: ['station'] }), [streams.shared])
  await t.throwsAsync(server.get(Streams).chosen(caller, { stream: streams.own }), { message: /^Stream not found/ })
  await t.throwsAsync(server.get(Streams).chosen(caller, { sensor: sensors.own }), { message: /^Sensor not found/ })
})

test('making a server private applies to searches, suggestions and facets at once', async t => {
  const own = await bootForTest({ t, config: { access: { policy: { makeGeostreamsPublicReadable: false } } } })
  const [dan, eve] = [await somebody(own, 'Dan'), await somebody(own, 'Eve')]
  await newStream(dan, await newSensor(dan, { name: 'hidden', properties: { secretive: 'oak' } }))
  await own.drained()
  const visible = async ({ get }: Pick<Somebody, 'get'>) => {
    const paths = ['fields?prefix=secr', 'values?field=secretive', '?resource_type=sensor&facets=type,creator']
    return JSON.stringify(
      await Promise.all(paths.map(async path => (await get(`/api/search${path.startsWith('?') ? '' : '/'}${path}`)).body)),
    )
  }
  t.regex(await visible(eve), /secretive.*oak.*"sensor".*Dan/)
  const choice = { method: 'PUT', json: { private: true } }
  t.is((await own.as(own.admin.key)('/api/admin/access', choice)).status, 200)
  t.notRegex(await visible(eve), /secretive|oak|"sensor"|Dan/)
  t.regex(await visible(dan), /secretive.*oak/)
})

const callerOf = async ({ id }: Somebody) => {
  const users = server.get(Users)
  const user = await users.get(id)
  if (!user) throw new Error(`no user ${id}`)
  return users.callerOf(user)
}

test('former members of a space no longer see its streams, even before these are updated', async t => {
  const [ivy, jon] = [await somebody(server, 'Ivy'), await somebody(server, 'Jon')]
  const space = await newSpace(ivy)
  await letIn(ivy, space, 'Viewer', jon)
  const sensor = await newSensor(ivy, { spaces: [space] })
  const stream = await newStream(ivy, sensor, { name: 'left behind' })
  t.deepEqual(await idsOf(jon.get(`${G}/streams?stream_name=left%20behind`)), texts(stream))
  await ivy.put(`${G}/sensors/${sensor}`, { spaces: [] })
  await server.drained()
  // Simulates streams that have not been updated yet.
  await server.get(Streams).change(streamIdOf(stream), { set: { spaces: [space] } }, [])
  t.deepEqual((await jon.get(`${G}/streams?stream_name=left%20behind`)).body, noData)
  t.is((await jon.get(`${G}/streams/${stream}`)).status, 404)
  await ivy.remove(`${G}/sensors/${sensor}`)
})

test('rights on a sensor or stream are explained by its numeric id', async t => {
  const ask = (type: string, id: string | number, permission = 'AddGeoStream') =>
    bob.get(`/api/permissions/explain?permission=${permission}&type=${type}&id=${id}`)
  t.like((await ask('sensor', sensors.shared)).body as object, { verdict: 'no', resource: { type: 'sensor', id: String(sensors.shared) } })
  const { body } = await ask('stream', streams.shared, 'ViewGeoStream')
  t.like(body as object, { verdict: 'yes', resource: { type: 'stream', id: String(streams.shared) } })
  const because = (body as { because: readonly string[] }).because.join('\n')
  t.regex(because, new RegExp(`sensor ${sensors.shared}\\b`))
  t.notRegex(because, /0000000/)
  for (const id of [sensors.own, 999_999, 'nonsense', sensorIdOf(sensors.shared)]) t.is((await ask('sensor', id)).status, 404, String(id))
})

test('ReadOnly accounts and limited keys are confined to their rights', async t => {
  const dan = await somebody(server, 'Dan')
  const space = await newSpace(dan)
  const [inside, outside] = [await newSensor(dan, { spaces: [space] }), await newSensor(dan)]
  const key = async (query: string) => callsOf(server.as(await newKey(server, dan.email, dan.password, `name=${query}`)))
  const [held, reads] = [await key(`held&spaces=${space}`), await key('reads&verbs=read')]
  const body = { name: 'x', type: 'Feature', geometry: pointAt(0, 0), properties: {} }
  t.deepEqual(await idsOf(held.get(`${G}/sensors`)), texts(inside))
  t.is((await held.get(`${G}/sensors/${outside}`)).status, 404)
  t.is((await held.post(`${G}/sensors`, body)).status, 403)
  t.is((await held.post(`${G}/sensors`, { ...body, spaces: [space] })).status, 200)
  t.is((await held.post(`${G}/streams`, { ...body, sensor_id: outside })).status, 404)
  t.is((await held.post(`${G}/streams`, { ...body, sensor_id: inside })).status, 200)
  t.is((await held.put(`${G}/sensors/${inside}`, { spaces: [] })).status, 403)
  t.is((await reads.get(`${G}/sensors/${outside}`)).status, 200)
  t.is((await reads.post(`${G}/sensors`, body)).status, 403)
  t.is((await reads.remove(`${G}/sensors/${outside}`)).status, 403)
  await server.get(Users).change(dan.id, { set: { status: 'ReadOnly' } }, [])
  t.is((await dan.get(`${G}/sensors/${outside}`)).status, 200)
  t.is((await dan.post(`${G}/sensors`, body)).status, 403)
  t.is((await dan.put(`${G}/sensors/${outside}`, { properties: {} })).status, 403)
  t.is((await dan.remove(`${G}/sensors/${outside}`)).status, 403)
})

test('a resource created during the deletion of its parent is deleted too', async t => {
  const documents = server.get(DocumentStore)
  const eve = await somebody(server, 'Eve')
  const space = await newSpace(eve)
  const sensor = await newSensor(eve)
  const stream = await newStream(eve, sensor)
  await server.drained()
  const record = await server.get(Streams).get(streamIdOf(stream))
  const place = await server.get(Sensors).get(sensorIdOf(sensor))
  t.truthy(record && place)
  await eve.remove(`${G}/sensors/${sensor}`)
  await eve.remove(`/api/spaces/${space}`)
  await server.drained()
  const collections = await import('../../plugins/resources/geostreams/collections.ts')
  // Simulates a request whose checks preceded the deletion; the handlers of the deletion have finished.
  const late = { ...record, id: streamIdOf(900_000) } as never
  await documents.commit({ insert: late, into: collections.streams }, [
    { type: 'stream.created', subject: { kind: 'stream', id: streamIdOf(900_000) }, data: { sensor: sensorIdOf(sensor) } },
  ])
  const lateSensor = { ...place, id: sensorIdOf(900_000), spaces: [space] } as never
  await documents.commit({ insert: lateSensor, into: collections.sensors }, [
    { type: 'sensor.created', subject: { kind: 'sensor', id: sensorIdOf(900_000) }, data: {} },
  ])
  await server.drained()
  t.is(await server.get(Streams).get(streamIdOf(900_000)), undefined)
  t.deepEqual((await server.get(Sensors).get(sensorIdOf(900_000)))?.spaces, [])
  await t.throwsAsync(documents.commit({ tombstone: streamIdOf(900_000), in: collections.streams }), { instanceOf: CommitConflict })
})

test('only a server admin can drop all geostreams, which is recorded in the audit log', async t => {
  const other = await bootForTest({ t })
  const [fay, boss] = [await somebody(other, 'Fay'), callsOf(other.as(other.admin.key))]
  for (let sensor = 0; sensor < 5; sensor += 1) {
    const stream = await newStream(fay, await newSensor(fay))
    await other.get(GeoStore).insert([reading(2_000_000 + sensor, stream)])
  }
  t.is((await callsOf(other.as()).remove(`${G}/dropall`)).status, 401)
  t.is((await fay.remove(`${G}/dropall`)).status, 403)
  const everything = { sensors: 5, streams: 5, datapoints: 5 }
  t.deepEqual((await callsOf(other.as()).get(`${G}/counts`)).body, everything)
  t.deepEqual((await boss.remove(`${G}/dropall`)).body, { status: 'ok' })
  t.deepEqual((await boss.get(`${G}/sensors`)).body, [])
  await other.drained()
  t.deepEqual((await boss.get(`${G}/counts`)).body, { sensors: 0, streams: 0, datapoints: 0 })
  t.is(await other.get(GeoStore).count({}, 10), 0)
  t.true(JSON.stringify((await boss.get('/api/admin/audit?limit=20')).body).includes('admin.dropGeostreams'))
  t.deepEqual((await boss.remove(`${G}/dropall`)).body, { status: 'ok' })
})

test('settings restore the behaviour of Clowder 1.x: everyone may add, and Points of streams start with the latitude', async t => {
  const geostreams = { anybodyMayAdd: true, latitudeFirst: true, userAgreement: 'Be kind' }
  const old = await bootForTest({ t, config: { resources: { geostreams } } })
  const [gus, hal] = [await somebody(old, 'Gus'), await somebody(old, 'Hal')]
  const sensor = await newSensor(gus, { geometry: pointAt(-88, 40) })
  const stream = await hal.post(`${G}/streams`, {
    name: 's',
    type: 'Feature',
    geometry: pointAt(40, -88, 7),
    properties: {},
    sensor_id: sensor,
  })
  t.is(stream.status, 200)
  t.deepEqual((stream.body as { geometry: unknown }).geometry, pointAt(-88, 40, 7))
  const line = { type: 'LineString', coordinates: [[1, 2], [3, 4]] } // biome-ignore format: one line says it
  t.is(await newStream(hal, sensor, { geometry: line }), 2)
  t.deepEqual(((await hal.get(`${G}/streams/2`)).body as { geometry: unknown }).geometry, line)
  t.is(
    (await callsOf(old.as()).post(`${G}/streams`, { name: 's', type: 'Feature', geometry: line, properties: {}, sensor_id: sensor }))
      .status,
    401,
  )
  t.is((await hal.put(`${G}/sensors/${sensor}`, { properties: {} })).status, 403)
  t.is((await hal.remove(`${G}/streams/2`)).status, 403)
  t.is((await gus.remove(`${G}/streams/2`)).status, 200)
  const boss = callsOf(old.as(old.admin.key))
  const titles = { sensors: 'Stations', sensor: 'Station', parameters: 'Measures', parameter: 'Measure' }
  t.is((await boss.post('/api/sensors/config', titles)).status, 200)
  t.deepEqual((await callsOf(old.as()).get(`${G}/config`)).body, {
    userAgreement: 'Be kind',
    sensorsTitle: 'Stations',
    sensorTitle: 'Station',
    parametersTitle: 'Measures',
    parameterTitle: 'Measure',
  })
})
