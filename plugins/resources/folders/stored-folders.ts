import {
  type After,
  Clock,
  Datasets,
  DocumentStore,
  eq,
  event,
  type FolderRecord,
  type Folders,
  Ids,
  type NewEvent,
  NotFound,
  type Page,
  type Stored,
  type Update,
  type Where,
  wire,
} from 'pounce/sdk'
import { type NewFolder, orNotFound } from 'pounce/sdk/kit'
import { type Folder, folders } from './collection.ts'
import { chainsTo, FolderPlaces, withDisplayName } from './folder-places.ts'

/** Folders in the document store. */
export class StoredFolders implements Folders {
  #documents: DocumentStore
  #datasets: Datasets
  #places: FolderPlaces
  #ids: Ids
  #clock: Clock

  constructor(documents: DocumentStore, datasets: Datasets, places: FolderPlaces, ids: Ids, clock: Clock) {
    this.#documents = documents
    this.#places = places
    this.#datasets = datasets
    this.#ids = ids
    this.#clock = clock
  }

  async create({ name, dataset, parent, author, isImporting = false }: NewFolder): Promise<Folder> {
    await this.#places.mustTake({ dataset, parent })
    const id = this.#ids.next()
    const created = event('folder.created', { kind: 'folder', id }, { dataset }, author)
    const record = { name, author, created: this.#clock.now().toISOString(), dataset, parent }
    const folder = await withDisplayName(this.#documents, parent.id, name, displayName =>
      this.#documents.commit({ insert: { id, ...record, displayName }, into: folders }, isImporting ? [] : [created]),
    )
    if (await this.#isThere(dataset, parent)) return folder
    await this.#documents.commit({ tombstone: id, in: folders }, [event('folder.removed', { kind: 'folder', id }, { dataset })])
    throw new NotFound(parent.kind)
  }

  get(id: string): Promise<(FolderRecord & Stored) | undefined> {
    return this.#documents.get(folders, id)
  }

  getMany(ids: readonly string[]): Promise<ReadonlyMap<string, FolderRecord & Stored>> {
    return this.#documents.getMany(folders, ids)
  }

  change(id: string, update: Update & { readonly where?: Where }, events: readonly NewEvent[]): Promise<FolderRecord & Stored> {
    return orNotFound('folder', this.#documents.commit({ update: id, in: folders, ...update }, events))
  }

  async paths(ids: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>> {
    const chains = await chainsTo(this.#documents, ids)
    return new Map([...chains].map(([id, chain]) => [id, chain.map(folder => folder.displayName)]))
  }

  async datasetsOf(ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const chains = await chainsTo(this.#documents, ids)
    return new Map([...chains].flatMap(([id, [top]]) => (top ? [[id, top.parent.id]] : [])))
  }

  childrenOf(parent: string, page: { readonly after?: After; readonly limit: number }): Promise<Page<FolderRecord & Stored>> {
    const where = eq('parent.id', parent)
    return this.#documents.find(folders, { using: 'byParent', where, sort: { by: 'displayName', order: 'ascending' }, ...page })
  }

  ofDataset(dataset: string): AsyncIterable<FolderRecord & Stored> {
    const where = eq('dataset', dataset)
    return this.#documents.scan(folders, { using: 'byDataset', where, sort: { by: 'created', order: 'ascending' } })
  }

  async #isThere(dataset: string, parent: FolderRecord['parent']): Promise<boolean> {
    if (!(await this.#datasets.get(dataset))) return false
    return parent.kind === 'dataset' || (await this.get(parent.id)) !== undefined
  }
}
wire(StoredFolders, DocumentStore, Datasets, FolderPlaces, Ids, Clock)
