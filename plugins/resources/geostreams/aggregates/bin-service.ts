import { type Caller, GeoStore, Invalid, Streams, wire } from 'pounce/sdk'
import { BinLimit, type StreamChoice } from 'pounce/sdk/geo'
import { csvCell } from '../datapoints/csv-table.ts'
import { type Aggregate, type BinEntry, type BinQuery, entryJson, meanOf, statisticsOf } from './raw-entries.ts'
import { SelectedSensors, type SensorPart } from './selected-sensors.ts'
import { sensorBins } from './sensor-bins.ts'

/** Bins of one property of one sensor. */
interface BinRows {
  readonly part: SensorPart
  readonly property: string
  readonly entries: readonly BinEntry[]
}

const columns = ['sensor_name', 'sensor_id', 'property', 'label', 'date', 'depth', 'depth_code', 'average', 'count']

/** A table of bins as CSV, one line each, with the requested aggregates as the last columns. */
async function* binTable(rows: AsyncIterable<BinRows>, wanted: readonly Aggregate[]): AsyncGenerator<string, void, undefined> {
  yield `${[...columns, ...wanted.filter(name => name !== 'count')].map(csvCell).join()}\r\n`
  for await (const { part, property, entries } of rows) yield entries.map(entry => lineOf(part, property, entry, wanted)).join('')
}

const lineOf = (part: SensorPart, property: string, entry: BinEntry, wanted: readonly Aggregate[]): string => {
  const { time, depth, depthCode, array = [], count } = entry
  const isOfNumbers = count > 0
  const { count: _count, ...statistics } = isOfNumbers ? statisticsOf(entry, wanted) : {}
  const cells = [part.name, String(part.id), property, time.label, new Date(time.dateMs).toISOString(), depth, depthCode]
  const numbers = isOfNumbers ? [meanOf(entry), count, ...Object.values(statistics)] : [undefined, array.length]
  return `${[...cells, ...numbers].map(cell => csvCell(cell ?? undefined)).join()}\r\n`
}

/** Maximum number of datapoints whose single values may be requested. */
const maxRaw = 1_000_000

/** Aggregates datapoints by time and depth, for each sensor. */
export class BinService {
  #sensors: SelectedSensors
  #streams: Streams
  #store: GeoStore

  constructor(sensors: SelectedSensors, streams: Streams, store: GeoStore) {
    this.#sensors = sensors
    this.#streams = streams
    this.#store = store
  }

  /**
   * The streams to aggregate, as `Streams.chosen` returns them. Throws `Invalid` when single values of too many datapoints are requested.
   */
  async choose(caller: Caller, choice: StreamChoice, { isRaw, filter }: BinQuery): Promise<readonly number[] | undefined> {
    const chosen = await this.#streams.chosen(caller, choice)
    const found = isRaw ? await this.#store.count({ ...filter, ...(chosen ? { streams: chosen } : {}) }, maxRaw + 1) : 0
    if (found > maxRaw)
      throw new Invalid(`raw returns the values of at most ${maxRaw} datapoints: filter by sensors or streams, or use a shorter period`)
    return chosen
  }

  /**
   * An object for each sensor, by name, as chunks of JSON; in GeoJSON it is the `properties` of a feature. Sensors without numeric
   * properties are omitted.
   */
  async *write(
    caller: Caller,
    chosen: readonly number[] | undefined,
    request: BinQuery,
    { aggregates, isGeojson }: { readonly aggregates: readonly Aggregate[]; readonly isGeojson: boolean },
  ): AsyncGenerator<string, void, undefined> {
    yield isGeojson ? '{ "type": "FeatureCollection", "features": [' : '['
    let isFirst = true
    const limit = new BinLimit()
    for await (const part of this.#sensors.of(caller, chosen)) {
      let isNew = true
      const head = isGeojson ? featureOf(part) + headOf(part) : headOf(part)
      for await (const text of this.#properties(part, { ...request, limit }, aggregates)) {
        yield isNew ? `${isFirst ? '' : ','}${head}${text}` : text
        isNew = false
        isFirst = false
      }
      if (!isNew) yield isGeojson ? '}}}' : '}}'
    }
    yield isGeojson ? '] }' : ']'
  }

  /** The same as a table, without the omitted properties. */
  table(
    caller: Caller,
    chosen: readonly number[] | undefined,
    request: BinQuery,
    { aggregates, omitted }: { readonly aggregates: readonly Aggregate[]; readonly omitted: ReadonlySet<string> },
  ): AsyncGenerator<string, void, undefined> {
    return binTable(this.#rows(caller, chosen, request, omitted), aggregates)
  }

  async *#rows(
    caller: Caller,
    chosen: readonly number[] | undefined,
    request: BinQuery,
    omitted: ReadonlySet<string>,
  ): AsyncGenerator<BinRows, void, undefined> {
    const limit = new BinLimit()
    for await (const part of this.#sensors.of(caller, chosen))
      for await (const { property, entries } of sensorBins(this.#store, part, request, limit))
        if (!omitted.has(property)) yield { part, property, entries }
  }

  /** The members of the properties object. */
  async *#properties(
    part: SensorPart,
    request: BinQuery & { readonly limit: BinLimit },
    aggregates: readonly Aggregate[],
  ): AsyncGenerator<string, void, undefined> {
    let last: string | undefined
    for await (const { property, entries } of sensorBins(this.#store, part, request, request.limit)) {
      const texts = entries.map(entry => entryJson(entry, aggregates)).join(',')
      const before = last === undefined ? '' : '],'
      yield property === last ? `,${texts}` : `${before}${JSON.stringify(property)}:[${texts}`
      last = property
    }
    if (last !== undefined) yield ']'
  }
}
wire(BinService, SelectedSensors, Streams, GeoStore)

const featureOf = ({ id, geometry }: SensorPart): string =>
  `{"type":"Feature","id":${id},"geometry":${JSON.stringify(geometry)},"properties":`

const headOf = ({ id, name }: SensorPart): string => `{"sensor_name":${JSON.stringify(name)},"sensor_id":"${id}","properties":{`
