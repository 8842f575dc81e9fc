import { and, type Caller, DocumentStore, eq, GeoStore, isIn, Policy, Sensors, Streams, wire } from 'pounce/sdk'
import { type GeoListPage, geoNumberOf, type StreamStatistics } from 'pounce/sdk/geo'
import { compareText } from 'pounce/sdk/kit'
import { streams } from './collections.ts'
import { eachPage, seenBy } from './listing.ts'
import type { SensorStatistics } from './sensors/sensor-service.ts'

const maxCounted = 1_000_000

/** Maximum number of streams whose datapoints are summed individually. */
const maxStreams = 10_000

const batchSize = 1000

/** Counts the resources that a caller may view. */
export class GeostreamCounts {
  #sensors: Sensors
  #streams: Streams
  #policy: Policy
  #geo: GeoStore

  constructor(sensors: Sensors, streams: Streams, policy: Policy, geo: GeoStore) {
    this.#sensors = sensors
    this.#streams = streams
    this.#policy = policy
    this.#geo = geo
  }

  /**
   * Sensors and streams up to a million; datapoints exactly in up to 10,000 streams, and otherwise up to a million if the caller may view
   * all streams.
   */
  async of(caller: Caller): Promise<{ readonly sensors: number; readonly streams: number; readonly datapoints: number }> {
    const [sensors, streams] = await Promise.all([this.#sensors.count(caller, {}, maxCounted), this.#streams.count(caller, {}, maxCounted)])
    return { sensors, streams, datapoints: streams === 0 ? 0 : await this.#readings(caller, streams) }
  }

  async #readings(caller: Caller, streams: number): Promise<number> {
    if (streams > maxStreams && seenBy(this.#policy, caller) === 'all') return this.#geo.count({}, maxCounted)
    let count = 0
    let looked = 0
    for await (const some of eachPage(page => this.#streams.list(caller, {}, page), batchSize)) {
      const known = await this.#geo.statistics(some.map(({ id }) => geoNumberOf(id)))
      for (const each of known.values()) count += each.count
      looked += some.length
      if (looked >= maxStreams) break
    }
    return count
  }
}
wire(GeostreamCounts, Sensors, Streams, Policy, GeoStore)

const smallest = (one: number, other: number): number => Math.min(one, other)

const latest = (one: number | null, other: number | null): number | null =>
  one === null ? other : other === null ? one : Math.max(one, other)

/** Combines the statistics of two parts of a sensor's datapoints. */
const joined = (one: SensorStatistics, other: SensorStatistics): SensorStatistics => ({
  firstStartMs: smallest(one.firstStartMs, other.firstStartMs),
  lastEndMs: latest(one.lastEndMs, other.lastEndMs),
  properties: [...new Set([...one.properties, ...other.properties])].toSorted(compareText),
})

/** Current statistics of datapoints by stream, and by sensor through its streams. */
export class ReadingStatistics {
  #documents: DocumentStore
  #geo: GeoStore

  constructor(documents: DocumentStore, geo: GeoStore) {
    this.#documents = documents
    this.#geo = geo
  }

  /** For streams that have datapoints, by id. */
  async ofStreams(ids: readonly string[]): Promise<ReadonlyMap<string, StreamStatistics>> {
    const found = new Map<string, StreamStatistics>()
    for (let at = 0; at < ids.length; at += batchSize) {
      const some = ids.slice(at, at + batchSize)
      const known = await this.#geo.statistics(some.map(geoNumberOf))
      for (const id of some) {
        const statistics = known.get(geoNumberOf(id))
        if (statistics) found.set(id, statistics)
      }
    }
    return found
  }

  /** For sensors that have datapoints, by id; at most 1,000 sensors. */
  async ofSensors(ids: readonly string[]): Promise<ReadonlyMap<string, SensorStatistics>> {
    const found = new Map<string, SensorStatistics>()
    if (ids.length === 0) return found
    const where = and(eq('state', 'live'), isIn('sensor', ids))
    const list = (page: GeoListPage) => this.#documents.find(streams, { using: 'ageBySensor', where, ...page })
    for await (const some of eachPage(list, batchSize)) {
      const sensors = new Map(some.map(({ id, sensor }) => [id, sensor]))
      for (const [id, statistics] of await this.ofStreams([...sensors.keys()])) {
        const sensor = sensors.get(id) ?? ''
        const known = found.get(sensor)
        found.set(sensor, known ? joined(known, statistics) : statistics)
      }
    }
    return found
  }
}
wire(ReadingStatistics, DocumentStore, GeoStore)
