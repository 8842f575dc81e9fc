import { type Caller, GeoStore, Sensors, Streams, wire } from 'pounce/sdk'
import { type Geometry, geoNumberOf, type StreamStatistics, streamIdOf } from 'pounce/sdk/geo'
import { compareText } from 'pounce/sdk/kit'
import type { Sensor } from '../collections.ts'
import { eachPage } from '../listing.ts'

/** A sensor with those of its selected streams that have datapoints. */
export interface SensorPart {
  readonly id: number
  readonly name: string
  /** The location of the sensor. */
  readonly geometry: Geometry
  /** In the order of their creation. */
  readonly streams: readonly number[]
  /** Number of datapoints of these streams, regardless of other filters. */
  readonly count: number
  /** When the last of these datapoints ends; null if none has an end. */
  readonly lastEndMs: number | null
  /** Property names of the datapoints of these streams, at most 1,000 per stream, by code point. */
  readonly properties: ReadonlySet<string>
}

const idBatchSize = 1000

const sensorBatchSize = 100

function* inPieces<T>(all: readonly T[], size: number): Iterable<readonly T[]> {
  for (let at = 0; at < all.length; at += size) yield all.slice(at, at + size)
}

/** Finds the sensors whose datapoints a query selects, by name. */
export class SelectedSensors {
  #sensors: Sensors
  #streams: Streams
  #store: GeoStore

  constructor(sensors: Sensors, streams: Streams, store: GeoStore) {
    this.#sensors = sensors
    this.#streams = streams
    this.#store = store
  }

  /** `chosen` comes from `Streams.chosen`. Reads lazily. */
  async *of(caller: Caller, chosen: readonly number[] | undefined): AsyncGenerator<SensorPart, void, undefined> {
    const pages = chosen === undefined ? this.#all(caller) : this.#theirs(chosen)
    for await (const page of pages) yield* await this.#parts(page)
  }

  async *#all(caller: Caller): AsyncIterable<ReadonlyMap<Sensor, readonly number[]>> {
    for await (const sensors of eachPage(page => this.#sensors.list(caller, {}, page), sensorBatchSize)) {
      const found = new Map<string, number[]>(sensors.map(({ id }) => [id, []]))
      const list = { sensors: [...found.keys()] }
      if (sensors.length > 0)
        for await (const streams of eachPage(page => this.#streams.list(caller, list, page), idBatchSize))
          for (const { id, sensor } of streams) found.get(sensor)?.push(geoNumberOf(id))
      yield new Map(sensors.map(sensor => [sensor, found.get(sensor.id) ?? []]))
    }
  }

  async *#theirs(chosen: readonly number[]): AsyncIterable<ReadonlyMap<Sensor, readonly number[]>> {
    const found = new Map<string, number[]>()
    for (const some of inPieces([...new Set(chosen)], idBatchSize))
      for (const [id, { sensor, state }] of await this.#streams.getMany(some.map(streamIdOf))) {
        if (state !== 'live') continue
        const known = found.get(sensor)
        if (known) known.push(geoNumberOf(id))
        else found.set(sensor, [geoNumberOf(id)])
      }
    const sensors: Sensor[] = []
    for (const some of inPieces([...found.keys()], idBatchSize)) sensors.push(...(await this.#sensors.getMany(some)).values())
    const live = sensors.filter(({ state }) => state === 'live')
    live.sort((one, other) => compareText(one.name, other.name) || compareText(one.id, other.id))
    for (const some of inPieces(live, sensorBatchSize)) yield new Map(some.map(sensor => [sensor, found.get(sensor.id) ?? []]))
  }

  async #parts(page: ReadonlyMap<Sensor, readonly number[]>): Promise<readonly SensorPart[]> {
    const known = new Map<number, StreamStatistics>()
    for (const some of inPieces([...page.values()].flat(), idBatchSize))
      for (const [stream, statistics] of await this.#store.statistics(some)) known.set(stream, statistics)
    return [...page].flatMap(([{ id, name, geometry }, all]) => {
      const streams = all.filter(stream => known.has(stream)).sort((one, other) => one - other)
      if (streams.length === 0) return []
      const properties = new Set(streams.flatMap(stream => known.get(stream)?.properties ?? []).sort(compareText))
      const count = streams.reduce((sum, stream) => sum + (known.get(stream)?.count ?? 0), 0)
      const ends = streams.flatMap(stream => known.get(stream)?.lastEndMs ?? [])
      const lastEndMs = ends.length === 0 ? null : ends.reduce((one, other) => Math.max(one, other))
      return [{ id: geoNumberOf(id), name, geometry, streams, count, lastEndMs, properties }]
    })
  }
}
wire(SelectedSensors, Sensors, Streams, GeoStore)
