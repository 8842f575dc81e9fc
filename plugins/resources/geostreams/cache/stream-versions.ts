import { createHash, type Hash } from 'node:crypto'
import { DocumentStore, eq, GeoStore, geoNumberOf, streamIdOf, wire } from 'pounce/sdk'
import { sensors, streams } from '../collections.ts'
import type { Stream } from '../records.ts'

const atOnce = 1000
/** Of more streams nobody wants to know before each answer. */
const mostStreams = 10_000

/**
 * Tells whether readings of streams can still be what they were. A reading that comes or goes changes what the store counts, and the stream's record right
 * after; a stream or sensor that is changed has another revision, one that is gone is no longer there.
 */
export class StreamVersions {
  #documents: DocumentStore
  #store: GeoStore

  constructor(documents: DocumentStore, store: GeoStore) {
    this.#documents = documents
    this.#store = store
  }

  /** Hex digits that are others whenever the streams (absent: all there are) may answer differently; undefined when there are too many to look at. */
  async of(chosen: readonly number[] | undefined): Promise<string | undefined> {
    const hash = createHash('md5').update(chosen ? 'some' : 'all')
    const above = new Set<string>()
    let count = 0
    for await (const some of chosen ? this.#these(chosen) : this.#all()) {
      count += some.length
      if (count > mostStreams) return undefined
      await this.#add(hash, some)
      for (const { sensor } of some) above.add(sensor)
    }
    const ids = [...above].sort()
    for (let at = 0; at < ids.length; at += atOnce) {
      const found = await this.#documents.getMany(sensors, ids.slice(at, at + atOnce))
      for (const [id, { revision }] of found) hash.update(`${id} ${revision}\n`)
    }
    return hash.digest('hex')
  }

  async *#these(chosen: readonly number[]): AsyncIterable<readonly Stream[]> {
    const ids = [...chosen].sort((one, other) => one - other).map(streamIdOf)
    for (let at = 0; at < ids.length; at += atOnce) {
      const found = await this.#documents.getMany(streams, ids.slice(at, at + atOnce))
      yield ids.slice(at, at + atOnce).flatMap(id => found.get(id) ?? [])
    }
  }

  async *#all(): AsyncIterable<readonly Stream[]> {
    const query = { using: 'byAge', where: eq('state', 'live'), limit: atOnce }
    let page = await this.#documents.find(streams, query)
    for (;;) {
      yield page.items
      if (!page.next) return
      page = await this.#documents.find(streams, { ...query, after: page.next })
    }
  }

  async #add(hash: Hash, some: readonly Stream[]): Promise<void> {
    const statistics = await this.#store.statistics(some.map(({ id }) => geoNumberOf(id)))
    for (const { id, revision, state } of some) {
      const { count, firstStartMs, lastEndMs } = statistics.get(geoNumberOf(id)) ?? {}
      hash.update(`${id} ${revision} ${state} ${count} ${firstStartMs} ${lastEndMs}\n`)
    }
  }
}
wire(StreamVersions, DocumentStore, GeoStore)
