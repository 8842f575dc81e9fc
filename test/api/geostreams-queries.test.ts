import test from 'ava'
import { GeoStore, Streams } from 'pounce/sdk'
import { streamIdOf } from 'pounce/sdk/geo'
import { bootForTest, type TestServer } from 'pounce/sdk/testing'
import { callsOf, nextOf } from '../support/calls.ts'
import { newSensor, newStream, pointAt } from '../support/geostreams.ts'
import { letIn, newSpace, type Somebody, somebody } from '../support/spaces-and-people.ts'

let server: TestServer
let ann: Somebody
/** Two sensors of the source `water`, one of the source 7, a number; a stream each. */
let sensors: readonly number[]
let streams: readonly number[]

const path = '/api/geostreams/datapoints'
type Shown = Readonly<Record<string, unknown>> & { readonly id: number; readonly properties: Readonly<Record<string, unknown>> }

const point = (stream: number, start: string, end: string | undefined, place: readonly [number, number], properties: object) => ({
  ...{ stream_id: String(streams[stream]), start_time: start, end_time: end, type: 'Feature' },
  ...{ geometry: pointAt(...place), properties },
})

test.before(async () => {
  server = await bootForTest()
  ann = await somebody(server, 'ann')
  const sources = ['water', 'water', 7]
  sensors = await Promise.all(sources.map((id, n) => newSensor(ann, { name: `station ${n}`, properties: { type: { id } } })))
  streams = await Promise.all(sensors.map(sensor => newStream(ann, sensor)))
  const { status, body } = await ann.post(`${path}/bulk`, [
    point(0, '2017-01-10T00:00:00Z', '2017-01-10T01:00:00Z', [-88, 40], { n: 1, site: 'A1', source: 'x' }),
    point(0, '2017-08-10T00:00:00Z', '2017-08-11T00:00:00Z', [-88.1, 40.1], { n: 2, site: 'B2', "it's": { a: [1, { b: 2 }] } }),
    point(1, '2017-06-30T12:00:00Z', '2017-07-01T12:00:00Z', [10, 50], { n: 3, 'a:b': 1 }),
    point(1, '2018-02-01T00:00:00Z', undefined, [10.001, 50], { n: 4, tags: ['red', 'green'], 'ö"': true }),
    point(2, '2018-12-31T23:00:00Z', '2019-01-01T01:00:00Z', [179, -10], { n: 5, depth: 2 }),
  ])
  if (status !== 200) throw new Error(JSON.stringify(body))
})
test.after.always(() => server?.stop())

const searchOf = (query: Readonly<Record<string, string | readonly string[]>>): URLSearchParams =>
  new URLSearchParams(
    Object.entries(query).flatMap(([name, value]) => [value].flat().map((each): [string, string] => [name, String(each)])),
  )

const requested = async (query: Readonly<Record<string, string | readonly string[]>>): Promise<readonly Shown[]> => {
  const search = searchOf(query)
  const { status, body } = await ann.get(`${path}?${search}`)
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`)
  return body as readonly Shown[]
}
const starts = ['2017-01-10T00:00:00Z', '2017-08-10T00:00:00Z', '2017-06-30T12:00:00Z', '2018-02-01T00:00:00Z', '2018-12-31T23:00:00Z']
/** The `n` of the results. */
const found = async (query: Readonly<Record<string, string | readonly string[]>>) =>
  (await requested(query)).map(shown => starts.indexOf(String(shown['start_time'])) + 1)

test('datapoints are sorted by start time and include their stream and sensor', async t => {
  const all = await requested({})
  t.deepEqual(
    all.map(({ properties }) => properties['n']),
    [1, 3, 2, 4, 5],
  )
  t.like(all[1], {
    ...{ start_time: '2017-06-30T12:00:00Z', end_time: '2017-07-01T12:00:00Z', type: 'Feature', geometry: pointAt(10, 50) },
    ...{ stream_id: String(streams[1]), sensor_id: String(sensors[1]), sensor_name: 'station 1' },
  })
  const { body } = await ann.get(`${path}/${all[1]?.id}`)
  t.deepEqual(all[1], body as Shown)
})

const square = {
  type: 'Polygon',
  coordinates: [
    [
      [9, 49],
      [11, 49],
      [11, 51],
      [9, 51],
      [9, 49],
    ],
  ],
}

const questions: readonly (readonly [
  title: string,
  query: () => Readonly<Record<string, string | readonly string[]>>,
  n: readonly number[],
])[] = [
  ['a stream', () => ({ stream_id: String(streams[0]) }), [1, 2]],
  ['a sensor', () => ({ sensor_id: String(sensors[1]) }), [3, 4]],
  ['a sensor and a stream of another sensor', () => ({ sensor_id: String(sensors[1]), stream_id: String(streams[0]) }), []],
  ['a source', () => ({ sources: 'water' }), [1, 3, 2, 4]],
  ['several sources, one of them a number', () => ({ sources: ['7', 'none'] }), [5]],
  ['a source that no sensor has', () => ({ sources: "'; --" }), []],
  ['a start time', () => ({ since: '2017-08-10T00:00:00Z' }), [2, 4, 5]],
  ['a start time with a space, in another time zone', () => ({ since: '2017-08-09 19:00:00.001-05:00' }), [4, 5]],
  ['an end time, which excludes datapoints without one', () => ({ until: '2018-12-01T00:00:00Z' }), [1, 3, 2]],
  ['a start and an end time', () => ({ since: '2017-02-01T00:00:00Z', until: '2017-07-01T12:00:00Z' }), [3]],
  ['a circle', () => ({ geocode: '50,10,0.05' }), [3]],
  ['a wider circle', () => ({ geocode: '50,10,1' }), [3, 4]],
  ['a polygon', () => ({ geocode: '39,-89,39,-87,41,-87,41,-89' }), [1, 2]],
  ['GeoJSON', () => ({ geojson: JSON.stringify(square) }), [3, 4]],
  ['GeoJSON and a time', () => ({ geojson: JSON.stringify(square), since: '2018-01-01T00:00:00Z' }), [4]],
  ['GeoJSON, which takes precedence over a circle', () => ({ geojson: JSON.stringify(square), geocode: '40,-88,1' }), [3, 4]],
  ['a name', () => ({ attributes: 'site' }), [1, 2]],
  ['one of several names', () => ({ attributes: ['tags', 'depth'] }), [4, 5]],
  ['a name and a value', () => ({ attributes: 'site:"A1"' }), [1]],
  ['JSON', () => ({ attributes: '{"site":"A1"}' }), [1]],
  ['one of several values', () => ({ attributes: ['{"site":"A1"}', '{"depth":2}'] }), [1, 5]],
  ['a part of a list', () => ({ attributes: '{"tags":["red"]}' }), [4]],
  ['a part of a nested value', () => ({ attributes: `{"it's":{"a":[{"b":2}]}}` }), [2]],
  ['a number sent as a string', () => ({ attributes: '{"n":"1"}' }), []],
  ['a name with a colon', () => ({ attributes: '{"a:b":1}' }), [3]],
  ['a name with quotes', () => ({ attributes: "it's" }), [2]],
  ['a name with non-ASCII letters', () => ({ attributes: 'ö"' }), [4]],
  ['SQL', () => ({ attributes: "x') OR 1=1 --" }), []],
  ['a JSON path', () => ({ attributes: '$.n' }), []],
  ['spring', () => ({ semi: 'spring' }), [1, 3, 4, 5]],
  ['summer', () => ({ semi: 'summer' }), [3, 2, 5]],
  ['empty parameters', () => ({ geocode: '', since: '', stream_id: '', sources: '', attributes: '', semi: '' }), [1, 3, 2, 4, 5]],
  ['a repeated source', () => ({ sources: ['water', 'water'] }), [1, 3, 2, 4]],
]
for (const [title, query, n] of questions)
  test(`selected by ${title}`, async t => {
    t.deepEqual(await found(query()), [...n])
    const counted = await ann.get(`${path}?${searchOf(query())}&onlyCount=true`)
    t.deepEqual(counted.body, { datapointsLength: n.length })
  })

test('with names only, just these properties and the source are returned', async t => {
  const [first] = await requested({ attributes: ['site', 'depth'] })
  t.deepEqual(first?.properties, { site: 'A1', source: 'x' })
  const [whole] = await requested({ attributes: ['site', '{"depth":2}'] })
  t.deepEqual(whole?.properties, { n: 1, site: 'A1', source: 'x' })
})

test('results are sorted by start or stream, in either order', async t => {
  t.deepEqual(await found({ sort: 'start_time', order: 'desc' }), [5, 4, 2, 3, 1])
  t.deepEqual(await found({ sort: 'stream' }), streamOrder([1, 2], [3, 4], [5]))
  t.deepEqual(await found({ sort: 'stream', order: 'desc' }), streamOrder([1, 2], [3, 4], [5]).toReversed())
})
const streamOrder = (...of: readonly (readonly number[])[]) =>
  streams
    .map((stream, n) => ({ stream, of: of[n] ?? [] }))
    .toSorted((one, other) => one.stream - other.stream)
    .flatMap(each => each.of)

for (const sort of ['start_time', 'stream'])
  for (const order of ['asc', 'desc'])
    test(`pages sorted by ${sort} ${order} return every datapoint once`, async t => {
      const whole = await found({ sort, order })
      const paged: unknown[] = []
      for (let next: string | undefined = `${path}?sort=${sort}&order=${order}&limit=2`; next !== undefined; ) {
        const answer = await ann.get(next)
        const page = answer.body as readonly Shown[]
        t.true(page.length <= 2)
        paged.push(...page.map(({ properties }) => properties['n']))
        next = nextOf(answer)
      }
      t.deepEqual(paged, [...whole])
    })

test('GeoJSON is a collection of the same features', async t => {
  const { status, body, headers } = await ann.get(`${path}?format=geojson`)
  t.is(status, 200)
  t.regex(headers.get('content-type') ?? '', /json/)
  t.deepEqual(body, { type: 'FeatureCollection', features: await requested({}) })
  t.deepEqual((await ann.get(`${path}?format=geojson&since=2030-01-01T00:00:00Z`)).body, { type: 'FeatureCollection', features: [] })
  t.deepEqual(await requested({ since: '2030-01-01T00:00:00Z' }), [])
})

const wrong: readonly (readonly [query: string, names: RegExp])[] = [
  ['since=yesterday', /since/],
  ['since=2017-01-01T00:00:', /since/],
  ['until=2017-02-30T00:00:00Z', /until/],
  ['semi=autumn', /semi/],
  ['semi=toString', /semi/],
  ['format=xml', /format/],
  ['sort=id', /sort/],
  ['order=up', /order/],
  ['limit=0', /limit/],
  ['limit=1001', /limit/],
  ['limit=x', /limit/],
  ['after=x', /after/],
  ["after=1_2_3'--", /after/],
  ['onlyCount=perhaps', /onlyCount/],
  ['geocode=1,2', /geocode/],
  ['geocode=1,2,3,4,5', /geocode/],
  ['geocode=95,2,3', /geocode/],
  ['geocode=1,2,-3', /geocode: .*kilometres/],
  ['geocode=1,2,30000', /geocode: .*20040 kilometres/],
  ['geocode=40,-88,41,200', /geocode: .*latitude,longitude,latitude,longitude/],
  ['geocode=41,-88,40,-87', /geocode: .*south/],
  ['geocode=a,b,c', /geocode/],
  ['geojson={', /geojson/],
  ['geojson={"type":"Point","coordinates":[1,2]}', /geojson/],
  ['attributes={"site":', /attributes/],
  ['attributes={"a":1,"b":2}', /attributes/],
]
for (const [query, names] of wrong)
  test(`${query} is refused with the name of the parameter`, async t => {
    const { status, body } = await ann.get(`${path}?${query.replaceAll('{', '%7B').replaceAll('"', '%22')}`)
    t.is(status, 400, JSON.stringify(body))
    t.regex((body as { message: string }).message, names)
  })

for (const query of ['stream_id=99999999', 'sensor_id=99999999', 'stream_id=x', 'sensor_id=1.5', "stream_id=1'--"])
  test(`${query} is not found`, async t => {
    t.is((await ann.get(`${path}?${query}`)).status, 404)
  })

test('HEAD returns the status of GET, without a body', async t => {
  for (const format of ['json', 'csv', 'geojson']) {
    const answer = await ann.call(`${path}?format=${format}`, { method: 'HEAD' })
    t.is(answer.status, 200)
    t.is(await answer.text(), '')
  }
})

test.serial('JSON and CSV are compressed for clients that request it', async t => {
  const many = Array.from({ length: 2000 }, (_, n) =>
    point(0, new Date(Date.UTC(2040, 0, 1, 0, n)).toISOString(), undefined, [1, 2], { n }),
  )
  t.is((await ann.post(`${path}/bulk`, many)).status, 200)
  for (const format of ['json', 'csv']) {
    const query = `${path}?format=${format}&since=2040-01-01T00:00:00Z`
    const packed = await ann.call(query, { headers: { 'accept-encoding': 'gzip' } })
    t.is(packed.headers.get('content-encoding'), 'gzip')
    const plain = await ann.call(query, { headers: { 'accept-encoding': 'identity' } })
    t.is(plain.headers.get('content-encoding'), null)
    t.is(await packed.text(), await plain.text())
  }
  const ids = ((await requested({ since: '2040-01-01T00:00:00Z' })) as readonly Shown[]).map(({ id }) => id)
  for (let at = 0; at < ids.length; at += 1000) await server.get(GeoStore).remove({ ids: ids.slice(at, at + 1000) })
})

test('if geostreams are not public, callers see only their own and those of their spaces', async t => {
  const closed = await bootForTest({ t, config: { access: { private: true, policy: { makeGeostreamsPublicReadable: false } } } })
  const [owner, member, other] = [await somebody(closed, 'owner'), await somebody(closed, 'member'), await somebody(closed, 'other')]
  const space = await newSpace(owner)
  await letIn(owner, space, 'Viewer', member)
  const [shared, own] = [await newSensor(owner, { spaces: [space], name: 'shared' }), await newSensor(owner, { name: 'own' })]
  const [sharedStream, ownStream] = [await newStream(owner, shared), await newStream(owner, own)]
  await closed.drained()
  const bare = { start_time: '2020-01-01T00:00:00Z', type: 'Feature', geometry: pointAt(1, 2), properties: { secret: 1 } }
  const both = await owner.post(
    `${path}/bulk`,
    [sharedStream, ownStream].map(stream_id => ({ ...bare, stream_id })),
  )
  t.is(both.status, 200)
  const sensorsSeen = async (calls: Pick<Somebody, 'get'>, query = '') =>
    ((await calls.get(`${path}${query}`)).body as readonly { sensor_name: string }[]).map(each => each.sensor_name).toSorted()
  t.deepEqual(await sensorsSeen(owner), ['own', 'shared'])
  t.deepEqual(await sensorsSeen(member), ['shared'])
  t.deepEqual(await sensorsSeen(other), [])
  t.is((await callsOf(closed.as()).get(path)).status, 401)
  t.is((await member.get(`${path}?stream_id=${ownStream}`)).status, 404)
  t.is((await member.get(`${path}?sensor_id=${own}`)).status, 404)
  t.deepEqual((await other.get(`${path}?onlyCount=true`)).body, { datapointsLength: 0 })
  t.false((await (await other.call(`${path}?format=csv`)).text()).includes('secret'))
  const [hidden] = (await owner.get(`${path}?stream_id=${ownStream}`)).body as readonly Shown[]
  t.is((await member.get(`${path}/${hidden?.id}`)).status, 404)
  t.is((await member.remove(`${path}/${hidden?.id}`)).status, 404)
  t.is((await member.post(path, { ...bare, stream_id: String(ownStream) })).status, 404)
  t.is((await member.post(path, { ...bare, stream_id: String(sharedStream) })).status, 403)
})

test.serial('datapoints of a stream that is being deleted are not returned', async t => {
  const stream = await newStream(ann, sensors[0] ?? 0)
  const bare = { start_time: '2050-01-01T00:00:00Z', type: 'Feature', geometry: pointAt(1, 2), properties: {}, stream_id: String(stream) }
  const { status, body } = await ann.post(path, bare)
  t.is(status, 200)
  t.is((await requested({ since: '2050-01-01T00:00:00Z' })).length, 1)
  await server.get(Streams).change(streamIdOf(stream), { set: { state: 'trashed' } }, [])
  t.is((await requested({ since: '2050-01-01T00:00:00Z' })).length, 0)
  await server.get(GeoStore).remove({ ids: [(body as Shown).id] })
})
