import {
  and,
  Conflict,
  Datasets,
  DocumentStore,
  eq,
  type FolderRecord,
  Invalid,
  isIn,
  NotFound,
  ne,
  s,
  startsWith,
  Taken,
  type Where,
  wire,
} from 'pounce/sdk'
import { maxFolderDepth } from 'pounce/sdk/kit'
import { type Folder, folders } from './collection.ts'

/** The chain from the root of its dataset down to each folder, inclusive; absent for a folder with a deleted ancestor or in a cycle. */
export const chainsTo = async (documents: DocumentStore, ids: readonly string[]): Promise<ReadonlyMap<string, readonly Folder[]>> => {
  const known = new Map<string, Folder>()
  let missing = [...new Set(ids)]
  while (missing.length > 0) {
    const above = new Set<string>(missing.slice(1000))
    for (const folder of (await documents.getMany(folders, missing.slice(0, 1000))).values()) {
      known.set(folder.id, folder)
      if (folder.parent.kind === 'folder') above.add(folder.parent.id)
    }
    missing = [...above].filter(id => !known.has(id))
  }
  return new Map(
    ids.flatMap(id => {
      const chain = chainTo(id, known)
      return chain ? [[id, chain]] : []
    }),
  )
}

const chainTo = (id: string, known: ReadonlyMap<string, Folder>): readonly Folder[] | undefined => {
  const chain: Folder[] = []
  for (let folder = known.get(id); folder !== undefined && chain.length <= known.size; folder = known.get(folder.parent.id)) {
    chain.push(folder)
    if (folder.parent.kind === 'dataset') return chain.reverse()
  }
  return undefined
}

const deepest = maxFolderDepth

/** Maximum number of folders of one level whose subfolders are read. */
const maxOfLevel = 1000

/** Where a folder can be. */
export interface FolderPlace {
  readonly dataset: string
  readonly parent: FolderRecord['parent']
}

/** Checks where folders may be put, and whether they are in an existing location. */
export class FolderPlaces {
  #documents: DocumentStore
  #datasets: Datasets

  constructor(documents: DocumentStore, datasets: Datasets) {
    this.#documents = documents
    this.#datasets = datasets
  }

  /** Refuses a location that does not exist, is in the trash, or is too deep for a folder with this many levels below it. */
  async mustTake({ dataset, parent }: FolderPlace, levelsBelow = 0): Promise<void> {
    if (levelsBelow >= deepest) throw new Invalid(`Folders can be nested at most ${deepest} levels deep`)
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

  /** Whether a location is the folder itself or one of its descendants. */
  async isInside({ parent }: FolderPlace, folder: string): Promise<boolean> {
    if (parent.kind === 'dataset') return false
    return parent.id === folder || ((await this.#above(parent.id)) ?? []).some(({ id }) => id === folder)
  }

  /** False for a folder whose dataset or ancestor is deleted, or that is in a cycle. */
  async isSound({ id, dataset }: Folder): Promise<boolean> {
    return (await this.#above(id)) !== undefined && (await this.#datasets.get(dataset)) !== undefined
  }

  /** The number of folder levels below a folder; of very broad levels, only the first thousand folders are followed. */
  async levelsBelow(folder: string): Promise<number> {
    let level = [folder]
    for (let levels = 0; levels < deepest; levels++) {
      const { items } = await this.#documents.find(folders, { using: 'byParent', where: isIn('parent.id', level), limit: maxOfLevel })
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

const tries = 50

/** A folder that gets a display name. */
interface Named {
  readonly parent: string
  readonly name: string
  /** The folder itself if it is there already: the display name that it has is free. */
  readonly self?: string
}

/** Tries display names below a parent until the store accepts one: the name, then `name (1)`, `name (2)` … */
export const withDisplayName = async <T>(
  documents: DocumentStore,
  named: Named,
  commit: (displayName: string) => Promise<T>,
): Promise<T> => {
  for (let round = 0; round < tries; round++) {
    try {
      return await commit(await freeName(documents, named, round))
    } catch (error) {
      if (!(error instanceof Taken)) throw error
    }
  }
  throw new Conflict('Too many folders of this name are created concurrently; try again')
}

const freeName = async (documents: DocumentStore, { parent, name, self }: Named, round: number): Promise<string> => {
  const where = (condition: Where) => and(eq('parent.id', parent), condition, ...(self === undefined ? [] : [ne('id', self)]))
  const same = await documents.find(folders, { using: 'byParent', where: where(eq('displayName', name)), limit: 1 })
  if (same.items.length === 0) return name
  const numbered = await documents.find(folders, {
    using: 'byParent',
    where: where(startsWith('displayName', `${name} (`)),
    sort: { by: 'displayName', order: 'ascending' },
    limit: 1000,
  })
  const usedNames = new Set(numbered.items.map(folder => folder.displayName))
  let number = 1
  // A full page may hide further numbers, so each round begins after those that it cannot see.
  if (numbered.next) number = 1000 * 2 ** Math.min(round, 20)
  while (usedNames.has(`${name} (${number})`)) number++
  return `${name} (${number})`
}
