import {
  type AnyEvent,
  type BatchHandler,
  DocumentStore,
  event,
  GeoStore,
  type Handler,
  NotFound,
  type StoredEvent,
  type Streams,
  wire,
} from 'pounce/sdk'
import { type Datapoint, geoNumberOf, streamIdOf } from 'pounce/sdk/geo'
import { streams } from '../collections.ts'

/** Records datapoints that were not acknowledged and could not be deleted immediately. They are deleted with their stream in any case. */
export const abandon = async (
  streams: Streams,
  points: readonly Datapoint[],
  changed: string,
  actor: string | undefined,
): Promise<void> => {
  for (const [number, some] of Map.groupBy(points, ({ stream }) => stream)) {
    const subject = { kind: 'stream', id: streamIdOf(number) } as const
    const ids = some.map(({ id }) => id)
    try {
      await streams.change(subject.id, { set: { changed } }, [event('stream.datapoints-abandoned', subject, { ids }, actor)])
    } catch (error) {
      if (!(error instanceof NotFound)) throw error
    }
  }
}

/** Deletes them once their store is available again. */
export class DeleteAbandonedDatapoints implements Handler<'stream.datapoints-abandoned'> {
  #geo: GeoStore

  constructor(geo: GeoStore) {
    this.#geo = geo
  }

  async handle({ data }: StoredEvent<'stream.datapoints-abandoned'>): Promise<void> {
    await this.#geo.remove({ ids: data.ids })
  }
}
wire(DeleteAbandonedDatapoints, GeoStore)

/** Deletes the datapoints of a deleted stream. */
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
    const missing = ids.filter(id => !there.has(id))
    if (missing.length > 0) await this.#geo.remove({ streams: missing.map(geoNumberOf) })
  }
}
wire(DeleteReadingsOnStreamRemoved, DocumentStore, GeoStore)
