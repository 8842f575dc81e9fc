import test from 'ava'
import { GeoStore, Streams } from 'pounce/sdk'
import { streamIdOf } from 'pounce/sdk/geo'
import { bootForTest } from 'pounce/sdk/testing'
import { callsOf } from '../support/calls.ts'
import { newSensor, newStream } from '../support/geostreams.ts'
import { addressOf, idsOf, sta, staAll } from '../support/sensorthings.ts'
import { letIn, newSpace, somebody } from '../support/spaces-and-people.ts'

const closed = { access: { private: true, policy: { makeGeostreamsPublicReadable: false } } }
const server = await bootForTest({ config: closed })
const [ann, bob, cid] = [await somebody(server, 'Ann'), await somebody(server, 'Bob'), await somebody(server, 'Cid')]
const [shared, own] = [await newSpace(ann), await newSpace(ann)]
await letIn(ann, shared, 'Viewer', bob)
const sensors = [
  await newSensor(ann, { name: 'shared', spaces: [shared] }),
  await newSensor(ann, { name: 'own', spaces: [own] }),
  await newSensor(ann, { name: 'shared too', spaces: [shared] }),
] as const
const streams = await Promise.all(sensors.map(sensor => newStream(ann, sensor)))
const [open = 0, secret = 0, openToo = 0] = streams
const geometry = { type: 'Point', coordinates: [0, 0] } as const
await server.get(GeoStore).insert(
  [open, secret, openToo].flatMap((stream, at) =>
    [0, 1, 2].map(n => ({
      ...{ id: 1_000_000 + at * 10 + n, stream, startMs: n * 1000, endMs: null, createdMs: 0, geometry },
      properties: at === 1 ? { level: n, hidden: n } : { level: n },
    })),
  ),
)
await server.drained()
test.after.always(() => server.stop())

const status = async (who: { call: (path: string) => Promise<Response> }, path: string): Promise<number> =>
  (await who.call(addressOf(path))).status

test('callers who may not read geostreams get nothing', async t => {
  for (const path of ['', '/Things', `/Things(${sensors[0]})`, '/Observations', `/Things(${sensors[0]})/name/$value`, '/Nothing'])
    t.is((await server.as()(addressOf(path))).status, 401, path)
  const sets = ['Things', 'Locations', 'Sensors', 'Datastreams', 'ObservedProperties', 'Observations', 'FeaturesOfInterest']
  for (const set of sets) {
    t.deepEqual(await staAll(cid.call, server, `/${set}`), [], set)
    t.is((await sta(cid.call, `/${set}?$count=true`))['@iot.count'], 0, set)
  }
})

test('lists, counts and pages contain only what the caller may view', async t => {
  const seen = { Things: 2, Locations: 2, Sensors: 2, Datastreams: 2, ObservedProperties: 1, Observations: 6, FeaturesOfInterest: 6 }
  const texts = ['Datastreams', 'ObservedProperties', 'Observations']
  for (const [set, count] of Object.entries(seen))
    for (const options of ['$top=1', '$top=100', `$top=2&$filter=id ne ${texts.includes(set) ? "'x'" : 0}`])
      t.is((await staAll(bob.call, server, `/${set}?${options}`)).length, count, `${set} ${options}`)
  for (const [set, count] of Object.entries(seen)) t.is((await sta(bob.call, `/${set}?$count=true&$top=1`))['@iot.count'], count, set)
  t.deepEqual(idsOf((await sta(bob.call, '/Things')).value), [sensors[0], sensors[2]])
  t.is((await staAll(ann.call, server, '/Things')).length, 3)
  t.is((await sta(ann.call, '/Observations?$count=true'))['@iot.count'], 12)
})

test('invisible resources are not found, by any path, filter or forged link', async t => {
  const hidden = [
    ...[`/Things(${sensors[1]})`, `/Locations(${sensors[1]})`, `/Sensors(${sensors[1]})/Datastreams`, `/Things(${sensors[1]})/name/$value`],
    ...[`/Datastreams('${secret}:level')`, `/Datastreams('${secret}:level')/Observations`, `/Datastreams('${secret}:level')/Thing`],
    ...["/Observations('1000010:level')", "/Observations('1000010:level')/Datastream/Thing", '/FeaturesOfInterest(1000010)'],
    ...['/FeaturesOfInterest(1000010)/Observations', "/ObservedProperties('hidden')"],
  ]
  for (const path of hidden) {
    t.is(await status(bob, path), 404, path)
    t.is(await status(ann, path), 200, path)
  }
  const none = [
    ...[`/Things?$filter=id eq ${sensors[1]}`, "/Things?$filter=name eq 'own'", `/Datastreams?$filter=id eq '${secret}:level'`],
    ...[`/Datastreams?$filter=Thing/id eq ${sensors[1]}`, `/Observations?$filter=Datastream/id eq '${secret}:level'`],
    ...["/Observations?$filter=id eq '1000010:level'", "/ObservedProperties?$filter=id eq 'hidden'"],
    ...["/Datastreams?$filter=ObservedProperty/name eq 'hidden'", '/FeaturesOfInterest?$filter=id eq 1000010'],
  ]
  for (const path of none) t.deepEqual((await sta(bob.call, path)).value, [], path)
  const forged: readonly (readonly [string, readonly unknown[]])[] = [
    ['Observations', [1_000_010, secret, 0, '']],
    ['Datastreams', [streamIdOf(secret), '', '']],
  ]
  for (const [set, cursor] of forged) {
    const token = Buffer.from(JSON.stringify(cursor)).toString('base64url')
    const { value } = await sta(bob.call, `/${set}?$skiptoken=${token}`)
    t.false(JSON.stringify(value).includes('hidden'), set)
    t.false(
      idsOf(value).some(id => String(id).startsWith(`${secret}:`) || String(id).startsWith('100001')),
      set,
    )
  }
})

test('a server admin in superadmin mode sees all, on every page', async t => {
  const admin = server.as(server.admin.key)
  const all = await staAll(admin, server, "/Things?superAdmin=true&$top=1&$filter=name ne 'short-lived'")
  t.is(all.length, 3)
  t.is((await staAll(admin, server, '/Things?$top=1')).length, 0)
})

test('readings of a deleted stream are deleted with it', async t => {
  const dan = await somebody(server, 'Dan')
  const sensor = await newSensor(dan, { name: 'short-lived' })
  const stream = await newStream(dan, sensor)
  const point = { id: 2_000_000, stream, startMs: 0, endMs: null, createdMs: 0, geometry, properties: { level: 1 } }
  await server.get(GeoStore).insert([point])
  t.is(await status(dan, "/Observations('2000000:level')"), 200)
  t.is((await callsOf(dan.call).remove(`/api/geostreams/streams/${stream}`)).status, 200)
  t.is(await status(dan, "/Observations('2000000:level')"), 404)
  const admin = server.as(server.admin.key)
  t.false(idsOf(await staAll(admin, server, '/Observations?superAdmin=true')).includes('2000000:level'))
  t.is(await server.get(Streams).get(streamIdOf(stream)), undefined)
})
