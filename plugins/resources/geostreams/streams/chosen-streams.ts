import { and, type Caller, DocumentStore, eq, Invalid, isIn, NotFound, type Page, Policy, type Ref, wire } from 'pounce/sdk'
import { type GeoListing, type GeoListPage, type StreamChoice, sensorIdOf, streamIdOf } from 'pounce/sdk/geo'
import { type Stream, sensors, streams } from '../collections.ts'
import { eachPage, seenBy } from '../listing.ts'

/** The limits of a `GeoFilter` for streams, and of a list of streams for sensors. */
const maxStreams = 10_000
const batchSize = 1000
const byName = { by: 'name', order: 'ascending' } as const

type List = (query: GeoListing & { readonly sensors?: readonly string[] }, page: GeoListPage) => Promise<Page<Stream>>

/** Finds the streams that a query for datapoints selects. */
export class StreamChooser {
  #documents: DocumentStore
  #policy: Policy

  constructor(documents: DocumentStore, policy: Policy) {
    this.#documents = documents
    this.#policy = policy
  }

  /** Ids of streams that match the selection and that the caller may view; undefined for all streams. */
  async choose(caller: Caller, choice: StreamChoice, list: List): Promise<readonly string[] | undefined> {
    const { stream, sensor, sources } = choice
    const one = stream === undefined ? undefined : await this.#visible(caller, { kind: 'stream', id: streamIdOf(stream) })
    const above = sensor === undefined ? undefined : await this.#visible(caller, { kind: 'sensor', id: sensorIdOf(sensor) })
    if (one !== undefined) return (await this.#fits(one, above, sources)) ? [one] : []
    if (sources === undefined && above === undefined && seenBy(this.#policy, caller) === 'all') return undefined
    const found: string[] = []
    const add = async (sensors?: readonly string[]): Promise<void> => {
      for await (const items of eachPage(page => list(sensors ? { sensors } : {}, page), 1000)) {
        found.push(...items.map(({ id }) => id))
        if (found.length > maxStreams) throw new Invalid(`More than ${maxStreams} streams: filter by sensors or streams`)
      }
    }
    if (sources === undefined) await add(above === undefined ? undefined : [above])
    else for await (const some of this.#ofSources(sources, above)) await add(some)
    return found
  }

  async #visible(caller: Caller, ref: Ref): Promise<string> {
    if ((await this.#policy.canOn(caller, 'ViewGeoStream', ref)) !== 'yes') throw new NotFound(ref.kind)
    return ref.id
  }

  async #fits(stream: string, sensor: string | undefined, sources: readonly string[] | undefined): Promise<boolean> {
    if (sensor === undefined && sources === undefined) return true
    const found = await this.#documents.get(streams, stream)
    if (!found || (sensor !== undefined && found.sensor !== sensor)) return false
    if (sources === undefined) return true
    const source = (await this.#documents.get(sensors, found.sensor))?.source
    return typeof source === 'string' && sources.includes(source)
  }

  /** Ids of the sensors of these sources, in batches. */
  async *#ofSources(sources: readonly string[], sensor: string | undefined): AsyncIterable<readonly string[]> {
    const where = and(eq('state', 'live'), isIn('source', [...new Set(sources)]))
    const list = (page: GeoListPage) => this.#documents.find(sensors, { using: 'bySource', where, ...page, sort: byName })
    for await (const items of eachPage(list, batchSize)) {
      const some = items.map(({ id }) => id).filter(id => sensor === undefined || id === sensor)
      if (some.length > 0) yield some
    }
  }
}
wire(StreamChooser, DocumentStore, Policy)
