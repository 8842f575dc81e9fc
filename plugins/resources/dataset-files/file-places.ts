import {
  Collections,
  CommitConflict,
  Conflict,
  Datasets,
  eq,
  event,
  type FileRecord,
  Files,
  Folders,
  Invalid,
  type NewEvent,
  NotFound,
  type Place,
  type Stored,
  wire,
} from 'pounce/sdk'
import { filePlaced } from 'pounce/sdk/kit'

type File = FileRecord & Stored

const tries = 100
/** Maximum number of datasets and folders that a file is in: all are read with each change of them. */
const maxPlaces = 1000
const rootOf = (dataset: string): Place => ({ dataset, folder: null, in: dataset })

/** The root of a dataset, or one of its folders. */
export const placeOf = (dataset: string, folder?: string): Place =>
  folder === undefined ? rootOf(dataset) : { dataset, folder, in: folder }

/** Adds files to datasets and removes them, one commit per file. The caller must have checked the rights. */
export class FilePlaces {
  #files: Files
  #folders: Folders
  #datasets: Datasets
  #collections: Collections

  constructor(files: Files, folders: Folders, datasets: Datasets, collections: Collections) {
    this.#files = files
    this.#folders = folders
    this.#datasets = datasets
    this.#collections = collections
  }

  /** Adds files to the root of a dataset. Skips files that are there already or were deleted concurrently. Throws `Invalid` for a file in too many. */
  async attach(dataset: string, ids: readonly string[], actor: string | undefined): Promise<void> {
    await this.#mustTake(dataset)
    for (const id of ids) {
      const file = await this.#replace(id, places => {
        if (places.some(place => place.in === dataset)) return undefined
        if (places.length >= maxPlaces) throw new Invalid(`A file can be in at most ${maxPlaces} datasets`)
        return { places: [...places, rootOf(dataset)], events: [attached(id, dataset, actor)] }
      })
      if (file) await this.#lendThumbnail(file, dataset)
    }
  }

  /** Removes a file from a dataset, its root and all folders. The file is kept, possibly in no dataset. Returns whether it was there. */
  async detach(dataset: string, id: string, actor: string | undefined): Promise<boolean> {
    const file = await this.#replace(id, places => {
      const place = places.find(each => each.dataset === dataset)
      return place && { places: places.filter(each => each.dataset !== dataset), events: [detached(id, place, actor)] }
    })
    return file !== undefined
  }

  /**
   * Moves a file to another location, in the same dataset or another. Resolves to the file, or undefined if it is not in the first
   * location. Throws `NotFound` if the target is deleted concurrently: the file then stays where it was.
   */
  async move(id: string, from: Place, to: Place, actor: string | undefined): Promise<File | undefined> {
    await this.#mustHold(from)
    await this.#mustTake(to.dataset)
    await this.#mustHold(to)
    const moved = await this.#swap(id, from, to, actor)
    if (!moved) return undefined
    if (!(await this.#isThere(to))) {
      await this.#swap(id, to, from, undefined)
      throw new NotFound(to.folder === null ? 'dataset' : 'folder')
    }
    await this.#lendThumbnail(moved, to.dataset)
    return moved
  }

  /** Undefined for a file that is deleted or not in the first location. */
  async #swap(id: string, from: Place, to: Place, actor: string | undefined): Promise<File | undefined> {
    let isThere = false
    const changed = await this.#replace(id, places => {
      isThere = places.some(place => place.in === from.in)
      if (!isThere || from.in === to.in) return undefined
      const left = places.filter(place => place.in !== from.in && place.in !== to.in)
      const isIn = (dataset: string, some: readonly Place[]) => some.some(place => place.dataset === dataset)
      const next = [...left, to]
      const events = [
        ...(isIn(from.dataset, next) ? [] : [detached(id, from, actor)]),
        ...(isIn(to.dataset, places) ? [movedWithin(id, from, to, actor)] : [attached(id, to.dataset, actor)]),
      ]
      return { places: next, events }
    })
    return changed ?? (isThere ? this.#files.get(id) : undefined)
  }

  /** Throws `NotFound` for a folder that is not in the dataset. */
  async #mustHold({ dataset, folder }: Place): Promise<void> {
    if (folder !== null && (await this.#folders.get(folder))?.dataset !== dataset) throw new NotFound('folder')
  }

  async #isThere({ dataset, folder }: Place): Promise<boolean> {
    if (!(await this.#datasets.get(dataset))) return false
    return folder === null || (await this.#folders.get(folder)) !== undefined
  }

  /** Removes the files in the root of a dataset from the dataset, also from its folders. Page by page. */
  async detachRoot(dataset: string, actor: string | undefined): Promise<void> {
    for (;;) {
      const { items } = await this.#files.in(dataset, { limit: 200 })
      if (items.length === 0) return
      for (const { id } of items) {
        await this.#replace(id, places => {
          if (!places.some(place => place.in === dataset)) return undefined
          return { places: places.filter(place => place.dataset !== dataset), events: [detached(id, rootOf(dataset), actor)] }
        })
      }
    }
  }

  async #mustTake(id: string): Promise<void> {
    const dataset = await this.#datasets.get(id)
    if (!dataset) throw new NotFound('dataset')
    if (dataset.state === 'trashed') throw new Conflict('This dataset is in the trash; restore it first')
  }

  /** Undefined when there was nothing to change, or the file is deleted. */
  async #replace(id: string, next: (places: readonly Place[]) => Replaced | undefined): Promise<File | undefined> {
    for (let left = tries; left > 0; left--) {
      const file = await this.#files.get(id)
      const wanted = file && next(file.places)
      if (!wanted) return undefined
      try {
        return await this.#files.change(id, { where: eq('revision', file.revision), set: { places: wanted.places } }, [
          ...wanted.events,
          filePlaced(id, file.places, wanted.places),
        ])
      } catch (error) {
        if (error instanceof NotFound) return undefined
        if (!(error instanceof CommitConflict)) throw error
      }
    }
    throw new Conflict('Too many concurrent changes of this file; try again')
  }

  /** A dataset without a thumbnail uses that of an added file, and so do its collections. */
  async #lendThumbnail({ thumbnail }: File, id: string): Promise<void> {
    const dataset = await this.#datasets.get(id)
    if (thumbnail === null || !dataset || dataset.thumbnail !== null) return
    const change = { where: eq('thumbnail', null), set: { thumbnail } } as const
    const fields = { fields: ['thumbnail'] }
    await unlessGone(this.#datasets.change(id, change, [event('dataset.updated', { kind: 'dataset', id }, fields)]))
    for (const collection of dataset.collections) {
      const updated = event('collection.updated', { kind: 'collection', id: collection }, fields)
      await unlessGone(this.#collections.change(collection, change, [updated]))
    }
  }
}
wire(FilePlaces, Files, Folders, Datasets, Collections)

interface Replaced {
  readonly places: readonly Place[]
  readonly events: readonly NewEvent[]
}

const attached = (id: string, dataset: string, actor: string | undefined): NewEvent =>
  event('file.attached', { kind: 'file', id }, { dataset }, actor)
const movedWithin = (id: string, from: Place, { dataset, folder }: Place, actor: string | undefined): NewEvent =>
  event('file.moved', { kind: 'file', id }, { dataset, folder, ...(from.dataset === dataset && { from: from.folder }) }, actor)
const detached = (id: string, { dataset, folder }: Place, actor: string | undefined): NewEvent =>
  event('file.detached', { kind: 'file', id }, { dataset, folder }, actor)

/** Ignores conflicts with a concurrent deletion, or with another thumbnail that was set concurrently. */
const unlessGone = async (change: Promise<unknown>): Promise<void> => {
  try {
    await change
  } catch (error) {
    if (!(error instanceof NotFound) && !(error instanceof CommitConflict)) throw error
  }
}
