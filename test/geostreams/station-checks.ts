import type { ExecutionContext } from 'ava'
import type { Datapoint } from 'pounce/sdk/geo'
import type { TestFetch } from 'pounce/sdk/testing'
import type { Station } from '../../scripts/test-data/stations.ts'
import { ok } from '../support/scene.ts'
import { type Area, labelsOf, meanOf, numbersOf, type Span, summed, timeText, touchesArea } from './oracle.ts'
import type { Loaded } from './station-loading.ts'

const g = '/api/geostreams'
const nearly = (one: unknown, other: number): boolean =>
  typeof one === 'number' && Math.abs(one - other) <= 1e-9 * Math.max(1, Math.abs(other))

/** A CSV table as objects by the names of its columns; cells are JSON, but for the quotation marks in texts. */
export const tableOf = (text: string): readonly Readonly<Record<string, unknown>>[] => {
  const [head = [], ...body] = text
    .trimEnd()
    .split(/\r?\n/)
    .map(line => [...line.matchAll(/(?<=^|,)("(?:[^"]|"")*"|[^",]*)(?=,|$)/g)].map(([, cell = '']) => cell))
  const plain = (cell: string): string => cell.slice(1, -1).replaceAll('""', '"')
  const value = (cell: string): unknown => (cell === '' ? undefined : cell.startsWith('"') ? plain(cell) : JSON.parse(cell))
  return body.map(cells => Object.fromEntries(head.map((name, at) => [plain(name), value(cells[at] ?? '')])))
}

const sorted = <T extends string | number>(values: Iterable<T>): readonly string[] => [...values].map(String).sort()

interface Shown {
  readonly start_time: string
  readonly stream_id: string
  readonly properties: Readonly<Record<string, unknown>>
}

interface Bin {
  readonly label: string
  readonly depth: number
  readonly depth_code: string
  readonly date: string
  readonly average: number
  readonly count: number
}

type Wanted = (reading: Datapoint) => boolean

/** Compares the data that a server returns with the loaded readings. */
export class StationChecks {
  readonly #call: TestFetch
  readonly #loaded: Loaded

  constructor(call: TestFetch, loaded: Loaded) {
    this.#call = call
    this.#loaded = loaded
  }

  json<T>(path: string): Promise<T> {
    return ok<T>(this.#call(path.startsWith('/api') ? path : g + path))
  }

  async text(path: string): Promise<string> {
    const answer = await this.#call(g + path)
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${answer.status} ${path} ${text}`)
    return text
  }

  /** Number on the wire. */
  sensorOf({ number }: Station): number {
    return this.#loaded.sensors.get(number) ?? 0
  }

  readingsOf({ streams }: Station): readonly Datapoint[] {
    const own = new Set(streams.map(({ number }) => number))
    return this.#loaded.readings.filter(({ stream }) => own.has(stream))
  }

  /** The same readings in all formats, in order of time, and counted. */
  async inAllFormats(t: ExecutionContext, query: string, isWanted: Wanted): Promise<readonly Datapoint[]> {
    const wanted = this.#loaded.readings.filter(isWanted)
    const keys = wanted.map(({ stream, startMs }) => `${timeText(startMs)} ${this.#loaded.streams.get(stream)}`).toSorted()
    const check = (points: readonly Pick<Shown, 'stream_id' | 'start_time'>[], format: string): void => {
      const times = points.map(({ start_time }) => start_time)
      t.deepEqual(times, times.toSorted(), `${query} ${format} in order`)
      t.deepEqual(points.map(({ stream_id, start_time }) => `${start_time} ${stream_id}`).toSorted(), keys, `${query} ${format}`)
    }
    check(await this.json<readonly Shown[]>(`/datapoints?${query}`), 'json')
    check((await this.json<{ features: readonly Shown[] }>(`/datapoints?${query}&format=geojson`)).features, 'geojson')
    check(tableOf(await this.text(`/datapoints?${query}&format=csv`)) as unknown as readonly Shown[], 'csv')
    t.deepEqual(await this.json(`/datapoints?${query}&onlyCount=true`), { datapointsLength: wanted.length }, query)
    return wanted
  }

  /** How many readings there are, by what the readings say. */
  async counted(t: ExecutionContext, query: string, isWanted: Wanted): Promise<number> {
    const count = this.#loaded.readings.filter(isWanted).length
    t.deepEqual(await this.json(`/datapoints?${query}&onlyCount=true`), { datapointsLength: count }, query)
    return count
  }

  /** Sensors by where they are said to be, and readings by where they were taken. */
  async area(t: ExecutionContext, query: string, area: Area): Promise<void> {
    const wanted = this.#loaded.data.stations.filter(({ geometry }) => area(geometry.coordinates[0] ?? 0, geometry.coordinates[1] ?? 0))
    t.true(wanted.length > 0, query)
    const found = await this.json<readonly { id: number }[]>(`/sensors?${query}`)
    t.deepEqual(sorted(found.map(({ id }) => id)), sorted(wanted.map(each => this.sensorOf(each))), query)
    t.true((await this.counted(t, query, reading => touchesArea(reading, area))) > 0)
  }

  async bins(t: ExecutionContext, station: Station, property: string, span: Span, step: number): Promise<void> {
    const path = `/datapoints/bin/${span}/${step}?sensor_id=${this.sensorOf(station)}&attributes=${encodeURIComponent(property)}`
    const found = await this.json<readonly { sensor_name: string; properties: Readonly<Record<string, readonly Bin[]>> }[]>(path)
    t.deepEqual(
      found.map(({ sensor_name, properties }) => [sensor_name, Object.keys(properties)]),
      [[station.name, [property]]],
    )
    const bins = found[0]?.properties[property] ?? []
    const keyOf = ({ label, depth, depth_code }: Bin): string => [label, step === 0 ? 0 : depth, depth_code].join('|')
    const wanted = summed(this.readingsOf(station), property, span, step)
    t.deepEqual(
      sorted(bins.map(bin => `${keyOf(bin)} ${bin.count}`)),
      sorted([...wanted].map(([key, { numbers }]) => `${key} ${numbers.length}`)),
      path,
    )
    t.deepEqual(
      bins.filter(bin => !nearly(bin.average, meanOf(wanted.get(keyOf(bin))?.numbers ?? []))),
      [],
      path,
    )
    const dates = bins.map(({ date }) => date)
    t.deepEqual(dates, dates.toSorted())
  }

  /** The same bins as a table. */
  async binTable(t: ExecutionContext, stations: readonly Station[], property: string, sinceMs: number, untilMs: number): Promise<void> {
    const isThen = ({ startMs, endMs }: Datapoint): boolean => startMs >= sinceMs && endMs !== null && endMs <= untilMs
    for (const station of stations) {
      const query = `sensor_id=${this.sensorOf(station)}&since=${timeText(sinceMs)}&until=${timeText(untilMs)}&attributes=${property}&format=csv`
      const rows = tableOf(await this.text(`/datapoints/bin/day/0?${query}`))
      const wanted = [...summed(this.readingsOf(station).filter(isThen), property, 'day', 0).values()]
      t.true(wanted.length > 0)
      t.deepEqual(
        rows.map(row => [row['sensor_name'], row['property'], row['label'], row['count']]),
        wanted.map(({ label, numbers }) => [station.name, property, label, numbers.length]),
      )
      t.true(rows.every((row, at) => nearly(row['average'], meanOf(wanted[at]?.numbers ?? []))))
    }
  }

  async averages(t: ExecutionContext, station: Station, property: string): Promise<void> {
    const [found, ...others] = await this.json<readonly Shown[]>(`/datapoints/averages?sensor_id=${this.sensorOf(station)}`)
    t.is(others.length, 0)
    t.true(nearly(found?.properties[property], meanOf(numbersOf(this.readingsOf(station), property))), JSON.stringify(found))
  }

  /** How the numbers of a window stand to those of all time. */
  async trends(t: ExecutionContext, station: Station, property: string, fromMs: number, toMs: number): Promise<void> {
    const readings = this.readingsOf(station)
    const total = meanOf(numbersOf(readings, property))
    const interval = meanOf(
      numbersOf(
        readings.filter(({ startMs }) => startMs >= fromMs && startMs <= toMs),
        property,
      ),
    )
    const window = `window_start=${timeText(fromMs)}&window_end=${timeText(toMs)}`
    const [found] = await this.json<readonly Shown[]>(`/datapoints/trends?sensor_id=${this.sensorOf(station)}&${window}`)
    const figures = { total_average: total, interval_average: interval, percentage_change: ((interval - total) / total) * 100 }
    for (const [name, figure] of Object.entries(figures)) {
      const actual = found?.properties[`${property}_${name}`]
      t.true(nearly(actual, figure), `${name}: ${figure}, but ${actual}`)
    }
  }

  /** What a sensor and its streams say of their readings. */
  async statistics(t: ExecutionContext, station: Station): Promise<void> {
    const of = (readings: readonly Datapoint[]) => {
      const ends = readings.map(({ endMs }) => endMs).filter(end => end !== null)
      const firstMs = readings.reduce((first, { startMs }) => Math.min(first, startMs), Number.POSITIVE_INFINITY)
      return {
        first: timeText(firstMs),
        last: ends.length === 0 ? null : timeText(ends.reduce((last, end) => Math.max(last, end))),
        names: sorted(new Set(readings.flatMap(({ properties }) => Object.keys(properties)))),
      }
    }
    const { first, last, names } = of(this.readingsOf(station))
    const stats = await this.json<{ range: object; parameters: readonly string[] }>(`/sensors/${this.sensorOf(station)}/stats`)
    t.deepEqual(stats.range, { min_start_time: first, max_end_time: last })
    t.deepEqual(sorted(stats.parameters), names)
    for (const { number } of station.streams) {
      const own = of(this.#loaded.readings.filter(({ stream }) => stream === number))
      const found = await this.json<{ start_time: string; end_time: string | null; params: readonly string[] }>(
        `/streams/${this.#loaded.streams.get(number)}`,
      )
      t.deepEqual([found.start_time, found.end_time, sorted(found.params)], [own.first, own.last, own.names])
    }
  }

  /** How many there are of everything, without what was deleted. */
  async counts(t: ExecutionContext, without: readonly Station[] = []): Promise<void> {
    const { data, readings } = this.#loaded
    const gone = without.flatMap(station => this.readingsOf(station)).length
    t.deepEqual(await this.json('/counts'), {
      sensors: data.stations.length - without.length,
      streams: data.streams.length - without.flatMap(({ streams }) => streams).length,
      datapoints: readings.length - gone,
    })
  }

  /** Season windows, sources and properties. */
  async choices(t: ExecutionContext, source: string, property: string, flag: readonly [name: string, value: string]): Promise<void> {
    const { data, readings } = this.#loaded
    const ofSource = new Set(
      data.stations.filter(({ properties }) => properties.type.id === source).flatMap(({ streams }) => streams.map(({ number }) => number)),
    )
    await this.counted(t, `sources=${source}`, ({ stream }) => ofSource.has(stream))
    await this.counted(t, `sources=${source}&semi=spring`, reading => ofSource.has(reading.stream) && isHalf(reading, 'spring'))
    await this.counted(t, 'semi=summer', reading => isHalf(reading, 'summer'))
    await this.counted(t, `attributes=${encodeURIComponent(property)}`, ({ properties }) => property in properties)
    const [name, value] = flag
    const isFlagged = ({ properties }: Datapoint): boolean => properties[name] === value
    t.true(readings.some(isFlagged))
    await this.counted(t, `attributes=${encodeURIComponent(`${name}:${value}`)}`, isFlagged)
    await this.counted(t, `attributes=${encodeURIComponent(JSON.stringify({ [name]: value }))}`, isFlagged)
  }
}

const isHalf = (reading: Datapoint, half: string): boolean => [...labelsOf(reading, 'semi')].some(label => label.endsWith(half))
