import test from 'ava'
import { GeoStore } from 'pounce/sdk'
import type { Geometry } from 'pounce/sdk/geo'
import { bootForTest, type TestServer } from 'pounce/sdk/testing'
import { callsOf } from '../support/calls.ts'
import { newSensor, newStream } from '../support/geostreams.ts'
import { ok, refusal } from '../support/scene.ts'
import { addressOf, idsOf, type Json, sta, staAll } from '../support/sensorthings.ts'

let server: TestServer
let sensors: readonly number[]
let stream: number
const places = [-88, 0, 179] as const
const line: Geometry = {
  type: 'LineString',
  coordinates: [
    [-88, 40],
    [-87, 41],
  ],
}

test.before(async () => {
  server = await bootForTest()
  const owner = callsOf(server.as(server.admin.key))
  const made: number[] = []
  for (const [at, longitude] of places.entries()) {
    const properties = { 'river-basin': { 'huc.4': at, 'nächste Stadt': 'Ulm' } }
    made.push(await newSensor(owner, { name: `Place ${at}`, geometry: { type: 'Point', coordinates: [longitude, 40] }, properties }))
  }
  sensors = made
  stream = await newStream(owner, sensors[0] ?? 0)
  await server.get(GeoStore).insert(
    [0, 6, 12, 18].map((hours, at) => ({
      ...{ id: 500 + at, stream, startMs: Date.UTC(2020, 0, 1, hours, 30), endMs: null, createdMs: 0 },
      geometry: at === 3 ? line : { type: 'Point', coordinates: [-88, 40] },
      properties: { 'water-level_m': at, 'lab.code': `L${at}` },
    })),
  )
  await server.drained()
})
test.after.always(() => server?.stop())

const ids = async (path: string) => idsOf(await staAll(server.as(), server, path))

test('the URL of the service may end with a slash, as in the standard', async t => {
  const root = await ok<Json>(server.as()('/api/sensorthings/v1.1'))
  t.deepEqual(await ok<Json>(server.as()('/api/sensorthings/v1.1/')), root)
  t.is((await server.as()('/api/sensorthings/v1.1/', { method: 'POST' })).status, 405)
})

// QGIS requests a layer of one geometry type, the visible area, and the number of features.
test('geometries are filtered by type, as QGIS does', async t => {
  const ofType = (member: string, type: string) => `${member}/type eq '${type}' or ${member}/geometry/type eq '${type}'`
  t.deepEqual(await ids(`/Locations?$top=200&$count=false&$filter=${ofType('location', 'Point')}`), sensors)
  t.deepEqual(await ids(`/Locations?$filter=${ofType('location', 'Polygon')}`), [])
  t.is((await sta(server.as(), `/Locations?$top=0&$count=true&$filter=${ofType('location', 'Point')}`))['@iot.count'], 3)
  t.deepEqual(await ids(`/FeaturesOfInterest?$filter=${ofType('feature', 'LineString')}`), [503])
  t.deepEqual(await ids(`/Datastreams?$filter=${ofType('observedArea', 'Polygon')}`), [`${stream}:lab.code`, `${stream}:water-level_m`])
  t.deepEqual(await ids("/Things?$filter=Locations/location/type ne 'Point'"), [])
  t.deepEqual(await ok(server.as()(addressOf(`/Locations(${sensors[0]})/location/type`))), { type: 'Point' })
  t.is((await server.as()(addressOf(`/Locations(${sensors[0]})/location/nothing`))).status, 404)
})

test('a map may extend beyond the world', async t => {
  const within = (west: number, south: number, east: number, north: number) =>
    `geo.intersects(location, geography'Polygon ((${west} ${south}, ${east} ${south}, ${east} ${north}, ${west} ${north}, ${west} ${south}))')`
  const all = "(location/type eq 'Point' or location/geometry/type eq 'Point') and "
  t.deepEqual(await ids(`/Locations?$top=200&$filter=${all}(${within(-400.5, -200, 400, 200)})`), sensors)
  t.deepEqual(await ids(`/Locations?$filter=${within(170, -100, 190, 100)}`), [sensors[2]])
  t.deepEqual(await ids(`/Locations?$filter=${within(-300, -100, -10, 95)}`), [sensors[0]])
  t.deepEqual(await ids(`/Locations?$filter=${within(181, -100, 300, 95)}`), [])
  for (const polygon of [
    within(-1e9, 0, 1e9, 1),
    within(0, 0, 1, 1).replace(', 0 0)', ')'),
    within(-1, 0, 1, 1).replace('-1 0', '1e999 0'),
  ])
    t.regex(
      (await refusal(server.as()(addressOf(`/Locations?$filter=${polygon}`)))).message,
      /Polygon: longitude within 180 .*; rings .* end where they begin/,
    )
})

test('property names may contain hyphens and dots', async t => {
  t.deepEqual(await ids('/Things?$filter=properties/river-basin/huc.4 ge 1'), [sensors[1], sensors[2]])
  t.deepEqual(await ids("/Observations?$filter=parameters/lab.code eq 'L2'"), ['502:water-level_m'])
  t.deepEqual(await ok(server.as()(addressOf(`/Things(${sensors[1]})/properties/river-basin/huc.4`))), { 'huc.4': 1 })
  const value = await server.as()(`/api/sensorthings/v1.1/Things(${sensors[1]})/properties/river-basin/$value`)
  t.deepEqual(await value.json(), { 'huc.4': 1, 'nächste Stadt': 'Ulm' })
})

test('times of day are accepted with and without quotation marks', async t => {
  const at = (filter: string) => ids(`/Datastreams('${stream}:water-level_m')/Observations?$filter=${filter}`)
  const [first, ...rest] = [0, 1, 2, 3].map(n => `${500 + n}:water-level_m`)
  for (const time of ['00:30', '00:30:00', "'00:30:00'", '00:30:00.000', "'00:30:00.000'"])
    t.deepEqual(await at(`time(phenomenonTime) eq ${time}`), [first], time)
  t.deepEqual(await at('time(phenomenonTime) gt 00:30:00 and time(phenomenonTime) le 18:30:00'), rest)
  t.deepEqual(await at("time(phenomenonTime) gt '00:30:00'"), rest)
  t.deepEqual(await at("'06:30:00' le time(resultTime)"), rest)
  t.is((await refusal(server.as()(addressOf('/Observations?$filter=time(phenomenonTime) eq 25:00:00')))).status, 400)
})
