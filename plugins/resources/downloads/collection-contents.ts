import { type Caller, type CollectionRecord, Collections, type DatasetRecord, Datasets, Policy, type Stored, wire } from 'pounce/sdk'
import { ArchiveContents, ArchiveFolder, each } from './archive-contents.ts'

type Collected = CollectionRecord & Stored
type Dataset = DatasetRecord & Stored

const pageSize = 1000

/** The contents of a collection that the caller may download. */
export interface CollectionContents {
  readonly top: ArchiveFolder
  readonly collections: readonly Collected[]
  readonly datasets: readonly Dataset[]
  /** Datasets that the caller may view but not download. Hidden ones are not mentioned. */
  readonly leftOut: readonly Dataset[]
}

/** Collects the contents of a collection archive. */
export class CollectionArchiveContents {
  #collections: Collections
  #datasets: Datasets
  #contents: ArchiveContents
  #policy: Policy

  constructor(collections: Collections, datasets: Datasets, contents: ArchiveContents, policy: Policy) {
    this.#collections = collections
    this.#datasets = datasets
    this.#contents = contents
    this.#policy = policy
  }

  /** A collection that is reached by several paths is placed on the shortest one. */
  async of(caller: Caller, collection: Collected): Promise<CollectionContents> {
    const top = new ArchiveFolder('collection', collection.id, collection.name)
    const seen = new Set([collection.id])
    const collections: Collected[] = [collection]
    const datasets = new Map<string, Dataset>()
    const leftOut = new Map<string, Dataset>()
    const waiting = [top]
    for (let archiveFolder = waiting.shift(); archiveFolder; archiveFolder = waiting.shift()) {
      const { id } = archiveFolder
      for (const dataset of await this.#datasetsIn(caller, id, leftOut)) {
        datasets.set(dataset.id, dataset)
        archiveFolder.subfolders.push(await this.#contents.ofDataset(dataset))
      }
      for (const child of await this.#childrenOf(caller, id)) {
        if (seen.has(child.id)) continue
        seen.add(child.id)
        collections.push(child)
        const below = new ArchiveFolder('collection', child.id, child.name)
        archiveFolder.subfolders.push(below)
        waiting.push(below)
      }
    }
    return { top, collections, datasets: [...datasets.values()], leftOut: [...leftOut.values()] }
  }

  async #datasetsIn(caller: Caller, collection: string, leftOut: Map<string, Dataset>): Promise<readonly Dataset[]> {
    const all = await Array.fromAsync(each(after => this.#datasets.inCollection(collection, { limit: pageSize, ...after })))
    const ids = all.map(({ id }) => id)
    const allowed = await this.#allowed(caller, 'DownloadFiles', 'dataset', ids)
    const refused = ids.filter(id => !allowed.has(id))
    const visible = await this.#allowed(caller, 'ViewDataset', 'dataset', refused)
    for (const dataset of all) if (visible.has(dataset.id)) leftOut.set(dataset.id, dataset)
    return all.filter(({ id }) => allowed.has(id))
  }

  async #childrenOf(caller: Caller, collection: string): Promise<readonly Collected[]> {
    const all = await Array.fromAsync(each(after => this.#collections.childrenOf(collection, { limit: pageSize, ...after })))
    const visible = await this.#allowed(
      caller,
      'ViewCollection',
      'collection',
      all.map(({ id }) => id),
    )
    return all.filter(({ id }) => visible.has(id))
  }

  async #allowed(
    caller: Caller,
    permission: 'DownloadFiles' | 'ViewDataset' | 'ViewCollection',
    kind: 'dataset' | 'collection',
    ids: readonly string[],
  ): Promise<ReadonlySet<string>> {
    const allowed = new Set<string>()
    for (let at = 0; at < ids.length; at += pageSize) {
      for (const id of await this.#policy.allowed(caller, permission, kind, ids.slice(at, at + pageSize))) allowed.add(id)
    }
    return allowed
  }
}
wire(CollectionArchiveContents, Collections, Datasets, ArchiveContents, Policy)
