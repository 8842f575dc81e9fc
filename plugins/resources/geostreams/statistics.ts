import { and, DocumentStore, eq, type GeoListPage, GeoStore, geoNumberOf, isIn, type StreamStatistics, wire } from 'pounce/sdk'
import { streams } from './collections.ts'
import { eachPage } from './listing.ts'
import type { SensorStatistics } from './sensors/sensor-json.ts'
import { byCodePoint } from './sums/by-code-point.ts'

const streamsAtOnce = 1000

const smallest = (one: number, other: number): number => Math.min(one, other)
const latest = (one: number | null, other: number | null): number | null =>
  one === null ? other : other === null ? one : Math.max(one, other)

/** What two parts of a sensor's readings are together. */
const joined = (one: SensorStatistics, other: SensorStatistics): SensorStatistics => ({
  firstStartMs: smallest(one.firstStartMs, other.firstStartMs),
  lastEndMs: latest(one.lastEndMs, other.lastEndMs),
  properties: [...new Set([...one.properties, ...other.properties])].toSorted(byCodePoint),
})

/** What is known of readings, as it is now: of streams, and of sensors through their streams. */
export class ReadingStatistics {
  #documents: DocumentStore
  #geo: GeoStore

  constructor(documents: DocumentStore, geo: GeoStore) {
    this.#documents = documents
    this.#geo = geo
  }

  /** Of streams that have readings, by id. */
  async ofStreams(ids: readonly string[]): Promise<ReadonlyMap<string, StreamStatistics>> {
    const found = new Map<string, StreamStatistics>()
    for (let at = 0; at < ids.length; at += streamsAtOnce) {
      const some = ids.slice(at, at + streamsAtOnce)
      const known = await this.#geo.statistics(some.map(geoNumberOf))
      for (const id of some) {
        const statistics = known.get(geoNumberOf(id))
        if (statistics) found.set(id, statistics)
      }
    }
    return found
  }

  /** Of sensors that have readings, by id; at most 1,000 sensors. */
  async ofSensors(ids: readonly string[]): Promise<ReadonlyMap<string, SensorStatistics>> {
    const found = new Map<string, SensorStatistics>()
    if (ids.length === 0) return found
    const where = and(eq('state', 'live'), isIn('sensor', ids))
    const list = (page: GeoListPage) => this.#documents.find(streams, { using: 'ageBySensor', where, ...page })
    for await (const some of eachPage(list, streamsAtOnce)) {
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
