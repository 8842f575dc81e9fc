import { and, Clock, Collections, type DatasetRecord, Datasets, DocumentStore, eq, Log, Spaces, type StoredEvent, wire } from 'pounce/sdk'
import { type Containment, recordsInContainer, removeAllFromContainer } from 'pounce/sdk/kit'
import { datasets } from './collection.ts'
import { DatasetPlaces } from './dataset-places.ts'
import { DatasetTrash } from './dataset-trash.ts'

const inSpace: Containment<DatasetRecord> = { records: datasets, using: 'bySpace', field: 'spaces' }

const inCollection: Containment<DatasetRecord> = { records: datasets, using: 'byCollection', field: 'collections' }

/** Removes datasets from a deleted space. */
export class DetachDatasetsOnSpaceRemoved {
  #documents: DocumentStore
  #places: DatasetPlaces

  constructor(documents: DocumentStore, places: DatasetPlaces) {
    this.#documents = documents
    this.#places = places
  }

  async handle({ subject, actor }: StoredEvent<'space.removed'>): Promise<void> {
    await removeAllFromContainer(this.#documents, inSpace, subject.id, ({ id }) =>
      this.#places.leave(id, { kind: 'space', id: subject.id }, actor),
    )
  }
}
wire(DetachDatasetsOnSpaceRemoved, DocumentStore, DatasetPlaces)

/** Removes datasets from a deleted collection. */
export class DetachDatasetsOnCollectionRemoved {
  #documents: DocumentStore
  #places: DatasetPlaces

  constructor(documents: DocumentStore, places: DatasetPlaces) {
    this.#documents = documents
    this.#places = places
  }

  async handle({ subject, actor }: StoredEvent<'collection.removed'>): Promise<void> {
    await removeAllFromContainer(this.#documents, inCollection, subject.id, ({ id }) =>
      this.#places.leave(id, { kind: 'collection', id: subject.id }, actor),
    )
  }
}
wire(DetachDatasetsOnCollectionRemoved, DocumentStore, DatasetPlaces)

/** Updates the public flag and trial state of datasets when the access level of their space changes. */
export class UpdateDatasetAccessOnSpaceUpdated {
  #documents: DocumentStore
  #places: DatasetPlaces
  #spaces: Spaces

  constructor(documents: DocumentStore, places: DatasetPlaces, spaces: Spaces) {
    this.#documents = documents
    this.#places = places
    this.#spaces = spaces
  }

  async handle({ subject, actor, data }: StoredEvent<'space.updated'>): Promise<void> {
    if (!data.fields.includes('access')) return
    const isVerified = (await this.#spaces.get(subject.id))?.access !== 'TRIAL'
    for await (const dataset of recordsInContainer(this.#documents, inSpace, subject.id)) {
      if (isVerified && dataset.access === 'TRIAL') await this.#places.endTrial(dataset.id, actor)
      else await this.#places.settle(dataset, actor)
    }
  }
}
wire(UpdateDatasetAccessOnSpaceUpdated, DocumentStore, DatasetPlaces, Spaces)

/** Removes datasets from a space together with their collection on request, unless another collection of the space contains them. */
export class DetachDatasetsOnCollectionDetached {
  #documents: DocumentStore
  #places: DatasetPlaces
  #collections: Collections

  constructor(documents: DocumentStore, places: DatasetPlaces, collections: Collections) {
    this.#documents = documents
    this.#places = places
    this.#collections = collections
  }

  async handle({ subject, actor, data: { other, withDatasets } }: StoredEvent<'collection.detached'>): Promise<void> {
    if (!withDatasets || other.kind !== 'space') return
    if ((await this.#collections.get(subject.id))?.spaces.includes(other.id)) return
    for await (const dataset of recordsInContainer(this.#documents, inCollection, subject.id)) {
      const holders = await this.#collections.getMany(dataset.collections)
      const isHeld = [...holders.values()].some(holder => holder.spaces.includes(other.id))
      if (!isHeld) await this.#places.leave(dataset.id, { kind: 'space', id: other.id }, actor)
    }
  }
}
wire(DetachDatasetsOnCollectionDetached, DocumentStore, DatasetPlaces, Collections)

const silentMs = 60 * 60 * 1000

/** Rolls back imports that were interrupted by a crash of the server. */
export class AbandonedImports {
  #documents: DocumentStore
  #datasets: Datasets
  #clock: Clock
  #log: Log

  constructor(documents: DocumentStore, all: Datasets, clock: Clock, log: Log) {
    this.#documents = documents
    this.#datasets = all
    this.#clock = clock
    this.#log = log
  }

  async run(signal: AbortSignal): Promise<void> {
    const before = new Date(this.#clock.now().getTime() - silentMs).toISOString()
    const sort = { by: 'created', order: 'ascending' } as const
    for await (const { id, modified } of this.#documents.scan(datasets, { using: 'byCreated', where: eq('state', 'importing'), sort })) {
      if (signal.aborted) return
      if (modified >= before) continue
      await this.#datasets.drop(id)
      this.#log.info('Interrupted import rolled back', { dataset: id })
    }
  }
}
wire(AbandonedImports, DocumentStore, Datasets, Clock, Log)

/**
 * Removes datasets that were not changed within the time to live of their space from it, and moves them to the trash if it is their only
 * one.
 */
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
