import { type AnyEvent, type BatchHandler, DocumentStore, GeoStore, geoNumberOf, wire } from 'pounce/sdk'
import { streams } from '../collections.ts'

/** A stream that is gone has no readings. */
export class DeleteReadingsOnStreamRemoved implements BatchHandler {
  #documents: DocumentStore
  #geo: GeoStore

  constructor(documents: DocumentStore, geo: GeoStore) {
    this.#documents = documents
    this.#geo = geo
  }

  async handleAll(events: readonly AnyEvent[]): Promise<void> {
    const ids = [...new Set(events.map(({ subject }) => subject.id))]
    const there = await this.#documents.getMany(streams, ids)
    const gone = ids.filter(id => !there.has(id))
    if (gone.length > 0) await this.#geo.remove({ streams: gone.map(geoNumberOf) })
  }
}
wire(DeleteReadingsOnStreamRemoved, DocumentStore, GeoStore)
