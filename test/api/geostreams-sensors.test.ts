import test from 'ava'
import { and, DocumentStore, eq, GeoStore, Sensors, Streams } from 'pounce/sdk'
import { type Datapoint, sensorIdOf, streamIdOf } from 'pounce/sdk/geo'
import { bootForTest } from 'pounce/sdk/testing'
import { streams as streamRecords } from '../../plugins/resources/geostreams/collections.ts'
import { allIds, type Calls, callsOf, idsOf, nextOf } from '../support/calls.ts'
import { newSensor, newStream, pointAt } from '../support/geostreams.ts'
import { refusal } from '../support/people.ts'
import { letIn, newSpace, type Somebody, somebody } from '../support/spaces-and-people.ts'

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
const point = (stream: number, startMs: number, properties: Datapoint['properties'], endMs: number | null = startMs): Datapoint => {
  points += 1
  return { id: 5_000_000 + points, stream, startMs, endMs, createdMs: 0, geometry: { type: 'Point', coordinates: [0, 0] }, properties }
}
const named = (owner: Calls, name: string, more: object = {}) => newSensor(owner, { name, ...more })
const idsNamed = (caller: Calls, name: string) => idsOf(caller.get(`${G}/sensors?sensor_name=${name}`))

test('a sensor is created and has the same representation by id and in lists', async t => {
  const properties = { type: { id: 'epa', title: 'EPA' }, region: 'West', popupContent: 'Well 7', depths: [1, 2.5] }
  const geometry = pointAt(-88.25, 40.125, 12)
  const made = await ann.post(`${G}/sensors`, { name: 'Well 7', type: 'Feature', geometry, properties })
  t.is(made.status, 200)
  const { id, created, ...rest } = made.body as { id: number; created: string }
  t.deepEqual(rest as unknown, {
    name: 'Well 7',
    type: 'Feature',
    properties,
    geometry,
    min_start_time: null,
    max_end_time: null,
    parameters: [null],
  })
  t.true(Number.isInteger(id))
  t.regex(created, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
  t.deepEqual((await nobody.get(`${G}/sensors/${id}`)).body, made.body)
  t.deepEqual((await nobody.get(`${G}/sensors?sensor_name=Well%207`)).body, [made.body])
  t.deepEqual((await nobody.get(`${G}/sensors?sensor_name=well%207`)).body, [])
  t.is((await server.get(Sensors).get(sensorIdOf(id)))?.source, 'epa')
})

test('a Point has two or three coordinates, and any GeoJSON geometry is accepted', async t => {
  const ring = [[0, 0], [0, 1], [1, 1], [0, 0]] // biome-ignore format: one line says it
  const geometries = [pointAt(1, 2), pointAt(1, 2, 3), { type: 'LineString', coordinates: ring }, { type: 'Polygon', coordinates: [ring] }]
  for (const geometry of geometries) {
    const id = await newSensor(ann, { geometry: { ...geometry, bbox: [0, 0, 1, 1] } })
    const { body } = await ann.get(`${G}/sensors/${id}`)
    t.deepEqual((body as { geometry: unknown }).geometry, geometry)
  }
})

test('an invalid sensor is refused with the reason and not created', async t => {
  const right = { name: 'not made', type: 'Feature', geometry: pointAt(1, 2), properties: {} }
  const deep = (levels: number): object => (levels === 0 ? {} : { a: deep(levels - 1) })
  const wrong: readonly (readonly [object, RegExp])[] = [
    [{ name: undefined }, /name/],
    [{ name: '' }, /name/],
    [{ name: 'x'.repeat(501) }, /name/],
    [{ name: 7 }, /name/],
    [{ type: undefined }, /type/],
    [{ geometry: undefined }, /geometry/],
    [{ geometry: { type: 'Circle', coordinates: [1, 2] } }, /geometry/],
    [{ geometry: { type: 'Point', coordinates: [1] } }, /geometry\.coordinates/],
    [{ geometry: { type: 'Point', coordinates: ['1', '2'] } }, /geometry\.coordinates/],
    [{ geometry: { type: 'Point', coordinates: [1, 2, 3, 4] } }, /geometry\.coordinates/],
    [{ geometry: pointAt(40, -120) }, /geometry\.coordinates.*longitude comes first.*swapped/],
    [
      { geometry: { type: 'LineString', coordinates: [pointAt(8, 50).coordinates, [9, 95]] } },
      /geometry\.coordinates has a latitude of 95 and/,
    ],
    [
      {
        geometry: {
          type: 'Polygon',
          coordinates: [
            [
              [0, 0],
              [1, 0],
              [1, 1],
              [0, 1],
            ],
          ],
        },
      },
      /geometry\.coordinates.*rings.*end where they begin/,
    ],
    [{ geometry: pointAt(400, 10) }, /geometry\.coordinates/],
    [{ geometry: { type: 'Polygon', coordinates: [[[0, 0], [0, 1], [1, 1]]] } }, /geometry/], // biome-ignore format: one line says it
    [{ properties: undefined }, /properties/],
    [{ properties: [] }, /properties/],
    [{ properties: { a: 'x'.repeat(66_000) } }, /properties/],
    [{ properties: deep(70) }, /deep/],
    [{ properties: { a: 'a\u0000b' } }, /properties/],
    [{ spaces: ['nonsense'] }, /spaces/],
  ]
  for (const [part, message] of wrong) {
    const answer = await ann.post(`${G}/sensors`, { ...right, ...part })
    t.is(answer.status, 400, JSON.stringify(part).slice(0, 80))
    t.regex((answer.body as { message: string }).message, message)
  }
  t.is((await ann.post(`${G}/sensors`, { ...right, spaces: ['f'.repeat(24)] })).status, 404)
  t.is((await nobody.post(`${G}/sensors`, right)).status, 401)
  t.deepEqual(await idsNamed(admin, 'not%20made'), [])
})

test('unknown and malformed ids get the same response from every route of a sensor', async t => {
  const paths = (id: string) => [`sensors/${id}`, `sensors/${id}/stats`, `sensors/${id}/streams`, `sensors/${id}/update`]
  const expected = await refusal(await ann.call(`${G}/sensors/${unknown}`))
  t.is(expected['httpStatus'], 404)
  for (const id of [`${unknown}`, '0', '-1', '1.5', '007', 'nonsense', '1e3', 'f'.repeat(24), '99999999999999999999']) {
    for (const path of paths(id)) t.deepEqual(await refusal(await ann.call(`${G}/${path}`)), expected, path)
    t.deepEqual(await refusal(await ann.call(`${G}/sensors/${id}`, { method: 'PUT', json: { properties: {} } })), expected)
    t.deepEqual(await refusal(await ann.call(`${G}/sensors/${id}`, { method: 'DELETE' })), expected)
  }
})

test('sensors are listed by name, all at once or page by page', async t => {
  const place = pointAt(50.5, 50.5)
  const made = new Map<string, number>()
  for (const name of ['pages c', 'pages a', 'pages b', 'pages b'])
    made.set(`${name}${made.size}`, await named(ann, name, { geometry: place }))
  const query = 'geocode=50.5,50.5,1'
  const all = (await nobody.get(`${G}/sensors?${query}`)).body as { id: number; name: string }[]
  t.deepEqual(
    all.map(({ name }) => name),
    ['pages a', 'pages b', 'pages b', 'pages c'],
  )
  t.deepEqual(
    await allIds(nobody.get, `${G}/sensors?${query}&limit=1`),
    all.map(({ id }) => String(id)),
  )
  const first = await nobody.get(`${G}/sensors?${query}&limit=2`)
  t.is((first.body as unknown[]).length, 2)
  t.truthy(nextOf(first))
  for (const wrong of ['limit=-1', 'limit=x', 'after=nonsense']) t.is((await nobody.get(`${G}/sensors?${wrong}`)).status, 400, wrong)
})

test('areas are circles in kilometres, boxes, polygons and GeoJSON, which takes precedence', async t => {
  const at = await named(ann, 'area', { geometry: pointAt(150, -40) })
  const across = await named(ann, 'across', { geometry: pointAt(-179.5, -40) })
  const found = async (query: string) => (await idsOf(nobody.get(`${G}/sensors?${query}`))).map(Number)
  t.deepEqual(await found('geocode=-40,150,1'), [at])
  t.deepEqual(await found('geocode=-40,150.5,30'), [])
  t.deepEqual(await found('geocode=-40,150.5,60'), [at])
  t.deepEqual(await found('geocode=-41,149,-39,151'), [at])
  t.deepEqual(await found('geocode=-41,179,-39,-179'), [across])
  t.deepEqual(await found('geocode=-40,180,100'), [across])
  t.deepEqual(await found('geocode=-41,149,-41,151,-39,150'), [at])
  t.deepEqual(await found('geocode=-40,150,1,'), [at], 'as in Clowder 1.x, which drops empty items at the end')
  const end = await named(ann, 'end', { geometry: pointAt(-180, -60) })
  t.deepEqual(await found('geocode=-61,179,-61,180,-59,180,-59,179'), [end])
  const polygon = { type: 'Polygon', coordinates: [[[149, -41], [151, -41], [150, -39], [149, -41]]] } // biome-ignore format: one line says it
  const inFeatures = { type: 'FeatureCollection', features: [{ type: 'Feature', properties: {}, geometry: polygon }] }
  for (const geojson of [polygon, { type: 'MultiPolygon', coordinates: [polygon.coordinates] }, inFeatures])
    t.deepEqual(await found(`geocode=0,0,1&geojson=${encodeURIComponent(JSON.stringify(geojson))}`), [at])
  t.deepEqual(await found('geocode=-40,150,1&sensor_name=area'), [at])
  t.deepEqual(await found('geocode=-40,150,1&sensor_name=across'), [])
})

test('a page of an area is full even if most sensors in its cells are outside', async t => {
  const [inside, aside] = [pointAt(99.001, 33.001), pointAt(99.009, 33.001)]
  for (let n = 0; n < 12; n += 1) await named(ann, `crowd ${n}`, { geometry: n % 4 === 3 ? inside : aside })
  const first = await nobody.get(`${G}/sensors?geocode=33.001,99.001,0.2&limit=2`)
  t.deepEqual(
    (first.body as { name: string }[]).map(({ name }) => name),
    ['crowd 11', 'crowd 3'],
  )
  const last = await nobody.get(nextOf(first) ?? '')
  t.deepEqual(
    (last.body as { name: string }[]).map(({ name }) => name),
    ['crowd 7'],
  )
  t.is(nextOf(last), undefined)
  t.is((await idsOf(nobody.get(`${G}/sensors?geocode=33.001,99.001,5`))).length, 12)
})

test('an invalid area is refused with the valid forms', async t => {
  const wrong = [
    ...['1', '1,2', '1,2,3,4,5', '1,2,3,4,5,6,7', 'a,b,c', '1,2,', '1,,3', '95,0,1', '0,200,1', '0,0,-1', '0,0,NaN', '0,0,Infinity'],
    ...['0,0,99999', '10,0,5,20', "1,2,3'; drop table", '1 2 3'],
  ].map(text => `geocode=${encodeURIComponent(text)}`)
  const shapes = ['{', '7', 'null', '{}', '{"type":"Point","coordinates":[1,2]}', '{"type":"Polygon","coordinates":[[[0,0],[1,1]]]}']
  const notShapes = [...shapes, '{"type":"Polygon","coordinates":7}', '{"type":"FeatureCollection","features":[]}', '{"type":"Feature"}']
  for (const query of [...wrong, ...notShapes.map(text => `geojson=${encodeURIComponent(text)}`)]) {
    for (const list of ['sensors', 'streams']) {
      const answer = await nobody.get(`${G}/${list}?${query}`)
      t.is(answer.status, 400, query)
      t.regex((answer.body as { message: string }).message, query.startsWith('geocode') ? /geocode/ : /geojson/)
    }
  }
})

test('the summary of a sensor’s readings is always current, in the sensor, in lists and by itself', async t => {
  const sensor = await named(ann, 'measured')
  const [one, other] = [await newStream(ann, sensor), await newStream(ann, sensor)]
  t.deepEqual((await nobody.get(`${G}/sensors/${sensor}/stats`)).body, {
    range: { min_start_time: null, max_end_time: null },
    parameters: [],
  })
  const [january, may] = [Date.UTC(2017, 0, 25, 9, 30, 0, 500), Date.UTC(2018, 4, 1)]
  await geo.insert([point(one, may, { ph: 7, nitrate: 1 }), point(other, january, { temperature: 3 }, null)])
  const expected = {
    min_start_time: '2017-01-25T09:30:00Z',
    max_end_time: '2018-05-01T00:00:00Z',
    parameters: ['nitrate', 'ph', 'temperature'],
  }
  t.like((await nobody.get(`${G}/sensors/${sensor}`)).body as object, expected)
  t.like((await nobody.get(`${G}/sensors?sensor_name=measured`)).body as object, [expected])
  const { parameters, ...range } = expected
  t.deepEqual((await nobody.get(`${G}/sensors/${sensor}/stats`)).body, { range, parameters })
})

test('the streams of a sensor are listed by name, or the response reports that there are none', async t => {
  const sensor = await newSensor(ann)
  t.deepEqual((await nobody.get(`${G}/sensors/${sensor}/streams`)).body, noData)
  t.deepEqual((await nobody.get(`${G}/sensors/${sensor}/streams?limit=5`)).body, noData)
  const [second, first] = [await newStream(ann, sensor, { name: 'two' }), await newStream(ann, sensor, { name: 'one' })]
  await newStream(ann, await newSensor(ann))
  const expected = [{ stream_id: first, name: 'one' }, { stream_id: second, name: 'two' }] // biome-ignore format: one line says it
  t.deepEqual((await nobody.get(`${G}/sensors/${sensor}/streams`)).body, expected)
  const page = await nobody.get(`${G}/sensors/${sensor}/streams?limit=1`)
  t.deepEqual(page.body, expected.slice(0, 1))
  t.deepEqual((await nobody.get(nextOf(page) ?? '')).body, expected.slice(1))
})

test('properties are merged, a geometry is replaced and reindexed, and an empty change is refused', async t => {
  const sensor = await newSensor(ann, { properties: { a: 1, b: { c: 2 }, type: { id: 'old' } }, geometry: pointAt(70, -60) })
  const put = (json: object) => ann.put(`${G}/sensors/${sensor}`, json)
  t.like((await put({ properties: { b: { d: 3 }, type: { id: 'new' } } })).body as object, {
    properties: { a: 1, b: { d: 3 }, type: { id: 'new' } },
    geometry: pointAt(70, -60),
  })
  t.is((await server.get(Sensors).get(sensorIdOf(sensor)))?.source, 'new')
  t.like((await put({ geometry: pointAt(71, -61, 5) })).body as object, { geometry: pointAt(71, -61, 5) })
  t.deepEqual(await idsOf(nobody.get(`${G}/sensors?geocode=-61,71,1`)), [String(sensor)])
  t.deepEqual(await idsOf(nobody.get(`${G}/sensors?geocode=-60,70,1`)), [])
  for (const wrong of [
    {},
    { name: 'x' },
    { properties: 7 },
    { geometry: {} },
    { geometry: pointAt(0, 91) },
    { properties: { x: 'x'.repeat(66_000) } },
  ])
    t.is((await put(wrong)).status, 400, JSON.stringify(wrong).slice(0, 60))
  t.is((await put({ properties: { many: 'y'.repeat(40_000) } })).status, 200)
  t.is((await put({ properties: { more: 'y'.repeat(40_000) } })).status, 400)
  await Promise.all(Array.from({ length: 20 }, (_, n) => put({ properties: { [`n${n}`]: n } })))
  const { properties } = (await ann.get(`${G}/sensors/${sensor}`)).body as { properties: object }
  t.is(Object.keys(properties).length, 24)
})

const held = async (owner: Somebody, role: string, person: Somebody): Promise<string> => {
  const space = await newSpace(owner)
  await letIn(owner, space, role, person)
  return space
}

test('changing, adding and deleting require permission on the sensor: authorship, or a role in one of its spaces', async t => {
  const [editors, viewers] = [await held(ann, 'Editor', bob), await held(ann, 'Viewer', bob)]
  const [own, edited, viewed] = [
    await newSensor(ann),
    await newSensor(ann, { spaces: [editors] }),
    await newSensor(ann, { spaces: [viewers] }),
  ]
  t.deepEqual(((await nobody.get(`${G}/sensors/${edited}`)).body as { spaces: unknown }).spaces, [editors])
  const tries = (sensor: number) => [
    () => bob.put(`${G}/sensors/${sensor}`, { properties: {} }),
    () => bob.get(`${G}/sensors/${sensor}/update`),
    () => bob.post(`${G}/streams`, { name: 's', type: 'Feature', geometry: pointAt(0, 0), properties: {}, sensor_id: sensor }),
    () => bob.remove(`${G}/sensors/${sensor}`),
  ]
  for (const sensor of [own, viewed]) for (const attempt of tries(sensor)) t.is((await attempt()).status, 403)
  for (const attempt of tries(edited)) t.is((await attempt()).status, 200)
  for (const call of [nobody.put(`${G}/sensors/${own}`, { properties: {} }), nobody.remove(`${G}/sensors/${own}`)])
    t.is((await call).status, 401)
  t.is((await admin.remove(`${G}/sensors/${own}`)).status, 403)
  t.is((await admin.remove(`${G}/sensors/${own}?superAdmin=true`)).status, 200)
})

test('adding a sensor to a space or removing it requires permission on both', async t => {
  const [annsOwn, shared, bobs] = [await newSpace(ann), await held(ann, 'Editor', bob), await newSpace(bob)]
  const sensor = await newSensor(ann, { spaces: [shared] })
  const stream = await newStream(ann, sensor)
  const spacesOf = async () => ((await ann.get(`${G}/sensors/${sensor}`)).body as { spaces?: readonly string[] }).spaces
  const put = (person: Somebody, spaces: readonly string[]) => person.put(`${G}/sensors/${sensor}`, { spaces })
  t.is(
    (await ann.post(`${G}/sensors`, { name: 'x', type: 'Feature', geometry: pointAt(0, 0), properties: {}, spaces: [bobs] })).status,
    403,
  )
  t.is((await put(ann, [shared, bobs])).status, 403)
  t.is((await put(bob, [shared, bobs])).status, 403)
  t.deepEqual(await spacesOf(), [shared])
  t.is((await put(ann, [annsOwn, shared])).status, 200)
  t.is((await put(bob, [shared])).status, 403)
  t.is((await put(bob, [annsOwn])).status, 200)
  await server.drained()
  t.deepEqual((await server.get(Streams).get(streamIdOf(stream)))?.spaces, [annsOwn])
  t.is((await bob.put(`${G}/sensors/${sensor}`, { properties: {} })).status, 403)
  t.is((await put(ann, [])).status, 200)
  t.is(await spacesOf(), undefined)
})

test('a deleted space is removed from its sensors and their streams', async t => {
  const space = await newSpace(ann)
  const sensor = await newSensor(ann, { spaces: [space] })
  const stream = await newStream(ann, sensor)
  t.is((await ann.remove(`/api/spaces/${space}`)).status, 200)
  await server.drained()
  t.deepEqual((await server.get(Sensors).get(sensorIdOf(sensor)))?.spaces, [])
  t.deepEqual((await server.get(Streams).get(streamIdOf(stream)))?.spaces, [])
})

test('a deleted sensor is invisible at once, and its streams and readings are deleted with it', async t => {
  const sensor = await named(ann, 'going', { geometry: pointAt(-20, -70) })
  const streams = [await newStream(ann, sensor, { name: 'going' }), await newStream(ann, sensor, { name: 'going' })]
  const [kept] = [await newStream(ann, await newSensor(ann))]
  await geo.insert([...streams, kept].map(stream => point(stream, 0, { x: 1 })))
  t.deepEqual((await ann.remove(`${G}/sensors/${sensor}`)).body, { status: 'ok' })
  t.is((await ann.get(`${G}/sensors/${sensor}`)).status, 404)
  for (const stream of streams) t.is((await ann.get(`${G}/streams/${stream}`)).status, 404)
  t.deepEqual((await ann.get(`${G}/streams?stream_name=going`)).body, noData)
  t.is(
    (await ann.post(`${G}/streams`, { name: 's', type: 'Feature', geometry: pointAt(0, 0), properties: {}, sensor_id: `${sensor}` }))
      .status,
    404,
  )
  await server.drained()
  t.deepEqual([...(await geo.statistics([...streams, kept])).keys()], [kept])
  t.is((await server.get(Streams).getMany(streams.map(streamIdOf))).size, 0)
  t.is((await ann.remove(`${G}/sensors/${sensor}`)).status, 404)
})

test('streams created while their sensor is being deleted are deleted too', async t => {
  const body = { name: 'too late', type: 'Feature', geometry: pointAt(0, 0), properties: {} }
  for (let round = 0; round < 5; round += 1) {
    const sensor = await newSensor(ann)
    const late = Array.from({ length: 8 }, () => ann.post(`${G}/streams`, { ...body, sensor_id: sensor }))
    const [removed, ...made] = await Promise.all([ann.remove(`${G}/sensors/${sensor}`), ...late])
    t.is(removed?.status, 200)
    for (const { status } of made) t.true(status === 200 || status === 404, String(status))
  }
  t.deepEqual((await ann.get(`${G}/streams?stream_name=too%20late`)).body, noData)
  await server.drained()
  const left = server.get(DocumentStore).scan(streamRecords, { using: 'byName', where: and(eq('state', 'live'), eq('name', 'too late')) })
  t.deepEqual(await Array.fromAsync(left), [])
})

test('ids are not reused', async t => {
  const first = await newSensor(ann)
  await ann.remove(`${G}/sensors/${first}`)
  await server.drained()
  t.true((await newSensor(ann)) > first)
})

test('sensors are found by name, properties, source and kind', async t => {
  const sensor = await named(ann, 'Quibbleford gauge', { properties: { type: { id: 'quibbles' }, region: 'Delta', depth: 12 } })
  await server.drained()
  const found = async (query: string) =>
    ((await nobody.get(`/api/search?query=${encodeURIComponent(query)}`)).body as { results: object[] }).results
  for (const query of ['quibbleford', 'region:delta resource_type:sensor', 'depth>11 source:quibbles', 'type.id:quibbles']) {
    const [item, ...rest] = await found(query)
    t.like(item, { id: String(sensor), name: 'Quibbleford gauge', resource_type: 'sensor' }, query)
    t.deepEqual(rest, [])
  }
  const byKind = await nobody.get('/api/search?query=quibbleford&resource_type=stream')
  t.like(byKind.body as object, { count: 0 })
  await ann.put(`${G}/sensors/${sensor}`, { properties: { region: 'Hills' } })
  await server.drained()
  t.is((await found('region:delta quibbleford')).length, 0)
  await ann.remove(`${G}/sensors/${sensor}`)
  await server.drained()
  t.is((await found('quibbleford')).length, 0)
})
