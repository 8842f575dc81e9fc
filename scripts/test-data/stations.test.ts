import { createHash } from 'node:crypto'
import test from 'ava'
import type { Datapoint } from 'pounce/sdk/geo'
import { boxAround, checkDatapoint, positionsOf } from 'pounce/sdk/geo'
import { pointBody, sensorBody, streamBody } from './station-bodies.ts'
import { regions } from './station-places.ts'
import { type StationData, stationData, stationsFromMs, stationsToMs } from './stations.ts'

const digestOf = (points: Iterable<Datapoint>): string => {
  const hash = createHash('sha256')
  for (const point of points) hash.update(JSON.stringify(point))
  return hash.digest('hex')
}

const all = stationData()

test('datapoints are determined by the seed', t => {
  const one = stationData({ points: 20_000 })
  t.is(digestOf(one.points()), digestOf(stationData({ points: 20_000, seed: 2021 }).points()))
  t.not(digestOf(one.points()), digestOf(stationData({ points: 20_000, seed: 2022 }).points()))
  t.is(digestOf(all.points()), 'e5782dba4092423e25603e887a6d6b0adb842316047d359b2c8d7e5853717b5a')
})

test('the number of stations, streams and points is as requested, with consecutive ids', t => {
  t.is(all.stations.length, 200)
  for (const points of [100_000, 1_000_000, 10_000_000]) {
    const { count, streams } = stationData({ points })
    t.true(Math.abs(count / points - 1) < 0.01, `${count}`)
    t.is(
      streams.reduce((sum, stream) => sum + stream.count, 0),
      count,
    )
  }
  let last = 0
  for (const { id } of all.points()) {
    if (id !== last + 1) t.fail(`${id} after ${last}`)
    last = id
  }
  t.is(last, all.count)
  const hourly = stationData({ stations: 10, everyMinutes: 60 })
  t.deepEqual([...new Set(hourly.streams.map(({ everyMs }) => everyMs / 3_600_000))].sort(), [1, 2, 8])
})

test('ordering by stream or by month gives the same points', t => {
  const numbersOf = (data: StationData, by: 'stream' | 'month') => Array.from(data.points(by), ({ id }) => id)
  const small = stationData({ points: 20_000 })
  const byMonth = numbersOf(small, 'month')
  t.notDeepEqual(byMonth.slice(0, 5000), numbersOf(small, 'stream').slice(0, 5000))
  t.deepEqual(
    byMonth.toSorted((one, other) => one - other),
    numbersOf(small, 'stream'),
  )
  const [first] = small.streams
  t.deepEqual(
    Array.from(small.pointsOf(1), ({ id }) => id),
    Array.from({ length: first?.count ?? 0 }, (_, at) => at + 1),
  )
})

test('every point is valid for stores, within its years, and has the parameters of its stream', t => {
  const seen = { text: 0, null: 0, absent: 0, open: 0, span: 0, atOnce: 0, line: 0, polygon: 0, level: 0 }
  let lastStart = 0
  let lastStream = 0
  for (const point of all.points()) {
    const { startMs, endMs, geometry, properties, stream } = point
    const fault = checkDatapoint(point)
    const owner = all.streams[stream - 1]
    const isInOrder = stream !== lastStream || startMs >= lastStart
    const isRight = fault === undefined && startMs >= stationsFromMs && startMs < stationsToMs && startMs % 1000 === 0 && isInOrder
    if (!isRight || !owner) t.fail(JSON.stringify({ point, fault }))
    lastStart = startMs
    lastStream = stream
    for (const name of owner?.parameters ?? []) {
      if (!Object.hasOwn(properties, name)) seen.absent += 1
      else if (properties[name] === null) seen.null += 1
      else if (typeof properties[name] === 'string') seen.text += 1
    }
    seen[endMs === null ? 'open' : endMs === startMs ? 'atOnce' : 'span'] += 1
    if (geometry.type === 'LineString') seen.line += 1
    if (geometry.type === 'Polygon') seen.polygon += 1
    if (owner && owner.levels.length > 0) seen.level += 1
  }
  for (const [what, count] of Object.entries(seen)) t.true(count > 100, `${what}: ${count}`)
})

test('stations have one to four streams of two to four parameters; some move, some have profiles', t => {
  for (const { streams } of all.stations) t.true(streams.length >= 1 && streams.length <= 4)
  for (const { parameters } of all.streams) t.true(parameters.length >= 2 && parameters.length <= 4)
  t.deepEqual([...new Set(all.stations.map(({ streams }) => streams.length))].sort(), [1, 2, 3, 4])
  t.is(all.stations.filter(({ streams }) => streams.some(({ isMoving }) => isMoving)).length, 16)
  t.is(all.streams.filter(({ levels }) => levels.length > 0).length, 40)
  for (const stream of all.streams.filter(({ isMoving }) => isMoving)) {
    const [west, , east] = boxAround(Array.from(all.pointsOf(stream.number), ({ geometry }) => positionsOf(geometry)).flat())
    t.true(east - west > 0.1 && east - west < 2, stream.name)
  }
})

test('stations on land are in their catchments, one of which crosses the antimeridian', t => {
  for (const { geometry, properties } of all.stations) {
    const boxes = regions.find(({ id }) => id === properties.region)?.boxes
    const [longitude = 0, latitude = 0] = geometry.coordinates
    const isIn = boxes?.some(
      ([west, south, east, north]) => longitude >= west && longitude <= east && latitude >= south && latitude <= north,
    )
    t.not(isIn, false)
  }
  const there = all.stations.filter(({ properties }) => properties.region === 'taveuni').map(({ geometry }) => geometry.coordinates[0] ?? 0)
  t.true(there.some(longitude => longitude > 0) && there.some(longitude => longitude < 0))
})

test('summers are warmer than winters; in the south, summer is in January', t => {
  const meanOf = (region: string, month: number): number => {
    const stations = all.stations.filter(({ properties }) => properties.region === region)
    const values = stations
      .flatMap(({ streams }) => streams.filter(({ name }) => name.endsWith(' air')))
      .flatMap(({ number }) => Array.from(all.pointsOf(number)))
      .filter(({ startMs }) => new Date(startMs).getUTCMonth() === month)
      .map(({ properties }) => properties['air-temperature_C'])
      .filter(value => typeof value === 'number' && value < 60)
    return (values as number[]).reduce((sum, value) => sum + value, 0) / values.length
  }
  t.true(meanOf('mulde', 6) > meanOf('mulde', 0) + 10)
  t.true(meanOf('murrumbidgee', 0) > meanOf('murrumbidgee', 6) + 10)
})

test('request bodies have the format of v1', t => {
  const [station] = all.stations
  const [stream] = all.streams
  const [point] = all.pointsOf(1)
  if (!station || !stream || !point) return t.fail()
  t.is((sensorBody(station)['properties'] as { type: { id: string } }).type.id, station.properties.type.id)
  t.like(streamBody(stream, 17), { sensor_id: '17', type: 'Feature', name: stream.name })
  const body = pointBody(point)
  t.is(Date.parse(String(body['start_time'])), point.startMs)
  t.regex(String(body['start_time']), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
  t.deepEqual(body['properties'], point.properties)
})
