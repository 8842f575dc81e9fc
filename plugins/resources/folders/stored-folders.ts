import {
  type After,
  DocumentStore,
  eq,
  type FolderRecord,
  type Folders,
  type NewEvent,
  orNotFound,
  type Page,
  type Stored,
  type Update,
  type Where,
  wire,
} from 'pounce/sdk'
import { type Folder, folders } from './collection.ts'

/** Folders in the document store. */
export class StoredFolders implements Folders {
  #documents: DocumentStore

  constructor(documents: DocumentStore) {
    this.#documents = documents
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
}
wire(StoredFolders, DocumentStore)

/** Undefined when a folder above is gone: what is below it is on its way out too. */
const pathOf = (id: string, known: ReadonlyMap<string, Folder>): readonly string[] | undefined => {
  const path: string[] = []
  for (let folder = known.get(id); folder !== undefined; folder = known.get(folder.parent.id)) {
    path.unshift(folder.displayName)
    if (folder.parent.kind === 'dataset') return path
  }
  return undefined
}
