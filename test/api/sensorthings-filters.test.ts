import test from 'ava'
import fc from 'fast-check'
import type { Datapoint } from 'pounce/sdk/geo'
import { bootForTest, type TestServer, usualOrFull } from 'pounce/sdk/testing'
import { refusal } from '../support/scene.ts'
import { addressOf, dawn, idsOf, makeStations, type Station, sta, staAll } from '../support/sensorthings.ts'

let server: TestServer
let stations: readonly Station[]

test.before(async () => {
  server = await bootForTest()
  stations = await makeStations(server, { count: 9, readings: 40 })
})
test.after.always(() => server?.stop())

const hour = 3_600_000
const timeAt = (hours: number): string => new Date(dawn + hours * hour).toISOString()
const ids = async (path: string) => idsOf(await staAll(server.as(), server, path))

const things: readonly (readonly [filter: string, is: (station: Station, at: number) => boolean])[] = [
  ["name eq 'Station C'", ({ name }) => name === 'Station C'],
  ["name ne 'Station C' and name ge 'Station B'", ({ name }) => name !== 'Station C' && name >= 'Station B'],
  ['id gt 3 and (id lt 6 or id eq 9)', ({ id }) => id > 3 && (id < 6 || id === 9)],
  ['@iot.id eq 4', ({ id }) => id === 4],
  ["properties/type/id eq 'epa'", (_, at) => at % 2 === 0],
  ['properties/region eq 1', (_, at) => at % 4 === 1],
  ['properties/region add 1 eq 4 or not (properties/region mul 2 gt 0)', (_, at) => at % 4 === 3 || at % 4 === 0],
  ['properties/region mod 2 eq 1 and properties/region div 2 lt 1', (_, at) => at % 4 === 1],
  ['properties/nothing eq null and properties/region ne null', () => true],
  ['properties/nothing gt 5 or properties/region eq true', () => false],
  ["startswith(name,'Station A') or endswith(description,'D')", ({ name }) => name === 'Station A' || name === 'Station D'],
  ["substringof('tion B',name) or contains(name,'on E')", ({ name }) => name === 'Station B' || name === 'Station E'],
  ["tolower(name) eq 'station f' or toupper(substring(name,8,1)) eq 'G'", ({ name }) => /[FG]$/.test(name)],
  ["indexof(name,'G') eq 8 or length(concat(trim(' '),name)) eq 0", ({ name }) => name === 'Station G'],
  ["st_within(Locations/location,geography'POLYGON((-90.5 39,-86.5 39,-86.5 41,-90.5 41,-90.5 39))')", (_, at) => at < 4],
  ["not st_intersects(Locations/location,geography'POLYGON((-90.5 39,-86.5 39,-86.5 41,-90.5 41,-90.5 39))')", (_, at) => at >= 4],
  ["st_disjoint(geography'POLYGON((-90.5 39,-86.5 39,-86.5 41,-90.5 41,-90.5 39))',Locations/location)", (_, at) => at >= 4],
  ["geo.distance(Locations/location,geography'POINT(-88 40)') lt 100000", (_, at) => Math.abs(at - 2) <= 1],
  ["90000 ge geo.distance(Locations/location,geography'SRID=4326;POINT Z (-88 40 0)') and name ne 'x'", (_, at) => Math.abs(at - 2) <= 1],
]

for (const [filter, is] of things)
  test(`things: ${filter}`, async t => {
    const expected = stations.filter(is).map(({ id }) => id)
    t.deepEqual(await ids(`/Things?$filter=${filter}&$top=2`), expected)
    t.is((await sta(server.as(), `/Things?$filter=${filter}&$count=true&$top=0`))['@iot.count'], expected.length)
    t.deepEqual(
      await ids(`/Locations?$filter=${filter.replaceAll('Locations/', '').replaceAll('properties/', 'Things/properties/')}`),
      expected,
    )
  })

const endOf = ({ startMs, endMs }: Datapoint): number => endMs ?? startMs
const at = (hours: number): number => dawn + hours * hour
const nitrate = ({ properties }: Datapoint): number => Number(properties['nitrate'])

const observations: readonly (readonly [filter: string, is: (point: Datapoint) => boolean])[] = [
  ['result gt 3', point => nitrate(point) > 3],
  ['result ge 3 and result lt 5', point => nitrate(point) >= 3 && nitrate(point) < 5],
  ['result mul 2 eq 6 or result eq 0', point => nitrate(point) === 3 || nitrate(point) === 0],
  ["result eq 'x' or floor(result div 2) eq 1", point => Math.floor(nitrate(point) / 2) === 1],
  ["parameters/flag eq 'bad'", ({ properties }) => properties['flag'] === 'bad'],
  [`phenomenonTime ge ${timeAt(10)}`, ({ startMs }) => startMs >= at(10)],
  [
    `phenomenonTime gt ${timeAt(10)} and phenomenonTime lt ${timeAt(20)}`,
    p => p.startMs > at(10) && endOf(p) <= at(20) && p.startMs < at(20),
  ],
  [`phenomenonTime le ${timeAt(12.25)}`, point => endOf(point) <= at(12.25)],
  [`phenomenonTime eq ${timeAt(13)}`, ({ startMs }) => startMs === at(13)],
  [`phenomenonTime eq ${timeAt(12)}/${timeAt(12.5)}`, ({ startMs }) => startMs === at(12)],
  [`resultTime eq ${timeAt(12.5)} or resultTime lt ${timeAt(1)}`, point => endOf(point) === at(12.5) || endOf(point) < at(1)],
  [`resultTime gt ${timeAt(30)}`, point => endOf(point) > at(30)],
  [`${timeAt(30)} lt resultTime`, point => endOf(point) > at(30)],
  [`during(phenomenonTime,${timeAt(4)}/${timeAt(8.25)})`, point => point.startMs >= at(4) && endOf(point) <= at(8.25)],
  [`overlaps(phenomenonTime,${timeAt(4.25)}/${timeAt(8.25)})`, point => point.startMs <= at(8.25) && endOf(point) >= at(4.25)],
  [`before(phenomenonTime,${timeAt(4)}) or after(phenomenonTime,${timeAt(38)})`, point => endOf(point) < at(4) || point.startMs > at(38)],
  [`starts(phenomenonTime,${timeAt(4)}) or finishes(phenomenonTime,${timeAt(8.5)})`, p => p.startMs === at(4) || endOf(p) === at(8.5)],
  ['hour(phenomenonTime) eq 5 and day(phenomenonTime) le 1', ({ startMs }) => startMs === at(5)],
  ['year(phenomenonTime) eq 2020 and month(phenomenonTime) eq 1 and minute(resultTime) eq 30', point => endOf(point) !== point.startMs],
  ['date(phenomenonTime) eq 2020-01-02', ({ startMs }) => startMs >= at(24)],
  ["time(phenomenonTime) eq '03:00:00.000'", ({ startMs }) => startMs === at(3) || startMs === at(27)],
  ["phenomenonTime lt now() sub duration'P1D'", () => true],
  [`resultTime sub phenomenonTime eq duration'PT30M' and resultTime lt ${timeAt(9)}`, p => endOf(p) > p.startMs && endOf(p) < at(9)],
  [
    "not (result lt 6) and st_within(FeatureOfInterest/feature,geography'POLYGON((-91 39,-89 39,-89 41,-91 41,-91 39))')",
    p => nitrate(p) === 6,
  ],
  ["Datastream/Thing/name eq 'Station A' and result eq 1", point => nitrate(point) === 1],
  ["Datastream/name eq 'nothing'", () => false],
]

for (const [filter, is] of observations)
  test(`observations: ${filter}`, async t => {
    const { id, points } = stations[0]!.streams[0]!
    const expected = points.filter(is).map(each => `${each.id}:nitrate`)
    const path = `/Datastreams('${id}:nitrate')/Observations?$filter=${filter}`
    t.deepEqual(await ids(`${path}&$top=7`), expected)
    t.deepEqual(await ids(`${path}&$top=7&$orderby=phenomenonTime desc`), expected.toReversed())
    t.is((await sta(server.as(), `${path}&$count=true&$top=1`))['@iot.count'], expected.length)
    t.deepEqual(await ids(`/Observations?$filter=(${filter}) and Datastream/id eq '${id}:nitrate'`), expected)
  })

test('datastreams can be filtered by observed property, area and thing', async t => {
  const streams = stations.flatMap(({ streams: all }) => all)
  const all = streams.map(({ id }) => `${id}:nitrate`)
  t.deepEqual(await ids("/Datastreams?$filter=ObservedProperty/name eq 'nitrate'&$top=2"), all)
  t.deepEqual(await ids("/ObservedProperties('nitrate')/Datastreams?$top=3"), all)
  const name = `${streams[3]!.name}: flag`
  t.deepEqual(await ids(`/Datastreams?$filter=name eq '${name}'`), [`${streams[3]!.id}:flag`])
  t.deepEqual(await ids(`/Datastreams?$filter=Thing/id eq ${stations[0]!.id} and startswith(name,'Station A run 1: n')`), [all[1]])
  t.deepEqual(
    await ids("/Datastreams?$filter=unitOfMeasurement/symbol eq 'pH'"),
    streams.map(({ id }) => `${id}:ph`),
  )
  const measured = await ids("/Datastreams?$filter=endswith(observationType,'OM_Measurement') and id ne null")
  t.is(measured.length, streams.length * 3)
  const east = "st_within(observedArea,geography'POLYGON((-84 39,-80 39,-80 41,-84 41,-84 39))') and ObservedProperty/id eq 'flag'"
  const expected = stations.slice(6).flatMap(({ streams: own }) => own.map(({ id }) => `${id}:flag`))
  t.deepEqual(await ids(`/Datastreams?$filter=${east}`), expected)
  t.deepEqual(await ids(`/Datastreams?$filter=phenomenonTime lt ${timeAt(0)}`), [])
})

test('an unsupported filter is refused with position and reason', async t => {
  const cases: readonly (readonly [string, RegExp])[] = [
    ['name eq 5', /a text cannot be compared with a number \(position 9\)/],
    ['name', /a comparison .* belongs here, not a text \(position 1\)/],
    ['name eq', /expected .* where the text ends \(position 8\)/],
    ["name eq 'x", /this quotation mark has no partner \(position 9\)/],
    ['nothing eq 5', /Things have no property nothing .*, but id, name/],
    ["Datastreams/name eq 'x'", /do not look through Datastreams, of which there may be many/],
    ["name/first eq 'x'", /name has no properties/],
    ["soundslike(name,'x')", /the function soundslike is not offered, but .*startswith/],
    ['startswith(name)', /startswith takes 2 values, not 1/],
    ['startswith(name,5)', /startswith takes a text here, not a number \(position 17\)/],
    ["st_within(Locations/location,geography'POINT(1 2)')", /st_within takes a property and geography'POLYGON/],
    ["st_within(Locations/location,geography'POLYGON((0 0,1 1,1 0))')", /Polygon/],
    ["st_within(Locations/location,geography'POLYGON((0 0,1 100,1 0,0 0))')", /Polygon/],
    ["st_within(Locations/location,geography'BALL(1 2)')", /expected POINT, LINESTRING or POLYGON/],
    ["Locations/location eq geography'POINT(1 2)'", /places are compared by/],
    ["name add 1 eq 'x'", /a text and a number have no add/],
    ["duration'P1M' eq 5", /a duration looks like/],
    [`${'('.repeat(40)}id eq 1${')'.repeat(40)}`, /more than 30 parentheses/],
    [Array.from({ length: 150 }, () => 'id eq 1').join(' or '), /more than 200 terms/],
  ]
  for (const [filter, message] of cases) {
    const answer = await refusal(server.as()(addressOf(`/Things?$filter=${filter}`)))
    t.is(answer.status, 400, filter)
    t.regex(answer.message, message)
  }
  const times: readonly (readonly [string, RegExp])[] = [
    ['phenomenonTime gt 2020-01-01T00:00:00', /a time needs its zone/],
    ["phenomenonTime gt '2020-01-01T00:00:00Z'", /times stand without quotation marks/],
    ['phenomenonTime gt 2020-02-30T00:00:00Z', /there is no time 2020-02-30/],
    ['during(phenomenonTime,2020-01-02T00:00:00Z/2020-01-01T00:00:00Z)', /ends before it begins/],
  ]
  for (const [filter, message] of times) {
    const answer = await refusal(server.as()(addressOf(`/Observations?$filter=${filter}`)))
    t.is(answer.status, 400, filter)
    t.regex(answer.message, message)
  }
})

const word = fc.constantFrom(
  ...[
    'name',
    'id',
    'result',
    'phenomenonTime',
    'Locations/location',
    'properties/x',
    'Thing/id',
    'eq',
    'ne',
    'gt',
    'and',
    'or',
    'not',
    '(',
  ],
  ...[
    ')',
    ',',
    "'x'",
    "''",
    "'",
    '5',
    '-1',
    '1e999',
    'null',
    'true',
    'now()',
    "duration'P9999999999999D'",
    'add',
    'sub',
    'div',
    '0',
    'mod',
  ],
  ...[
    'startswith(',
    'substring(',
    'year(',
    'date(',
    'geo.distance(',
    'st_within(',
    "geography'POINT(0 0)'",
    "geography'POLYGON((0 0,1 0,1 1,0 0))'",
  ],
  ...[
    '2020-01-01T00:00:00Z',
    '9999-12-31T23:59:59Z/9999-12-31T23:59:59Z',
    '0000-01-01T00:00:00Z',
    '__proto__',
    'constructor',
    '💥',
    '\u0000',
    '%',
    ';',
  ],
)
const pieces = fc.array(word, { maxLength: 12 }).map(words => words.join(' '))
const sensible = fc
  .tuple(fc.constantFrom('name', 'id', 'result', 'phenomenonTime', 'properties/a'), fc.constantFrom('eq', 'lt', 'ge', 'ne'), word)
  .map(all => all.join(' '))

test('no filter, expansion, order or path causes a server error', async t => {
  const text = fc.oneof(pieces, sensible, fc.string({ unit: 'binary', maxLength: 40 }))
  const set = fc.constantFrom('Things', 'Datastreams', 'Observations', 'ObservedProperties', 'FeaturesOfInterest')
  const option = fc.constantFrom('$filter', '$filter', '$filter', '$expand', '$orderby', '$select', '$skiptoken', '$top')
  await fc.assert(
    fc.asyncProperty(set, option, text, async (name, which, value) => {
      const path = which === '$top' ? `/${name}/${encodeURIComponent(value)}` : `/${name}?${which}=${encodeURIComponent(value)}&$top=2`
      const { status } = await server.as()(`/api/sensorthings/v1.1${path}`)
      return status === 200 || status === 400 || status === 404
    }),
    { numRuns: usualOrFull(300, 1500) },
  )
  t.deepEqual(await ids('/Things?$top=1&$filter=id eq 1'), [1])
})

test('forged skip tokens are refused or harmless', async t => {
  const part = fc.oneof(
    fc.string({ maxLength: 30 }),
    fc.integer(),
    fc.double(),
    fc.constantFrom('0'.repeat(24), '000000010000000000000001', -1, 0, 2 ** 53),
  )
  const set = fc.constantFrom(
    'Things',
    'Datastreams',
    'Observations',
    'ObservedProperties',
    'FeaturesOfInterest',
    'HistoricalLocations',
    'Things(1)/Locations',
  )
  await fc.assert(
    fc.asyncProperty(set, fc.array(part, { maxLength: 4 }), fc.constantFrom('', '&$orderby=id desc'), async (name, cursor, order) => {
      const token = Buffer.from(JSON.stringify(cursor)).toString('base64url')
      const { status } = await server.as()(`/api/sensorthings/v1.1/${name}?$skiptoken=${token}${order}`)
      return status === 200 || status === 400
    }),
    { numRuns: usualOrFull(100, 500) },
  )
  t.is((await sta(server.as(), '/Things')).value.length, 9)
})
