import {
  type After,
  and,
  Clock,
  CommitConflict,
  Conflict,
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
  Taken,
  type Update,
  type Where,
  wire,
} from 'pounce/sdk'
import { type FolderPath, type NewFolder, orNotFound } from 'pounce/sdk/kit'
import { type Folder, folders, removedFolder } from './collection.ts'
import { chainsTo, FolderPlaces, withDisplayName } from './folder-places.ts'

const tries = 20

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
    const folder = await withDisplayName(this.#documents, { parent: parent.id, name }, displayName =>
      this.#documents.commit({ insert: { id, ...record, displayName }, into: folders }, isImporting ? [] : [created]),
    )
    if (await this.#isThere(dataset, parent)) return folder
    await this.#withdraw(folder)
    throw new NotFound(parent.kind)
  }

  async at({ parent, path }: Pick<FolderPath, 'parent' | 'path'>): Promise<Folder | undefined> {
    let found: Folder | undefined
    for (const name of path) {
      found = await this.#named(found?.id ?? parent.id, name)
      if (!found) return undefined
    }
    return found
  }

  async ensure({ dataset, parent, path, author, isToldApart = false }: Parameters<Folders['ensure']>[0]): Promise<Folder> {
    const there = await this.at({ parent, path })
    if (there?.dataset === dataset) return there
    for (let left = tries; left > 0; left--) {
      await this.#places.mustTake({ dataset, parent }, path.length - 1)
      const created = await this.#follow({ dataset, parent, path }, { author, isToldApart })
      // A folder on the path was deleted or moved concurrently: start again at the root.
      if (created?.dataset === dataset) return created
    }
    throw new Conflict('Too many concurrent changes of the folders on this path; try again')
  }

  async #follow({ dataset, parent, path }: FolderPath, by: Pick<Parameters<Folders['ensure']>[0], 'author' | 'isToldApart'>) {
    let place = parent
    let folder: Folder | undefined
    for (const name of path) {
      folder = (await this.#named(place.id, name)) ?? (await this.#add({ dataset, parent: place, name }, by))
      if (!folder) return undefined
      place = { kind: 'folder', id: folder.id }
    }
    return folder
  }

  /** Creates the folder under exactly this name; undefined when its parent is deleted. A concurrent second request gets the same folder. */
  async #add(
    { dataset, parent, name: displayName }: Pick<FolderRecord, 'dataset' | 'parent' | 'name'>,
    { author, isToldApart }: Pick<Parameters<Folders['ensure']>[0], 'author' | 'isToldApart'>,
  ): Promise<Folder | undefined> {
    const id = this.#ids.next()
    const created = event('folder.created', { kind: 'folder', id }, { dataset, ...(isToldApart ? { isToldApart } : {}) }, author)
    const record = { name: displayName, displayName, author, created: this.#clock.now().toISOString(), dataset, parent }
    try {
      const folder = await this.#documents.commit({ insert: { id, ...record }, into: folders }, [created])
      if (await this.#isThere(dataset, parent)) return folder
      await this.#withdraw(folder)
      return undefined
    } catch (error) {
      if (!(error instanceof Taken)) throw error
      return this.#named(parent.id, displayName)
    }
  }

  async #named(parent: string, name: string): Promise<Folder | undefined> {
    const where = and(eq('parent.id', parent), eq('displayName', name))
    return (await this.#documents.find(folders, { using: 'byParent', where, limit: 1 })).items[0]
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

  /** Deletes a folder whose parent was deleted concurrently, unless the cascade has done so. */
  async #withdraw(folder: Folder): Promise<void> {
    try {
      await this.#documents.commit({ tombstone: folder.id, in: folders }, [removedFolder(folder, undefined)])
    } catch (error) {
      if (!(error instanceof CommitConflict)) throw error
    }
  }

  async #isThere(dataset: string, parent: FolderRecord['parent']): Promise<boolean> {
    if (!(await this.#datasets.get(dataset))) return false
    return parent.kind === 'dataset' || (await this.get(parent.id)) !== undefined
  }
}
wire(StoredFolders, DocumentStore, Datasets, FolderPlaces, Ids, Clock)
