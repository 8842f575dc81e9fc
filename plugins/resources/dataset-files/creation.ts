import {
  type Caller,
  Collections,
  CommitConflict,
  Datasets,
  demand,
  eq,
  event,
  type FileRecord,
  Files,
  Invalid,
  type NewDataset,
  NotFound,
  type Place,
  Policy,
  port,
  type Ref,
  type Stored,
  wire,
} from 'pounce/sdk'

const mostNamed = 1000

/** Makes datasets where people want them, of files that are there already. */
export class Creation {
  #datasets: Datasets
  #collections: Collections
  #files: Files
  #policy: Policy

  constructor(datasets: Datasets, collections: Collections, files: Files, policy: Policy) {
    this.#datasets = datasets
    this.#collections = collections
    this.#files = files
    this.#policy = policy
  }

  /** All rights are checked before anything is made: to add to each space and collection, and to change each file. */
  async create(caller: Caller, dataset: NewDataset, fileIds: readonly string[]): Promise<string> {
    const { spaces = [], collections = [] } = dataset
    if (spaces.length + collections.length > mostNamed) throw new Invalid(`At most ${mostNamed} spaces and collections can be named`)
    await this.#demandAll(caller, 'AddResourceToSpace', 'space', spaces)
    await this.#demandAll(caller, 'AddResourceToCollection', 'collection', collections)
    await this.#demandAll(caller, 'EditFile', 'file', fileIds)
    const { id } = await this.#datasets.create(dataset)
    await this.#attachAll(id, fileIds, caller.user?.id)
    return id
  }

  /** Puts files into the root of a dataset. */
  async attach(caller: Caller, dataset: string, fileIds: readonly string[]): Promise<void> {
    await demand(this.#policy, caller, 'AddResourceToDataset', { kind: 'dataset', id: dataset })
    await this.#demandAll(caller, 'EditFile', 'file', fileIds)
    await this.#attachAll(dataset, fileIds, caller.user?.id)
  }

  /** Deletes a dataset for good; the files in its root survive, in no dataset if they lie nowhere else. */
  async detachAndDelete(dataset: string, actor: string | undefined): Promise<void> {
    for (;;) {
      const { items } = await this.#files.in(dataset, { limit: 200 })
      if (items.length === 0) break
      const detached = (id: string) => event('file.detached', { kind: 'file', id }, { dataset }, actor)
      for (const { id } of items) await this.#unlessGone(this.#files.change(id, { pull: { places: [rootOf(dataset)] } }, [detached(id)]))
    }
    await this.#datasets.remove(dataset, actor)
  }

  async #demandAll(caller: Caller, permission: Parameters<typeof demand>[2], kind: Ref['kind'], ids: readonly string[]): Promise<void> {
    for (const id of ids) await demand(this.#policy, caller, permission, { kind, id })
  }

  async #attachAll(dataset: string, ids: readonly string[], actor: string | undefined): Promise<void> {
    for (const id of ids) {
      const file = await this.#files.get(id)
      if (!file || file.places.some(place => place.in === dataset)) continue
      const attached = event('file.attached', { kind: 'file', id }, { dataset }, actor)
      await this.#unlessGone(this.#files.change(id, { addToSet: { places: [rootOf(dataset)] } }, [attached]))
      await this.#lendThumbnail(file, dataset)
    }
  }

  /** A dataset without a thumbnail takes that of a file that comes in, and so do its collections. */
  async #lendThumbnail({ thumbnail }: FileRecord & Stored, id: string): Promise<void> {
    const dataset = await this.#datasets.get(id)
    if (thumbnail === null || !dataset || dataset.thumbnail !== null) return
    const change = { where: eq('thumbnail', null), set: { thumbnail } } as const
    await this.#unlessGone(
      this.#datasets.change(id, change, [event('dataset.updated', { kind: 'dataset', id }, { fields: ['thumbnail'] })]),
    )
    for (const collection of dataset.collections) {
      const updated = event('collection.updated', { kind: 'collection', id: collection }, { fields: ['thumbnail'] })
      await this.#unlessGone(this.#collections.change(collection, change, [updated]))
    }
  }

  /** What somebody deleted, or gave a thumbnail, at the same moment needs nothing more from us. */
  async #unlessGone(change: Promise<unknown>): Promise<void> {
    try {
      await change
    } catch (error) {
      if (!(error instanceof NotFound) && !(error instanceof CommitConflict)) throw error
    }
  }
}
wire(Creation, Datasets, Collections, Files, Policy)

export const DatasetCreation = port<Creation>('dataset-files.creation')

const rootOf = (dataset: string): Place => ({ dataset, folder: null, in: dataset })
