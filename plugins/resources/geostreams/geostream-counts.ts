import { type Caller, GeoStore, geoNumberOf, Policy, Sensors, Streams, wire } from 'pounce/sdk'
import { eachPage, seenBy } from './listing.ts'

const mostCounted = 1_000_000
/** As many as have their readings added up one by one. */
const mostStreams = 10_000
const streamsAtOnce = 1000

/** Counts what a caller may see. */
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

  /** Sensors and streams up to a million; readings in up to 10,000 streams exactly, and of more streams up to a million where the caller may see them all. */
  async of(caller: Caller): Promise<{ readonly sensors: number; readonly streams: number; readonly datapoints: number }> {
    const [sensors, streams] = await Promise.all([
      this.#sensors.count(caller, {}, mostCounted),
      this.#streams.count(caller, {}, mostCounted),
    ])
    return { sensors, streams, datapoints: streams === 0 ? 0 : await this.#readings(caller, streams) }
  }

  async #readings(caller: Caller, streams: number): Promise<number> {
    if (streams > mostStreams && seenBy(this.#policy, caller) === 'all') return this.#geo.count({}, mostCounted)
    let count = 0
    let looked = 0
    for await (const some of eachPage(page => this.#streams.list(caller, {}, page), streamsAtOnce)) {
      const known = await this.#geo.statistics(some.map(({ id }) => geoNumberOf(id)))
      for (const each of known.values()) count += each.count
      looked += some.length
      if (looked >= mostStreams) break
    }
    return count
  }
}
wire(GeostreamCounts, Sensors, Streams, Policy, GeoStore)
