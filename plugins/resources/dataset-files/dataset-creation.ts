import { authorize, type Caller, Datasets, Invalid, type Permission, Policy, type Ref, wire } from 'pounce/sdk'
import { type NewDataset, requirePlaced } from 'pounce/sdk/kit'
import { FilePlaces } from './file-places.ts'

const maxNamed = 1000

/** Creates datasets in spaces and collections, optionally with existing files, and deletes datasets while keeping files. */
export class DatasetCreation {
  #datasets: Datasets
  #places: FilePlaces
  #policy: Policy

  constructor(datasets: Datasets, places: FilePlaces, policy: Policy) {
    this.#datasets = datasets
    this.#places = places
    this.#policy = policy
  }

  /** All rights are checked before anything is created: to add to each space and collection, and to edit each file. */
  async create(caller: Caller, dataset: NewDataset, fileIds: readonly string[]): Promise<string> {
    const { spaces = [], collections = [] } = dataset
    if (spaces.length + collections.length > maxNamed) throw new Invalid(`At most ${maxNamed} spaces and collections`)
    requirePlaced(caller, spaces.length > 0)
    await this.#authorizeAll(caller, 'AddResourceToSpace', 'space', spaces)
    await this.#authorizeAll(caller, 'AddResourceToCollection', 'collection', collections)
    await this.#authorizeAll(caller, 'EditFile', 'file', fileIds)
    const { id } = await this.#datasets.create(dataset)
    await this.#places.attach(id, fileIds, caller.user?.id)
    return id
  }

  /** Adds files to the root of a dataset; the rights on the dataset and on each file are checked before anything is changed. */
  async attach(caller: Caller, dataset: string, fileIds: readonly string[]): Promise<void> {
    await this.#authorizeAll(caller, 'AddResourceToDataset', 'dataset', [dataset])
    await this.#authorizeAll(caller, 'EditFile', 'file', fileIds)
    await this.#places.attach(dataset, fileIds, caller.user?.id)
  }

  /** Deletes a dataset permanently. The files in its root are kept, in no dataset if they are in no other. */
  async detachAndDelete(dataset: string, actor: string | undefined): Promise<void> {
    await this.#places.detachRoot(dataset, actor)
    await this.#datasets.remove(dataset, actor)
  }

  async #authorizeAll(caller: Caller, permission: Permission, kind: Ref['kind'], ids: readonly string[]): Promise<void> {
    for (const id of ids) await authorize(this.#policy, caller, permission, { kind, id })
  }
}
wire(DatasetCreation, Datasets, FilePlaces, Policy)
