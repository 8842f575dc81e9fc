import { and, Clock, DocumentStore, eq, Spaces, type StoredEvent, wire } from 'pounce/sdk'
import { datasets } from './collection.ts'
import { DatasetPlaces } from './dataset-places.ts'
import { DatasetTrash } from './dataset-trash.ts'

/** Datasets that were not changed within the time to live of their space leave it, and go to the trash when it is the only one. */
export class ExpireDatasets {
  #documents: DocumentStore
  #spaces: Spaces
  #places: DatasetPlaces
  #trash: DatasetTrash
  #clock: Clock

  constructor(documents: DocumentStore, spaces: Spaces, places: DatasetPlaces, trash: DatasetTrash, clock: Clock) {
    this.#documents = documents
    this.#spaces = spaces
    this.#places = places
    this.#trash = trash
    this.#clock = clock
  }

  async handle({ subject }: StoredEvent<'space.expiry-due'>): Promise<void> {
    const space = await this.#spaces.get(subject.id)
    if (!space?.isTimeToLiveEnabled) return
    const before = new Date(this.#clock.now().getTime() - space.timeToLiveMs).toISOString()
    const where = and(eq('state', 'live'), eq('spaces', subject.id))
    const sort = { by: 'created', order: 'ascending' } as const
    for await (const { id, created, modified, spaces } of this.#documents.scan(datasets, { using: 'bySpace', where, sort })) {
      if (created >= before) return
      if (modified >= before) continue
      if (spaces.length > 1) await this.#places.leave(id, { kind: 'space', id: subject.id }, undefined)
      else await this.#trash.discard(id, undefined)
    }
  }
}
wire(ExpireDatasets, DocumentStore, Spaces, DatasetPlaces, DatasetTrash, Clock)
