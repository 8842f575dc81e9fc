import {
  Collections,
  type Containment,
  containedIn,
  type DatasetRecord,
  DocumentStore,
  Spaces,
  type StoredEvent,
  takeOutAll,
  wire,
} from 'pounce/sdk'
import { datasets } from './collection.ts'
import { DatasetPlaces } from './dataset-places.ts'

const inSpace: Containment<DatasetRecord> = { records: datasets, using: 'bySpace', field: 'spaces' }
const inCollection: Containment<DatasetRecord> = { records: datasets, using: 'byCollection', field: 'collections' }

/** A space that is gone holds no datasets. */
export class DetachDatasetsOnSpaceRemoved {
  #documents: DocumentStore
  #places: DatasetPlaces

  constructor(documents: DocumentStore, places: DatasetPlaces) {
    this.#documents = documents
    this.#places = places
  }

  async handle({ subject, actor }: StoredEvent<'space.removed'>): Promise<void> {
    await takeOutAll(this.#documents, inSpace, subject.id, ({ id }) => this.#places.leave(id, { kind: 'space', id: subject.id }, actor))
  }
}
wire(DetachDatasetsOnSpaceRemoved, DocumentStore, DatasetPlaces)

/** A collection that is gone holds no datasets. */
export class DetachDatasetsOnCollectionRemoved {
  #documents: DocumentStore
  #places: DatasetPlaces

  constructor(documents: DocumentStore, places: DatasetPlaces) {
    this.#documents = documents
    this.#places = places
  }

  async handle({ subject, actor }: StoredEvent<'collection.removed'>): Promise<void> {
    await takeOutAll(this.#documents, inCollection, subject.id, ({ id }) =>
      this.#places.leave(id, { kind: 'collection', id: subject.id }, actor),
    )
  }
}
wire(DetachDatasetsOnCollectionRemoved, DocumentStore, DatasetPlaces)

/** A space that becomes public, ceases to be, or is verified, takes its datasets along. */
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
    for await (const dataset of containedIn(this.#documents, inSpace, subject.id)) {
      if (isVerified && dataset.access === 'TRIAL') await this.#places.endTrial(dataset.id, actor)
      else await this.#places.settle(dataset, actor)
    }
  }
}
wire(UpdateDatasetAccessOnSpaceUpdated, DocumentStore, DatasetPlaces, Spaces)

/** Datasets leave a space with their collection when that was asked for, unless another collection of the space holds them. */
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
    for await (const dataset of containedIn(this.#documents, inCollection, subject.id)) {
      const holders = await this.#collections.getMany(dataset.collections)
      const isHeld = [...holders.values()].some(holder => holder.spaces.includes(other.id))
      if (!isHeld) await this.#places.leave(dataset.id, { kind: 'space', id: other.id }, actor)
    }
  }
}
wire(DetachDatasetsOnCollectionDetached, DocumentStore, DatasetPlaces, Collections)
