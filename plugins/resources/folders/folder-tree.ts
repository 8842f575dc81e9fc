import {
  and,
  Clock,
  Conflict,
  Datasets,
  DocumentStore,
  eq,
  event,
  type FolderRecord,
  Folders,
  Ids,
  Invalid,
  NotFound,
  orNotFound,
  port,
  s,
  startsWith,
  Taken,
  wire,
} from 'pounce/sdk'
import { type Folder, folders } from './collection.ts'

const deepest = 100
const tries = 50

/** Where a folder is to be made. */
export interface NewFolder {
  readonly name: string
  readonly dataset: string
  readonly parent: FolderRecord['parent']
  readonly author: string
}

/** Makes, renames and removes folders. */
export class FolderTree {
  #documents: DocumentStore
  #folders: Folders
  #datasets: Datasets
  #ids: Ids
  #clock: Clock

  constructor(documents: DocumentStore, all: Folders, datasets: Datasets, ids: Ids, clock: Clock) {
    this.#documents = documents
    this.#folders = all
    this.#datasets = datasets
    this.#ids = ids
    this.#clock = clock
  }

  /** A folder in a dataset; `NotFound` for one of another dataset. */
  async inDataset(dataset: string, id: string): Promise<Folder> {
    const folder = s.isId(id) ? await this.#folders.get(id) : undefined
    if (folder?.dataset !== dataset) throw new NotFound('folder')
    return folder
  }

  async create({ name, dataset, parent, author }: NewFolder): Promise<Folder> {
    await this.#mustTake(dataset, parent)
    const id = this.#ids.next()
    const created = event('folder.created', { kind: 'folder', id }, { dataset }, author)
    const record = { name, author, created: this.#clock.now().toISOString(), dataset, parent }
    const folder = await this.#named(parent.id, name, displayName =>
      this.#documents.commit({ insert: { id, ...record, displayName }, into: folders }, [created]),
    )
    if (await this.#isThere(dataset, parent)) return folder
    await this.#documents.commit({ tombstone: id, in: folders }, [event('folder.removed', { kind: 'folder', id }, { dataset })])
    throw new NotFound(parent.kind)
  }

  /** Resolves to the folder with its new display name. */
  async rename(folder: Folder, name: string, actor: string | undefined): Promise<Folder> {
    if (folder.name === name) return folder
    const { id, dataset, parent } = folder
    const updated = event('folder.updated', { kind: 'folder', id }, { dataset }, actor)
    return this.#named(parent.id, name, displayName =>
      orNotFound('folder', this.#documents.commit({ update: id, in: folders, set: { name, displayName } }, [updated])),
    )
  }

  /** What is in it follows in the background and is out of sight at once. An absent one is no error. */
  async remove({ id, dataset }: Folder, actor: string | undefined): Promise<void> {
    const removed = event('folder.removed', { kind: 'folder', id }, { dataset }, actor)
    await orNotFound('folder', this.#documents.commit({ tombstone: id, in: folders }, [removed]))
  }

  /** Tries display names until the store takes one: the name, else `name (1)`, `name (2)` … whichever is free. */
  async #named<T>(parent: string, name: string, commit: (displayName: string) => Promise<T>): Promise<T> {
    for (let round = 0; round < tries; round++) {
      try {
        return await commit(await this.#freeName(parent, name, round))
      } catch (error) {
        if (!(error instanceof Taken)) throw error
      }
    }
    throw new Conflict('Too many folders of this name are being made at once; try again')
  }

  async #freeName(parent: string, name: string, round: number): Promise<string> {
    const where = (condition: ReturnType<typeof eq>) => and(eq('parent.id', parent), condition)
    const same = await this.#documents.find(folders, { using: 'byParent', where: where(eq('displayName', name)), limit: 1 })
    if (same.items.length === 0) return name
    const numbered = await this.#documents.find(folders, {
      using: 'byParent',
      where: where(startsWith('displayName', `${name} (`)),
      sort: { by: 'displayName', order: 'ascending' },
      limit: 1000,
    })
    const taken = new Set(numbered.items.map(folder => folder.displayName))
    let number = 1
    // A full page hides further numbers, so each round begins behind those it cannot know.
    if (numbered.next) number = 1000 * 2 ** Math.min(round, 20)
    while (taken.has(`${name} (${number})`)) number++
    return `${name} (${number})`
  }

  async #mustTake(dataset: string, parent: FolderRecord['parent']): Promise<void> {
    const record = await this.#datasets.get(dataset)
    if (!record) throw new NotFound('dataset')
    if (record.state === 'trashed') throw new Conflict('This dataset is in the trash; restore it first')
    if (parent.kind === 'dataset' && parent.id !== dataset)
      throw new Invalid('parentId must be the id of this dataset, or of a folder in it')
    if (parent.kind === 'dataset') return
    await this.inDataset(dataset, parent.id)
    const path = (await this.#folders.paths([parent.id])).get(parent.id)
    if (!path) throw new NotFound('folder')
    if (path.length >= deepest) throw new Invalid(`Folders can be nested ${deepest} deep at most`)
  }

  async #isThere(dataset: string, parent: FolderRecord['parent']): Promise<boolean> {
    if (!(await this.#datasets.get(dataset))) return false
    return parent.kind === 'dataset' || (await this.#folders.get(parent.id)) !== undefined
  }
}
wire(FolderTree, DocumentStore, Folders, Datasets, Ids, Clock)

export const FolderTrees = port<FolderTree>('folders.tree')
