import {
  Collections,
  CommitConflict,
  Conflict,
  Datasets,
  eq,
  event,
  type FileRecord,
  Files,
  type NewEvent,
  NotFound,
  type Place,
  port,
  type Stored,
  wire,
} from 'pounce/sdk'

type File = FileRecord & Stored

const tries = 100
const rootOf = (dataset: string): Place => ({ dataset, folder: null, in: dataset })

/** Puts files into datasets and takes them out, one commit for each file. Rights are the caller's to check. */
export class FilePlaces {
  #files: Files
  #datasets: Datasets
  #collections: Collections

  constructor(files: Files, datasets: Datasets, collections: Collections) {
    this.#files = files
    this.#datasets = datasets
    this.#collections = collections
  }

  /** Into the root of a dataset. Files that are in the root already, or were deleted at the same moment, are passed over. */
  async attach(dataset: string, ids: readonly string[], actor: string | undefined): Promise<void> {
    await this.#mustTake(dataset)
    for (const id of ids) {
      const file = await this.#replace(id, places => {
        if (places.some(place => place.in === dataset)) return undefined
        return { places: [...places, rootOf(dataset)], events: [attached(id, dataset, actor)] }
      })
      if (file) await this.#lendThumbnail(file, dataset)
    }
  }

  /** Out of a dataset, root and folders; the file survives, if need be in no dataset. Says whether it was there. */
  async detach(dataset: string, id: string, actor: string | undefined): Promise<boolean> {
    const file = await this.#replace(id, places => {
      const left = places.filter(place => place.dataset !== dataset)
      return left.length === places.length ? undefined : { places: left, events: [detached(id, dataset, actor)] }
    })
    return file !== undefined
  }

  /** From the root of one dataset to the root of another. `NotFound` for a file that is not in the first one's root. */
  async move(from: string, to: string, id: string, actor: string | undefined): Promise<void> {
    await this.#mustTake(to)
    if (from === to) return
    const file = await this.#replace(id, places => {
      const left = places.filter(place => place.in !== from)
      if (left.length === places.length) return undefined
      const isLeft = !left.some(place => place.dataset === from)
      const isNew = !left.some(place => place.in === to)
      return {
        places: isNew ? [...left, rootOf(to)] : left,
        events: [...(isLeft ? [detached(id, from, actor)] : []), ...(isNew ? [attached(id, to, actor)] : [])],
      }
    })
    if (!file) throw new NotFound('file')
    await this.#lendThumbnail(file, to)
  }

  /** Takes everything out of the root of a dataset, page by page until nothing is left. */
  async clearRoot(dataset: string, actor: string | undefined): Promise<void> {
    for (;;) {
      const { items } = await this.#files.in(dataset, { limit: 200 })
      if (items.length === 0) return
      for (const { id } of items) {
        await this.#replace(id, places => {
          const left = places.filter(place => place.in !== dataset)
          if (left.length === places.length) return undefined
          const isLeft = !left.some(place => place.dataset === dataset)
          return { places: left, events: isLeft ? [detached(id, dataset, actor)] : [] }
        })
      }
    }
  }

  async #mustTake(id: string): Promise<void> {
    const dataset = await this.#datasets.get(id)
    if (!dataset) throw new NotFound('dataset')
    if (dataset.state === 'trashed') throw new Conflict('This dataset is in the trash; restore it first')
  }

  /** Undefined when nothing was to be done, or the file is gone. */
  async #replace(id: string, next: (places: readonly Place[]) => Replaced | undefined): Promise<File | undefined> {
    for (let left = tries; left > 0; left--) {
      const file = await this.#files.get(id)
      const wanted = file && next(file.places)
      if (!wanted) return undefined
      try {
        return await this.#files.change(id, { where: eq('revision', file.revision), set: { places: wanted.places } }, wanted.events)
      } catch (error) {
        if (error instanceof NotFound) return undefined
        if (!(error instanceof CommitConflict)) throw error
      }
    }
    throw new Conflict('Too many changes of this file at once; try again')
  }

  /** A dataset without a thumbnail takes that of a file that comes in, and so do its collections. */
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
wire(FilePlaces, Files, Datasets, Collections)

export const DatasetFilePlaces = port<FilePlaces>('dataset-files.places')

interface Replaced {
  readonly places: readonly Place[]
  readonly events: readonly NewEvent[]
}

const attached = (id: string, dataset: string, actor: string | undefined): NewEvent =>
  event('file.attached', { kind: 'file', id }, { dataset }, actor)
const detached = (id: string, dataset: string, actor: string | undefined): NewEvent =>
  event('file.detached', { kind: 'file', id }, { dataset }, actor)

/** What somebody deleted, or gave a thumbnail, at the same moment needs nothing more from us. */
const unlessGone = async (change: Promise<unknown>): Promise<void> => {
  try {
    await change
  } catch (error) {
    if (!(error instanceof NotFound) && !(error instanceof CommitConflict)) throw error
  }
}
