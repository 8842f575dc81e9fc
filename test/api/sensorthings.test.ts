import test from 'ava'
import { GeoStore, Unavailable } from 'pounce/sdk'
import { bootForTest, type TestServer } from 'pounce/sdk/testing'
import { refusal } from '../support/scene.ts'
import { addressOf, dawn, idsOf, type Json, makeStations, type StaPage, type Station, sta, staAll } from '../support/sensorthings.ts'

// @separate-process: next to seven others on a heavily loaded machine, lists of datastreams were empty once (not yet explained).
let server: TestServer
let stations: readonly Station[]
let first: Station

test.before(async () => {
  server = await bootForTest()
  stations = await makeStations(server)
  first = stations[0]!
})
test.after.always(() => server?.stop())

const get = <T = StaPage>(path: string): Promise<T> => sta<T>(server.as(), path)
const refused = (path: string) => refusal(server.as()(addressOf(path)))
const root = (): string => `${server.url}/api/sensorthings/v1.1`
const streamOf = (station: Station) => station.streams[0]!
const datastream = (station = first, parameter = 'nitrate'): string => `${streamOf(station).id}:${parameter}`
const timeAt = (hours: number): string => new Date(dawn + hours * 3_600_000).toISOString()

test('the service root lists the entity sets and the conformance classes', async t => {
  const { value, serverSettings } = await get<{ value: Json[]; serverSettings: { conformance: string[] } }>('')
  t.is(value.length, 8)
  t.deepEqual(value[0], { name: 'Things', url: `${root()}/Things` })
  t.true(serverSettings.conformance.includes('http://www.opengis.net/spec/iot_sensing/1.1/req/datamodel'))
  for (const { url } of value) t.is((await server.as()(String(url).slice(server.url.length))).status, 200)
})

test('a Thing is a sensor', async t => {
  const self = `${root()}/Things(${first.id})`
  t.deepEqual(await get<Json>(`/Things(${first.id})`), {
    '@iot.id': first.id,
    '@iot.selfLink': self,
    name: first.name,
    description: `about ${first.name}`,
    properties: { type: { id: 'epa' }, popupContent: `about ${first.name}`, region: 0 },
    'Locations@iot.navigationLink': `${self}/Locations`,
    'HistoricalLocations@iot.navigationLink': `${self}/HistoricalLocations`,
    'Datastreams@iot.navigationLink': `${self}/Datastreams`,
  })
})

test('a Location is the position of the sensor, in GeoJSON', async t => {
  const location = await get<Json>(`/Locations(${first.id})`)
  t.is(location['encodingType'], 'application/geo+json')
  t.deepEqual(location['location'], { type: 'Point', coordinates: [...first.place] })
  t.deepEqual((await get(`/Things(${first.id})/Locations`)).value, [location])
  t.deepEqual(idsOf((await get(`/Locations(${first.id})/Things`)).value), [first.id])
  t.deepEqual((await get('/HistoricalLocations')).value, [])
  t.deepEqual((await get(`/Things(${first.id})/HistoricalLocations`)).value, [])
})

test('a Sensor has a link to more information', async t => {
  const sensor = await get<Json>(`/Sensors(${first.id})`)
  t.is(sensor['metadata'], `${server.url}/api/geostreams/sensors/${first.id}`)
  t.is((await server.as()(`/api/geostreams/sensors/${first.id}`)).status, 200)
  t.is((await get(`/Sensors(${first.id})/Datastreams`)).value.length, (await get(`/Things(${first.id})/Datastreams`)).value.length)
})

test('a Datastream is a parameter of a stream, with its unit, area and times', async t => {
  const shown = await get<Json>(`/Datastreams('${datastream()}')`)
  t.is(shown['name'], `${streamOf(first).name}: nitrate`)
  t.is(shown['observationType'], 'http://www.opengis.net/def/observationType/OGC-OM/2.0/OM_Measurement')
  t.deepEqual(shown['unitOfMeasurement'], { name: 'mg/L', symbol: 'mg/L', definition: null })
  t.deepEqual(shown['observedArea'], { type: 'Point', coordinates: [...first.place] })
  t.is(shown['phenomenonTime'], `${timeAt(0)}/${timeAt(23)}`)
  const flag = await get<Json>(`/Datastreams('${datastream(first, 'flag')}')`)
  t.is(flag['observationType'], 'http://www.opengis.net/def/observationType/OGC-OM/2.0/OM_Observation')
  t.deepEqual(flag['unitOfMeasurement'], { name: null, symbol: null, definition: null })
  const ph = await get<Json>(`/Datastreams('${datastream(first, 'ph')}')`)
  t.deepEqual(ph['unitOfMeasurement'], { name: 'acidity', symbol: 'pH', definition: 'http://example.org/ph' })
})

test('an Observation is the value of a parameter in a reading', async t => {
  const { value } = await get(`/Datastreams('${datastream()}')/Observations?$top=3`)
  const points = streamOf(first).points
  t.deepEqual(
    value.map(each => [each['@iot.id'], each['phenomenonTime'], each['resultTime'], each['result'], each['parameters']]),
    [
      [`${points[0]!.id}:nitrate`, `${timeAt(0)}/${timeAt(0.5)}`, timeAt(0.5), 0, { flag: 'good' }],
      [`${points[1]!.id}:nitrate`, timeAt(1), timeAt(1), 1, { flag: 'bad' }],
      [`${points[2]!.id}:nitrate`, timeAt(2), timeAt(2), 2, { flag: 'good' }],
    ],
  )
  t.deepEqual(await get<Json>(`/Observations('${points[2]!.id}:nitrate')`), value[2])
})

test('every link of every entity can be followed, in both directions', async t => {
  const point = streamOf(first).points[0]!.id
  const thing = await get<Json>(`/Observations('${point}:nitrate')/Datastream/Thing`)
  t.is(thing['@iot.id'], first.id)
  t.is((await get<Json>(`/Datastreams('${datastream()}')/Sensor`))['@iot.id'], first.id)
  t.is((await get<Json>(`/Datastreams('${datastream()}')/ObservedProperty`))['@iot.id'], 'nitrate')
  const feature = await get<Json>(`/Observations('${point}:nitrate')/FeatureOfInterest`)
  t.deepEqual([feature['@iot.id'], feature['feature']], [point, { type: 'Point', coordinates: [...first.place] }])
  t.is((await get(`/FeaturesOfInterest(${point})/Observations`)).value.length, 4)
  const every = (await get('')).value.map(({ name }) => String(name)).filter(name => name !== 'HistoricalLocations')
  for (const name of every) {
    const [entity] = (await get(`/${name}?$top=1`)).value
    t.truthy(entity, name)
    for (const [member, link] of Object.entries(entity!))
      if (/(selfLink|navigationLink)$/.test(member))
        t.is((await server.as()(String(link).slice(server.url.length))).status, 200, String(link))
  }
})

test('links to names with quotation marks, slashes and percent signs can be followed', async t => {
  const odd = "it's a/b (%)"
  const { value } = await get(`/Things(${first.id})/Datastreams?$filter=ObservedProperty/name eq 'it''s a/b (%)'`)
  t.deepEqual(
    idsOf(value),
    first.streams.map(({ id }) => `${id}:${odd}`),
  )
  const answer = await server.as()(String(value[0]!['Observations@iot.navigationLink']).slice(server.url.length))
  t.is(((await answer.json()) as StaPage).value.length, 8)
  t.is((await get<Json>(`/ObservedProperties('${encodeURIComponent(odd.replace("'", "''"))}')`))['name'], odd)
})

test('a property has a URL, and its raw value one with $value', async t => {
  t.deepEqual(await get<Json>(`/Things(${first.id})/name`), { name: first.name })
  t.deepEqual(await get<Json>(`/Things(${first.id})/properties/type/id`), { id: 'epa' })
  const text = async (path: string) => (await server.as()(addressOf(path))).text()
  t.is(await text(`/Things(${first.id})/name/$value`), first.name)
  t.is(await text(`/Datastreams('${datastream()}')/Thing/name/$value`), first.name)
  t.is(await text(`/Locations(${first.id})/location/$value`), JSON.stringify({ type: 'Point', coordinates: first.place }))
  t.is((await refused(`/Things(${first.id})/nothing`)).status, 404)
  t.is((await refused(`/Things(${first.id})/Locations/$value`)).status, 400)
})

test('$ref returns only self links', async t => {
  const { value } = await get(`/Things(${first.id})/Locations/$ref`)
  t.deepEqual(value, [{ '@iot.selfLink': `${root()}/Locations(${first.id})` }])
})

test('following the next links of a set returns each entity once', async t => {
  const count = stations.flatMap(({ streams }) => streams).length
  const all = { Things: 9, Locations: 9, Sensors: 9, Datastreams: count * 4, ObservedProperties: 4, FeaturesOfInterest: count * 24 }
  for (const [name, expected] of Object.entries(all))
    for (const top of [2, 7, 100]) {
      const ids = idsOf(await staAll(server.as(), server, `/${name}?$top=${top}&$select=id`))
      t.is(new Set(ids).size, ids.length, name)
      t.is(ids.length, expected, name)
    }
  const observations = idsOf(await staAll(server.as(), server, '/Observations?$top=97&$select=id'))
  const made = stations.flatMap(({ streams }) => streams.flatMap(({ points }) => points))
  const expected = made.flatMap(({ id, properties }) => Object.keys(properties).map(name => `${id}:${name}`))
  t.deepEqual([...observations].sort(), expected.sort())
})

test('lists are ordered as requested', async t => {
  const names = async (options: string) => (await staAll(server.as(), server, `/Things?$top=2&${options}`)).map(({ name }) => name)
  const expected = stations.map(({ name }) => name).sort()
  t.deepEqual(await names('$orderby=name'), expected)
  t.deepEqual(await names('$orderby=name desc,id desc'), expected.toReversed())
  t.deepEqual(idsOf(await staAll(server.as(), server, '/Things?$top=4&$orderby=id desc')), stations.map(({ id }) => id).toReversed())
  const streams = stations.flatMap(({ streams: own }) => own).toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const parameters = Object.keys(streams[0]!.points[0]!.properties).sort()
  const byName = streams.flatMap(({ id }) => parameters.map(name => `${id}:${name}`))
  t.deepEqual(idsOf(await staAll(server.as(), server, '/Datastreams?$top=3&$orderby=name')), byName)
  t.deepEqual(idsOf(await staAll(server.as(), server, '/Datastreams?$top=3&$orderby=name desc')), byName.toReversed())
  const inside = idsOf(await staAll(server.as(), server, `/Things(${first.id})/Datastreams?$top=3&$orderby=id desc`))
  t.deepEqual(inside, first.streams.flatMap(({ id }) => parameters.map(name => `${id}:${name}`)).toReversed())
  const of = `/Datastreams('${datastream()}')/Observations`
  const ids = streamOf(first).points.map(({ id }) => `${id}:nitrate`)
  t.deepEqual(idsOf(await staAll(server.as(), server, `${of}?$top=7&$orderby=phenomenonTime desc`)), ids.toReversed())
  t.deepEqual(idsOf(await staAll(server.as(), server, `${of}?$top=7&$orderby=resultTime asc,id`)), ids)
  const times = (await staAll(server.as(), server, '/Observations?$top=50&$orderby=phenomenonTime desc')).map(each =>
    String(each['phenomenonTime']).slice(0, 24),
  )
  t.deepEqual(times, times.toSorted().reverse())
})

test('$skip and $count apply to sets and to expanded entities', async t => {
  const page = await get('/Things?$skip=7&$count=true')
  t.deepEqual([page['@iot.count'], page.value.length], [9, 2])
  t.is((await get('/Things?$top=0&$count=true'))['@iot.count'], 9)
  t.is((await get(`/Datastreams('${datastream(first, 'ph')}')/Observations?$count=true&$top=1`))['@iot.count'], 24)
  const thing = await get<Json>(`/Things(${first.id})?$expand=Datastreams($count=true;$top=1;$skip=1)`)
  t.is(thing['Datastreams@iot.count'], 8)
  const next = String(thing['Datastreams@iot.nextLink'])
  const rest = (await (await server.as()(next.slice(server.url.length))).json()) as StaPage
  t.is((thing['Datastreams'] as readonly Json[]).length + rest.value.length, 2)
})

test('one request returns the last value of every station', async t => {
  const { value } = await get('/Things?$expand=Datastreams($expand=Observations($top=1;$orderby=phenomenonTime desc))')
  t.is(value.length, 9)
  for (const [at, thing] of value.entries()) {
    const last = stations[at]!.streams.map(({ points }) => points)
    const shown = (thing['Datastreams'] as readonly Json[]).map(each => (each['Observations'] as readonly Json[])[0]!)
    const expected = last.flatMap(points =>
      Object.keys(points[0]!.properties)
        .sort()
        .map(name => `${points.findLast(({ properties }) => name in properties)!.id}:${name}`),
    )
    t.deepEqual(idsOf(shown), expected)
  }
})

test('$select returns the requested properties, and expansions in addition', async t => {
  const { value } = await get('/Things?$top=1&$select=name,Datastreams&$expand=Locations($select=location)')
  t.deepEqual(value, [
    {
      name: first.name,
      'Datastreams@iot.navigationLink': `${root()}/Things(${first.id})/Datastreams`,
      Locations: [{ location: { type: 'Point', coordinates: [...first.place] } }],
    },
  ])
  const path = await get<Json>(
    `/Observations('${streamOf(first).points[0]!.id}:ph')?$select=result&$expand=Datastream/Thing,Datastream/Sensor`,
  )
  t.is(path['result'], null)
  t.is(((path['Datastream'] as Json)['Thing'] as Json)['name'], first.name)
  t.is(((path['Datastream'] as Json)['Sensor'] as Json)['name'], first.name)
})

test('Observations are returned as rows with resultFormat=dataArray', async t => {
  const points = streamOf(first).points
  const path = `/Datastreams('${datastream()}')/Observations?$resultFormat=dataArray&$top=10`
  const page = await get(`${path}&$select=id,result,phenomenonTime`)
  t.deepEqual(page.value, [
    {
      'Datastream@iot.navigationLink': `${root()}/Datastreams('${datastream()}')`,
      components: ['id', 'phenomenonTime', 'result'],
      'dataArray@iot.count': 10,
      dataArray: points
        .slice(0, 10)
        .map(({ id }, at) => [`${id}:nitrate`, `${timeAt(at)}${at % 4 === 0 ? `/${timeAt(at + 0.5)}` : ''}`, at % 7]),
    },
  ])
  const rows = (await staAll(server.as(), server, path)).map(each => each['dataArray'] as readonly unknown[])
  t.deepEqual(
    rows.map(({ length }) => length),
    [10, 10, 4],
  )
  t.is((await get(`/FeaturesOfInterest(${points[0]!.id})/Observations?$resultFormat=dataArray`)).value.length, 4)
  for (const refused of ['/Things?$resultFormat=dataArray', `${path}&$expand=Datastream`, '/Observations?$resultFormat=CSV'])
    t.is((await server.as()(addressOf(refused))).status, 400, refused)
})

test.serial('the last value of every station requires one query per stream', async t => {
  const geo = server.get(GeoStore)
  const counted = { find: 0, statistics: 0 }
  const { find, statistics } = geo
  geo.find = query => {
    counted.find += 1
    return find.call(geo, query)
  }
  geo.statistics = streams => {
    counted.statistics += 1
    return statistics.call(geo, streams)
  }
  try {
    const latest = await get('/Things?$expand=Datastreams($expand=Observations($top=1;$orderby=phenomenonTime desc))')
    t.is(latest.value.length, 9)
  } finally {
    Object.assign(geo, { find, statistics })
  }
  t.deepEqual(counted, { find: stations.flatMap(({ streams }) => streams).length, statistics: 1 })
})

test.serial('while the store of readings is unavailable, requests that need it get 503 and others succeed', async t => {
  const geo = server.get(GeoStore)
  const { find, statistics, get: point, count } = geo
  const away = () => Promise.reject(new Unavailable('away'))
  Object.assign(geo, { find: away, statistics: away, get: away, count: away })
  try {
    const needing = [
      '/Things?$expand=Datastreams',
      '/Datastreams',
      `/Datastreams('${datastream()}')`,
      '/Observations?$count=true',
      '/ObservedProperties',
    ]
    for (const path of [...needing, '/FeaturesOfInterest(5000001)']) t.is((await server.as()(addressOf(path))).status, 503, path)
    t.is((await get('/Things?$expand=Locations')).value.length, 9)
  } finally {
    Object.assign(geo, { find, statistics, get: point, count })
  }
  t.true((await get('/Datastreams')).value.length > 0)
})

test('a missing resource gets 404', async t => {
  const paths = ['/Nothing', '/Things(999)', '/Things(0)', "/Things('1')", '/Things(99999999999999999999)', `/Datastreams('999:nitrate')`]
  const more = [
    `/Datastreams('${streamOf(first).id}:nothing')`,
    "/Datastreams('x')",
    "/Observations('1:nitrate')",
    "/Observations('5000001:x')",
  ]
  const inside = [
    `/Things(${first.id})/Datastreams('${datastream(stations[1])}')`,
    "/ObservedProperties('nothing')",
    '/FeaturesOfInterest(1)',
  ]
  const odd = ['/HistoricalLocations(1)', `/Things(${first.id})/Thing`, '/Things/name', `/Datastreams('${datastream()}')/Thing(1)`]
  for (const path of [...paths, ...more, ...inside, ...odd]) t.is((await refused(path)).status, 404, path)
  t.is((await get<Json>(`/Things(${first.id})/Datastreams('${datastream()}')`))['@iot.id'], datastream())
  t.is((await refused(`/Things(${first.id})/Datastreams('999:nitrate')/name/$value`)).status, 404)
  t.is((await refused(`/Things(999)/name/$value`)).status, 404)
})

test('writing is refused with 405', async t => {
  for (const method of ['POST', 'PATCH', 'PUT', 'DELETE'])
    for (const path of ['/Things', `/Things(${first.id})`])
      t.is((await server.as(server.admin.key)(addressOf(path), { method })).status, 405, `${method} ${path}`)
})

test('an unsupported query is refused with the reason', async t => {
  const cases: readonly (readonly [string, RegExp])[] = [
    ['/Things?$orderby=description', /only by id or name/],
    ['/Things?$orderby=name,id desc', /after name only id can follow/],
    [`/Datastreams('${datastream()}')/Observations?$orderby=result`, /only by phenomenonTime or resultTime/],
    ['/Things?$skip=10001', /at most 10000; .*nextLink/],
    ['/Things?$top=-1', /top/],
    ['/Things?$expand=Nothing', /Things have no link Nothing, but Locations/],
    ['/Things?$expand=Datastreams($top=1;$top=2)', /Duplicate option \$top/],
    ['/Things?$select=nothing', /Things have no nothing, but id, name/],
    ['/Things?$search=x', /\$search is not supported/],
    ['/Things?$top=1&$top=2', /Duplicate option \$top/],
    [`/Things(${first.id})?$top=1`, /one Thing takes \$select and \$expand/],
    [`/Things(${first.id})/name?$select=x`, /\$select is not supported for a property/],
    ['/Things?$skiptoken=x', /must come from @iot.nextLink/],
    ['/Things?$skiptoken=WzFd', /must come from @iot.nextLink/],
    ['/Observations?$skiptoken=WyJ4Il0', /must come from @iot.nextLink/],
    ['/Things(1', /The path: expected/],
    [`/Things?$expand=${'Datastreams($expand=Thing($expand='.repeat(3)}Locations${'))'.repeat(3)}`, /at most 5 expansions/],
    [`/Things?$expand=${'Datastreams($expand=Thing('.repeat(20)}${'))'.repeat(20)}`, /parentheses|expected/],
  ]
  for (const [path, message] of cases) {
    const answer = await refused(path)
    t.is(answer.status, 400, path)
    t.regex(answer.message, message)
  }
})
