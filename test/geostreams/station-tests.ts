import type { ExecutionContext, TestFn } from 'ava'
import { bootForTest, type TestServer } from 'pounce/sdk/testing'
import type { Station } from '../../scripts/test-data/stations.ts'
import { newPerson } from '../support/people.ts'
import { inside, labelsOf, metresApart, numbersOf, timeText, touchesArea } from './oracle.ts'
import { StationChecks, tableOf } from './station-checks.ts'
import { type Loaded, loadStations } from './station-loading.ts'

const nitrate = 'nitrate_mg_l'
/** A box around a station, which extends by the given degrees in each direction. */
const boxAround = ({ geometry }: Station, degrees: number) => {
  const [longitude = 0, latitude = 0] = geometry.coordinates
  return { west: longitude - degrees, south: latitude - degrees, east: longitude + degrees, north: latitude + degrees }
}

interface Options {
  /** Prepares another datapoint store and resolves to its settings; without it the default one is used. */
  readonly placed?: (t: Pick<ExecutionContext, 'teardown'>) => Promise<Readonly<Record<string, string>>>
  readonly stations: number
  readonly points: number
}

/** Registers tests of a network of stations over five years, loaded over HTTP into a server of its own. */
export const stationTests = (test: TestFn, { placed, ...choice }: Options): void => {
  const endings: (() => Promise<void> | void)[] = []
  let server: TestServer
  let loaded: Loaded
  let checks: StationChecks
  let rivers: readonly Station[]
  let lake: Station
  let call: Awaited<ReturnType<typeof newPerson>>['call']

  test.before(async t => {
    t.timeout(120_000)
    server = await bootForTest({ env: (await placed?.({ teardown: end => endings.push(end) })) ?? {} })
    const { key } = await newPerson(server, 'hydrologist')
    call = (path, init) => server.as(key)(path, init)
    loaded = await loadStations(call, choice)
    checks = new StationChecks(call, loaded)
    const { stations } = loaded.data
    rivers = stations.filter(({ streams }) => streams.some(({ parameters }) => parameters.includes(nitrate)))
    lake = stations.find(({ streams }) => streams.some(({ levels }) => levels.length > 3)) as Station
    t.log(`${stations.length} stations, ${loaded.data.streams.length} streams, ${loaded.readings.length} readings`)
  })
  test.after.always(async () => {
    await server?.stop()
    for (const end of endings) await end()
  })

  test.serial('all sent readings are stored, and summaries of sensors and streams agree with them', async t => {
    await checks.counts(t)
    for (const station of [rivers[0], rivers.at(-1), lake]) if (station) await checks.statistics(t, station)
  })

  test.serial('readings in a box during one spring are the same as JSON, GeoJSON and CSV', async t => {
    const { west, south, east, north } = boxAround(rivers[0] as Station, 1)
    const [sinceMs, untilMs] = [Date.UTC(2023, 2, 1), Date.UTC(2023, 5, 1)]
    const query = `geocode=${[south, west, north, east]}&since=${timeText(sinceMs)}&until=${timeText(untilMs)}`
    const isThere = (longitude: number, latitude: number): boolean =>
      longitude >= west && longitude <= east && latitude >= south && latitude <= north
    const found = await checks.inAllFormats(
      t,
      query,
      reading => reading.startMs >= sinceMs && reading.endMs !== null && reading.endMs <= untilMs && touchesArea(reading, isThere),
    )
    t.true(found.length > 50)
  })

  test.serial('circles and polygons match the stations and readings in them', async t => {
    const { geometry } = rivers[0] as Station
    const [longitude = 0, latitude = 0] = geometry.coordinates
    for (const kilometres of [40, 173]) {
      const area = (x: number, y: number): boolean => metresApart(geometry.coordinates, [x, y]) <= kilometres * 1000
      await checks.area(t, `geocode=${latitude},${longitude},${kilometres}`, area)
    }
    const ring = [
      [longitude - 1.1, latitude - 0.7],
      [longitude + 0.9, latitude - 0.3],
      [longitude + 0.4, latitude + 0.8],
      [longitude - 0.2, latitude + 0.1],
      [longitude - 0.9, latitude + 0.6],
    ] as const
    await checks.area(t, `geocode=${ring.map(([x, y]) => `${y},${x}`)}`, inside(ring))
    const polygon = { type: 'Polygon', coordinates: [[...ring, ring[0]]] }
    await checks.area(t, `geojson=${encodeURIComponent(JSON.stringify(polygon))}`, inside(ring))
  })

  test.serial('readings are selected by source, half of the year, and names and values of properties', async t => {
    await checks.choices(t, 'hydro', nitrate, ['quality', 'B'])
    await checks.counted(t, `sources=met&sources=soil&attributes=${nitrate}`, () => false)
  })

  test.serial('bins, averages and trends agree with the readings', async t => {
    for (const station of [rivers[0], rivers.at(-1)] as readonly Station[]) {
      for (const span of ['day', 'month', 'season', 'semi', 'year'] as const) await checks.bins(t, station, nitrate, span, 10)
      await checks.averages(t, station, nitrate)
      await checks.trends(t, station, nitrate, Date.UTC(2022, 0, 1), Date.UTC(2023, 0, 1))
    }
    const profile = lake.streams.find(({ levels }) => levels.length > 0)?.parameters[0] ?? ''
    for (const depth of [0, 1, 5]) await checks.bins(t, lake, profile, 'month', depth)
  })

  test.serial('nitrate at some stations during one spring is exported by day as a table', async t => {
    const some = rivers.slice(0, 3)
    const [sinceMs, untilMs] = [Date.UTC(2024, 2, 1), Date.UTC(2024, 5, 1)]
    await checks.binTable(t, some, nitrate, sinceMs, untilMs)
    for (const station of some) {
      const query = `sensor_id=${checks.sensorOf(station)}&since=${timeText(sinceMs)}&until=${timeText(untilMs)}&attributes=${nitrate}`
      const wanted = checks
        .readingsOf(station)
        .filter(({ startMs, endMs, properties }) => startMs >= sinceMs && endMs !== null && endMs <= untilMs && nitrate in properties)
      const rows = tableOf(await checks.text(`/datapoints?${query}&format=csv`))
      t.deepEqual(
        rows.map(row => [row['start_time'], row[nitrate]]),
        wanted
          .toSorted((one, other) => one.startMs - other.startMs)
          .map(({ startMs, properties }) => [timeText(startMs), properties[nitrate]]),
      )
    }
  })

  test.serial('SensorThings returns the latest observation of each stream', async t => {
    const station = rivers[0] as Station
    const path = `/api/sensorthings/v1.1/Things(${checks.sensorOf(station)})/Datastreams?$top=100&$expand=Observations($orderby=phenomenonTime desc;$top=1)`
    const { value } = await checks.json<{ value: readonly { '@iot.id': string; Observations: readonly { result: unknown }[] }[] }>(path)
    t.true(value.length > 2)
    for (const { '@iot.id': id, Observations } of value) {
      const [stream, property = ''] = id.split(/:(.*)/)
      const own = station.streams.find(({ number }) => String(loaded.streams.get(number)) === stream)
      const readings = loaded.readings.filter(each => each.stream === own?.number && property in each.properties)
      t.deepEqual(Observations[0]?.result, readings.at(-1)?.properties[property], id)
    }
  })

  test.serial('all data is unchanged after a restart', async t => {
    const before = await checks.text(`/datapoints?sensor_id=${checks.sensorOf(lake)}`)
    await server.restart()
    await checks.counts(t)
    t.is(await checks.text(`/datapoints?sensor_id=${checks.sensorOf(lake)}`), before)
    await checks.bins(t, rivers[0] as Station, nitrate, 'month', 10)
  })

  test.serial('deleting a station deletes its streams and readings, and nothing else', async t => {
    const gone = rivers[0] as Station
    const sensor = checks.sensorOf(gone)
    t.is((await call(`/api/geostreams/sensors/${sensor}`, { method: 'DELETE' })).status, 200)
    for (const path of [
      `/sensors/${sensor}`,
      `/datapoints?sensor_id=${sensor}`,
      `/streams/${loaded.streams.get(gone.streams[0]?.number ?? 0)}`,
    ])
      t.is((await call(`/api/geostreams${path}`)).status, 404, path)
    await server.drained(30_000)
    await checks.counts(t, [gone])
    const own = new Set(gone.streams.map(({ number }) => number))
    await checks.counted(t, 'semi=spring&sources=hydro', reading => !own.has(reading.stream) && isRiverSpring(loaded, reading))
    t.true(numbersOf(checks.readingsOf(gone), nitrate).length > 0)
  })
}

const isRiverSpring = ({ data }: Loaded, reading: Parameters<typeof touchesArea>[0]): boolean => {
  const station = data.stations[(data.streams[reading.stream - 1]?.station ?? 0) - 1]
  return station?.properties.type.id === 'hydro' && [...labelsOf(reading, 'semi')].some(label => label.endsWith('spring'))
}
