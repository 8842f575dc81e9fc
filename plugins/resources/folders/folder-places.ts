import { Conflict, Datasets, DocumentStore, type FolderRecord, Invalid, isIn, NotFound, s, wire } from 'pounce/sdk'
import { chainsTo } from './chains.ts'
import { type Folder, folders } from './collection.ts'

/** Levels of folders in a dataset. */
const deepest = 100
/** Of the folders of one level so many are asked for what is below them. */
const mostOfLevel = 1000

/** Where a folder can be. */
export interface FolderPlace {
  readonly dataset: string
  readonly parent: FolderRecord['parent']
}

/** Says where folders may be put, and whether they still are in a place that is there. */
export class FolderPlaces {
  #documents: DocumentStore
  #datasets: Datasets

  constructor(documents: DocumentStore, datasets: Datasets) {
    this.#documents = documents
    this.#datasets = datasets
  }

  /** Refuses a place that is not there, is in the trash, or is too deep for a folder that has so many levels below it. */
  async mustTake({ dataset, parent }: FolderPlace, levelsBelow = 0): Promise<void> {
    const record = await this.#datasets.get(dataset)
    if (!record) throw new NotFound('dataset')
    if (record.state === 'trashed') throw new Conflict('This dataset is in the trash; restore it first')
    if (parent.kind === 'dataset') {
      if (parent.id !== dataset) throw new Invalid('parentId must be the id of this dataset, or of a folder in it')
      return
    }
    const above = await this.#above(parent.id)
    if (above?.at(-1)?.dataset !== dataset) throw new NotFound('folder')
    if (above.length + levelsBelow >= deepest) throw new Invalid(`Folders can be nested at most ${deepest} levels deep`)
  }

  /** Whether a place is the folder itself or somewhere below it. */
  async isInside({ parent }: FolderPlace, folder: string): Promise<boolean> {
    if (parent.kind === 'dataset') return false
    return parent.id === folder || ((await this.#above(parent.id)) ?? []).some(({ id }) => id === folder)
  }

  /** False for a folder whose dataset is gone, that something above is gone of, or that is above itself. */
  async isSound({ id, dataset }: Folder): Promise<boolean> {
    return (await this.#above(id)) !== undefined && (await this.#datasets.get(dataset)) !== undefined
  }

  /** How many levels of folders lie below one; where a level is very broad, below the first thousand of it. */
  async levelsBelow(folder: string): Promise<number> {
    let level = [folder]
    for (let levels = 0; levels < deepest; levels++) {
      const { items } = await this.#documents.find(folders, { using: 'byParent', where: isIn('parent.id', level), limit: mostOfLevel })
      if (items.length === 0) return levels
      level = items.map(({ id }) => id)
    }
    return deepest
  }

  async #above(id: string): Promise<readonly Folder[] | undefined> {
    return s.isId(id) ? (await chainsTo(this.#documents, [id])).get(id) : undefined
  }
}
wire(FolderPlaces, DocumentStore, Datasets)
