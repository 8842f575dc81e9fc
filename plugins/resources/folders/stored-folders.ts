import {
  type After,
  Clock,
  Conflict,
  Datasets,
  DocumentStore,
  eq,
  event,
  type FolderRecord,
  type Folders,
  Ids,
  Invalid,
  type NewEvent,
  type NewFolder,
  NotFound,
  orNotFound,
  type Page,
  type Stored,
  s,
  type Update,
  type Where,
  wire,
} from 'pounce/sdk'
import { type Folder, folders } from './collection.ts'
import { withDisplayName } from './display-names.ts'

/** Levels of folders in a dataset. */
export const deepestFolder = 100

/** Folders in the document store. */
export class StoredFolders implements Folders {
  #documents: DocumentStore
  #datasets: Datasets
  #ids: Ids
  #clock: Clock

  constructor(documents: DocumentStore, datasets: Datasets, ids: Ids, clock: Clock) {
    this.#documents = documents
    this.#datasets = datasets
    this.#ids = ids
    this.#clock = clock
  }

  async create({ name, dataset, parent, author, isImporting = false }: NewFolder): Promise<Folder> {
    await this.#mustTake(dataset, parent)
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
    const known = new Map<string, Folder>()
    let missing = [...new Set(ids)]
    while (missing.length > 0) {
      const above = new Set<string>(missing.slice(1000))
      const found = await this.getMany(missing.slice(0, 1000))
      for (const folder of found.values()) {
        known.set(folder.id, folder)
        if (folder.parent.kind === 'folder') above.add(folder.parent.id)
      }
      missing = [...above].filter(id => !known.has(id))
    }
    return new Map(
      ids.flatMap(id => {
        const path = pathOf(id, known)
        return path ? [[id, path]] : []
      }),
    )
  }

  childrenOf(parent: string, page: { readonly after?: After; readonly limit: number }): Promise<Page<FolderRecord & Stored>> {
    const where = eq('parent.id', parent)
    return this.#documents.find(folders, { using: 'byParent', where, sort: { by: 'displayName', order: 'ascending' }, ...page })
  }

  ofDataset(dataset: string): AsyncIterable<FolderRecord & Stored> {
    const where = eq('dataset', dataset)
    return this.#documents.scan(folders, { using: 'byDataset', where, sort: { by: 'created', order: 'ascending' } })
  }

  async #mustTake(dataset: string, parent: FolderRecord['parent']): Promise<void> {
    const record = await this.#datasets.get(dataset)
    if (!record) throw new NotFound('dataset')
    if (record.state === 'trashed') throw new Conflict('This dataset is in the trash; restore it first')
    if (parent.kind === 'dataset' && parent.id !== dataset)
      throw new Invalid('parentId must be the id of this dataset, or of a folder in it')
    if (parent.kind === 'dataset') return
    const above = s.isId(parent.id) ? await this.get(parent.id) : undefined
    const path = above?.dataset === dataset ? (await this.paths([parent.id])).get(parent.id) : undefined
    if (!path) throw new NotFound('folder')
    if (path.length >= deepestFolder) throw new Invalid(`Folders can be nested ${deepestFolder} deep at most`)
  }

  async #isThere(dataset: string, parent: FolderRecord['parent']): Promise<boolean> {
    if (!(await this.#datasets.get(dataset))) return false
    return parent.kind === 'dataset' || (await this.get(parent.id)) !== undefined
  }
}
wire(StoredFolders, DocumentStore, Datasets, Ids, Clock)

/** Undefined when a folder above is gone: what is below it is on its way out too. */
const pathOf = (id: string, known: ReadonlyMap<string, Folder>): readonly string[] | undefined => {
  const path: string[] = []
  for (let folder = known.get(id); folder !== undefined; folder = known.get(folder.parent.id)) {
    path.unshift(folder.displayName)
    if (folder.parent.kind === 'dataset') return path
  }
  return undefined
}
