import test from 'ava'
import { GeoStore, Streams } from 'pounce/sdk'
import { streamIdOf } from 'pounce/sdk/geo'
import { bootForTest, type TestServer } from 'pounce/sdk/testing'
import { badGeometries, badProperties, badTimes } from '../support/bad-geo.ts'
import { callsOf } from '../support/calls.ts'
import { newSensor, newStream, pointAt } from '../support/geostreams.ts'
import { newKey } from '../support/people.ts'
import { letIn, newSpace, type Somebody, somebody } from '../support/spaces-and-people.ts'

let server: TestServer
let ann: Somebody
let stranger: Somebody
let sensor: number
let stream: number

test.before(async () => {
  server = await bootForTest()
  ann = await somebody(server, 'ann')
  stranger = await somebody(server, 'stranger')
  sensor = await newSensor(ann, { name: 'Allerton "north"' })
  stream = await newStream(ann, sensor)
})
test.after.always(() => server?.stop())

const path = '/api/geostreams/datapoints'
const sent = (more: object = {}) => ({
  start_time: '2017-01-25T09:33:02-06:00',
  end_time: '2017-01-25T09:43:02-06:00',
  type: 'Feature',
  geometry: pointAt(-88.2, 40.1, 221.5),
  properties: { nitrate: 3.5 },
  stream_id: String(stream),
  ...more,
})
const made = async (more: object = {}): Promise<number> => ((await ann.post(path, sent(more))).body as { id: number }).id

test('a datapoint is returned as it was sent, with its sensor, and can be read by its id', async t => {
  const { status, body } = await ann.post(path, sent())
  t.is(status, 200)
  const { id, created, ...rest } = body as Record<string, unknown>
  t.true(Number.isSafeInteger(id))
  t.regex(String(created), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z$/)
  t.deepEqual(rest, {
    start_time: '2017-01-25T15:33:02Z',
    end_time: '2017-01-25T15:43:02Z',
    properties: { nitrate: 3.5 },
    type: 'Feature',
    geometry: pointAt(-88.2, 40.1, 221.5),
    stream_id: String(stream),
    sensor_id: String(sensor),
    sensor_name: 'Allerton "north"',
  })
  t.deepEqual((await server.as()(`${path}/${id}`)).status, 200)
  t.deepEqual((await stranger.get(`${path}/${id}`)).body, body)
})

test('a numeric stream id, no end, a blank instead of T, two coordinates and fractional seconds are accepted', async t => {
  const more = { stream_id: stream, end_time: undefined, start_time: '2017-01-25 09:33:02.125-06:00', geometry: pointAt(1, 2) }
  const { status, body } = await ann.post(`${path}?invalidateCache=true`, sent(more))
  t.is(status, 200)
  t.like(body, { start_time: '2017-01-25T15:33:02.125Z', end_time: null, geometry: pointAt(1, 2) })
})

test('hostile names, strings and nested values are returned unchanged', async t => {
  const properties = {
    'a"b\'c': "'; DROP TABLE points; --",
    '$.a[0]': { deep: [1, null, { x: '\\u0000' }] },
    'ключ 🧪': '=HYPERLINK("http://x")',
    '': '',
    hasOwnProperty: 1,
    toString: false,
  }
  const id = await made({ properties })
  t.deepEqual(((await ann.get(`${path}/${id}`)).body as { properties: unknown }).properties, properties)
})

for (const [title, geometry] of badGeometries)
  test(`an invalid geometry is refused with 400, naming the field: ${title}`, async t => {
    const { status, body } = await ann.post(path, sent({ geometry }))
    t.is(status, 400)
    t.regex((body as { message: string }).message, /geometry/)
  })
for (const [title, start_time] of badTimes)
  test(`an invalid start or end is refused with 400, naming the field: ${title}`, async t => {
    const { status, body } = await ann.post(path, sent({ start_time }))
    t.is(status, 400)
    t.regex((body as { message: string }).message, /start_time/)
    const end = await ann.post(path, sent({ end_time: start_time }))
    t.is(end.status, 400)
    t.regex((end.body as { message: string }).message, /end_time/)
  })
for (const [title, properties] of badProperties)
  test(`invalid properties are refused with 400: ${title}`, async t => {
    t.is((await ann.post(path, sent({ properties }))).status, 400)
  })

test('an end before the start and missing fields are refused with 400, naming the field', async t => {
  const { status, body } = await ann.post(path, sent({ end_time: '2017-01-25T09:33:01-06:00' }))
  t.is(status, 400)
  t.is((body as { message: string }).message, 'end_time (2017-01-25T15:33:01.000Z) is before start_time (2017-01-25T15:33:02.000Z)')
  for (const name of ['start_time', 'type', 'geometry', 'properties', 'stream_id']) {
    const refused = await ann.post(path, sent({ [name]: undefined }))
    t.is(refused.status, 400, name)
    t.regex((refused.body as { message: string }).message, new RegExp(name))
  }
})

test('an unknown stream gets 404, an invalid stream id 400', async t => {
  t.is((await ann.post(path, sent({ stream_id: '99999999' }))).status, 404)
  t.is((await ann.post(path, sent({ stream_id: "1' OR '1'='1" }))).status, 400)
  t.is((await ann.post(path, sent({ stream_id: '-1' }))).status, 400)
})

test('only callers with permission on the sensor may add or delete datapoints', async t => {
  t.is((await stranger.post(path, sent())).status, 403)
  t.is((await callsOf(server.as()).post(path, sent())).status, 401)
  const id = await made()
  t.is((await stranger.remove(`${path}/${id}`)).status, 403)
  t.is((await callsOf(server.as()).remove(`${path}/${id}`)).status, 401)
  t.is((await ann.get(`${path}/${id}`)).status, 200)
})

test('an editor of a space of the sensor may add datapoints, a viewer may not', async t => {
  const [editor, viewer] = [await somebody(server, 'editor'), await somebody(server, 'viewer')]
  const space = await newSpace(ann)
  await letIn(ann, space, 'Editor', editor)
  await letIn(ann, space, 'Viewer', viewer)
  const own = await newStream(ann, await newSensor(ann, { spaces: [space] }))
  await server.drained()
  t.is((await editor.post(path, sent({ stream_id: String(own) }))).status, 200)
  t.is((await viewer.post(path, sent({ stream_id: String(own) }))).status, 403)
})

test('limited keys are restricted to their verbs and spaces', async t => {
  const space = await newSpace(ann)
  const own = await newStream(ann, await newSensor(ann, { spaces: [space] }))
  await server.drained()
  const with_ = async (query: string) => callsOf(server.as(await newKey(server, ann.email, ann.password, query)))
  const reading = await with_('name=reading&verbs=read')
  const held = await with_(`name=held&spaces=${space}`)
  t.is((await reading.post(path, sent())).status, 403)
  t.is((await reading.get(`${path}/${await made()}`)).status, 200)
  t.is((await held.post(path, sent({ stream_id: String(own) }))).status, 200)
  t.is((await held.post(path, sent())).status, 404)
  await made()
  t.deepEqual(
    new Set(((await held.get(path)).body as readonly { stream_id: string }[]).map(each => each.stream_id)),
    new Set([String(own)]),
  )
  t.is((await held.get(`${path}?stream_id=${stream}`)).status, 404)
  t.is((await held.get(`${path}/${await made()}`)).status, 404)
})

test('a deleted datapoint is no longer found, and the statistics of its stream are updated', async t => {
  const own = await newStream(ann, sensor)
  const id = await made({ stream_id: String(own) })
  const { body, status } = await ann.remove(`${path}/${id}`)
  t.is(status, 200)
  t.deepEqual(body, { status: 'ok' })
  t.is((await ann.get(`${path}/${id}`)).status, 404)
  t.is((await ann.remove(`${path}/${id}`)).status, 404)
  t.is((await ann.get(`${path}?stream_id=${own}&onlyCount=true`)).status, 200)
  t.deepEqual((await ann.get(`${path}?stream_id=${own}&onlyCount=true`)).body, { datapointsLength: 0 })
})

for (const id of ['99999999', 'abc', '0', '-1', '1.5', '1e3', '9007199254740993', '99999999999999999999', "1'--"])
  test(`datapoint ${id} is not found`, async t => {
    const at = `${path}/${encodeURIComponent(id)}`
    t.is((await ann.get(at)).status, 404)
    t.is((await ann.remove(at)).status, 404)
  })

test('datapoints are deleted with their stream', async t => {
  const own = await newStream(ann, sensor)
  const id = await made({ stream_id: String(own) })
  t.is((await ann.remove(`/api/geostreams/streams/${own}`)).status, 200)
  t.is((await ann.get(`${path}/${id}`)).status, 404)
  await server.drained()
  t.is(await server.get(GeoStore).get(id), undefined)
})

test('a stream records its last change and the parameters of its datapoints', async t => {
  const own = await newStream(ann, sensor)
  await made({ stream_id: String(own), properties: { nitrate: 1, depth: 2 } })
  const last = await made({ stream_id: String(own), properties: { nitrate: 1, site: 'A' } })
  const record = await server.get(Streams).get(streamIdOf(own))
  const point = await server.get(GeoStore).get(last)
  t.true(Date.parse(record?.changed ?? '') >= (point?.createdMs ?? Number.NaN))
  t.deepEqual(record?.parameters.toSorted(), ['depth', 'nitrate', 'site'])
})

test('anybodyMayAdd lets active accounts add to visible streams; latitudeFirst reads single points latitude first', async t => {
  const config = { resources: { geostreams: { anybodyMayAdd: true, latitudeFirst: true } } }
  const open = await bootForTest({ t, config })
  const [owner, other] = [await somebody(open, 'owner'), await somebody(open, 'other')]
  const own = await newStream(owner, await newSensor(owner), { geometry: pointAt(40.1, -88.2, 0) })
  const more = { stream_id: String(own), geometry: pointAt(40.1, -100.2, 5) }
  const { status, body } = await other.post(path, sent(more))
  t.is(status, 200)
  t.like(body, { geometry: pointAt(-100.2, 40.1, 5) })
  const bulk = await other.post(`${path}/bulk`, { datapoints: [sent(more)], stream_id: own })
  t.is(bulk.status, 400)
  t.is((await other.post(`${path}/bulk`, { datapoints: [sent({ ...more, geometry: pointAt(-100.2, 40.1) })], stream_id: own })).status, 200)
  t.is((await other.remove(`${path}/${(body as { id: number }).id}`)).status, 403)
  t.is((await callsOf(open.as()).post(path, sent(more))).status, 401)
  t.is((await other.post(path, sent({ ...more, stream_id: '777777' }))).status, 404)
  t.is((await other.post(path, sent({ ...more, geometry: pointAt(95, 1) }))).status, 400)
  const wrong = await other.post(path, sent({ ...more, geometry: pointAt(-100.2, 40.1) }))
  t.is(wrong.status, 400)
  t.regex((wrong.body as { message: string }).message, /latitude of -100\.2 .*latitude comes first/)
})
