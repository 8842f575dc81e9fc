import { and, Collections, DocumentStore, eq, type Ref, Spaces, type StoredEvent, wire } from 'pounce/sdk'
import { allStates, type Dataset, datasets } from './collection.ts'
import { DatasetPlaces } from './dataset-places.ts'

const batch = 200
const oldestFirst = { by: 'created', order: 'ascending' } as const
const fields = { space: { using: 'bySpace', name: 'spaces' }, collection: { using: 'byCollection', name: 'collections' } } as const
type Container = Ref & { readonly kind: keyof typeof fields }

/** Every dataset in a space or collection, whatever its state, read while one works on them. */
async function* datasetsIn(documents: DocumentStore, { kind, id }: Container): AsyncIterable<Dataset> {
  const { using, name } = fields[kind]
  for (const state of allStates) {
    yield* documents.scan(datasets, { using, where: and(eq('state', state), eq(name, id)), sort: oldestFirst })
  }
}

/** Takes every dataset out of a space or collection that is gone, until none is left: what comes in meanwhile is not missed. */
const leaveAll = async (
  documents: DocumentStore,
  places: DatasetPlaces,
  container: Container,
  actor: string | undefined,
): Promise<void> => {
  const { using, name } = fields[container.kind]
  for (const state of allStates) {
    const where = and(eq('state', state), eq(name, container.id))
    for (;;) {
      const { items } = await documents.find(datasets, { using, where, sort: oldestFirst, limit: batch })
      if (items.length === 0) break
      for (const { id } of items) await places.leave(id, container, actor)
    }
  }
}

/** A space that is gone holds no datasets. */
export class DetachDatasetsOnSpaceRemoved {
  #documents: DocumentStore
  #places: DatasetPlaces

  constructor(documents: DocumentStore, places: DatasetPlaces) {
    this.#documents = documents
    this.#places = places
  }

  async handle({ subject, actor }: StoredEvent<'space.removed'>): Promise<void> {
    await leaveAll(this.#documents, this.#places, { kind: 'space', id: subject.id }, actor)
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
    await leaveAll(this.#documents, this.#places, { kind: 'collection', id: subject.id }, actor)
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
    for await (const dataset of datasetsIn(this.#documents, { kind: 'space', id: subject.id })) {
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
    for await (const dataset of datasetsIn(this.#documents, { kind: 'collection', id: subject.id })) {
      const holders = await this.#collections.getMany(dataset.collections)
      const isHeld = [...holders.values()].some(holder => holder.spaces.includes(other.id))
      if (!isHeld) await this.#places.leave(dataset.id, { kind: 'space', id: other.id }, actor)
    }
  }
}
wire(DetachDatasetsOnCollectionDetached, DocumentStore, DatasetPlaces, Collections)
