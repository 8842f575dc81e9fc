import {
  type AnyEvent,
  type BatchHandler,
  type CollectionRecord,
  Collections,
  CommitConflict,
  type DatasetRecord,
  Datasets,
  eq,
  event,
  type FileRecord,
  Files,
  NotFound,
  Sections,
  type Stored,
  type StoredEvent,
  wire,
} from 'pounce/sdk'
import { StoredThumbnails } from './stored-thumbnails.ts'

type File = FileRecord & Stored

type ThumbnailOwner = Files | Datasets | Collections | Sections

/** Sets the thumbnail of resources. */
class ThumbnailAssignment {
  #files: Files
  #sections: Sections
  #datasets: Datasets
  #collections: Collections

  constructor(files: Files, sections: Sections, datasets: Datasets, collections: Collections) {
    this.#files = files
    this.#sections = sections
    this.#datasets = datasets
    this.#collections = collections
  }

  /** Replaces the thumbnail `before` by another one, or none. No effect, and false, if the resource has another thumbnail by now. */
  async replace(
    kind: 'file' | 'section' | 'dataset' | 'collection',
    id: string,
    before: string | null,
    thumbnail: string | null,
  ): Promise<boolean> {
    const of: Record<typeof kind, ThumbnailOwner> = {
      file: this.#files,
      section: this.#sections,
      dataset: this.#datasets,
      collection: this.#collections,
    }
    const events = kind === 'section' ? [] : [event(`${kind}.updated`, { kind, id }, { fields: ['thumbnail'] })]
    try {
      await of[kind].change(id, { where: eq('thumbnail', before), set: { thumbnail } }, events)
      return true
    } catch (error) {
      // A concurrent request set one, or deleted the resource.
      if (!(error instanceof CommitConflict || error instanceof NotFound)) throw error
      return false
    }
  }

  /** Uses a file's thumbnail for its datasets that have none, and for their collections. */
  async passUp(file: File): Promise<void> {
    if (file.thumbnail === null) return
    const datasets = await this.#datasets.getMany([...new Set(file.places.map(place => place.dataset))].slice(0, 1000))
    for (const { id, thumbnail } of datasets.values()) {
      if (thumbnail === null) await this.replace('dataset', id, null, file.thumbnail)
      await this.passToCollections(id)
    }
  }

  /** Uses a dataset's thumbnail for its collections that have none. */
  async passToCollections(dataset: string): Promise<void> {
    const { thumbnail = null, collections = [] } = (await this.#datasets.get(dataset)) ?? {}
    if (thumbnail === null) return
    for (const { id, thumbnail: shown } of (await this.#collections.getMany(collections)).values())
      if (shown === null) await this.replace('collection', id, null, thumbnail)
  }
}
wire(ThumbnailAssignment, Files, Sections, Datasets, Collections)

/** Sets the thumbnail attached last on its target, and on the target's datasets and their collections if they have none. */
export class AssignThumbnailOnAttached {
  #files: Files
  #sections: Sections
  #datasets: Datasets
  #thumbnails: StoredThumbnails
  #showing: ThumbnailAssignment

  constructor(files: Files, sections: Sections, datasets: Datasets, thumbnails: StoredThumbnails, showing: ThumbnailAssignment) {
    this.#files = files
    this.#sections = sections
    this.#datasets = datasets
    this.#thumbnails = thumbnails
    this.#showing = showing
  }

  async handle({ subject, data: { target } }: StoredEvent<'thumbnail.attached'>): Promise<void> {
    const { kind, id } = target
    if (kind !== 'file' && kind !== 'section') return
    let isDone = false
    while (!isDone) {
      const shower = kind === 'file' ? await this.#files.get(id) : await this.#sections.get(id)
      if (!shower) return
      const last = await this.#thumbnails.lastOf({ kind, id })
      isDone = !last || shower.thumbnail === last.id || (await this.#showing.replace(kind, id, shower.thumbnail, last.id))
      if (!last && kind === 'file' && shower.thumbnail === subject.id) await this.#giveOwn(id, subject.id)
    }
    await this.#passUp(kind, id)
  }

  /** A copied file has the thumbnail of the original, with the rights of the original: it gets its own, with the same bytes. */
  async #giveOwn(file: string, borrowed: string): Promise<void> {
    const original = await this.#thumbnails.thumbnail(borrowed)
    const id = original ? await this.#thumbnails.share(original, { kind: 'file', id: file }) : null
    const places = (await this.#files.get(file))?.places ?? []
    for (const dataset of (await this.#datasets.getMany([...new Set(places.map(place => place.dataset))])).values())
      if (dataset.thumbnail === borrowed) await this.#showing.replace('dataset', dataset.id, borrowed, id)
    await this.#showing.replace('file', file, borrowed, id)
  }

  async #passUp(kind: 'file' | 'section', id: string): Promise<void> {
    const file = kind === 'file' ? await this.#files.get(id) : undefined
    if (file) await this.#showing.passUp(file)
  }
}
wire(AssignThumbnailOnAttached, Files, Sections, Datasets, StoredThumbnails, ThumbnailAssignment)

/** A file or dataset that is added somewhere passes its thumbnail on. */
export class AssignThumbnailOnPlaced {
  #files: Files
  #showing: ThumbnailAssignment

  constructor(files: Files, showing: ThumbnailAssignment) {
    this.#files = files
    this.#showing = showing
  }

  async handle({ type, subject, data }: StoredEvent<'file.attached' | 'dataset.attached'>): Promise<void> {
    if (type === 'dataset.attached') {
      if ('other' in data && data.other.kind === 'collection') await this.#showing.passToCollections(subject.id)
      return
    }
    const file = await this.#files.get(subject.id)
    if (file) await this.#showing.passUp(file)
  }
}
wire(AssignThumbnailOnPlaced, Files, ThumbnailAssignment)

/** Maximum number of files or datasets that are searched for a thumbnail. */
const maxLooked = 1000

/**
 * Replaces a thumbnail that was deleted, or whose file was deleted: by another one of the file, of the dataset's files, of the collection's
 * datasets.
 */
export class ReplaceRemovedThumbnails implements BatchHandler {
  #files: Files
  #datasets: Datasets
  #collections: Collections
  #thumbnails: StoredThumbnails
  #showing: ThumbnailAssignment

  constructor(files: Files, datasets: Datasets, collections: Collections, thumbnails: StoredThumbnails, showing: ThumbnailAssignment) {
    this.#files = files
    this.#datasets = datasets
    this.#collections = collections
    this.#thumbnails = thumbnails
    this.#showing = showing
  }

  async handleAll(events: readonly AnyEvent[]): Promise<void> {
    const datasets = new Set<string>()
    const collections = new Set<string>()
    for (const event of events) {
      if (event.type === 'file.removed') for (const id of event.data.datasets) datasets.add(id)
      if (event.type === 'file.detached') datasets.add(event.data.dataset)
      if (event.type === 'dataset.detached' && event.data.other.kind === 'collection') collections.add(event.data.other.id)
      if (event.type === 'preview.removed' && event.subject.kind === 'thumbnail' && event.data.target)
        for (const id of await this.#chooseOf(event.data.target, event.subject.id)) datasets.add(id)
    }
    const known = [...(await this.#datasets.getMany([...datasets].slice(0, 1000))).values()].filter(({ thumbnail }) => thumbnail !== null)
    for (const dataset of known) for (const id of await this.#chooseForDataset(dataset)) collections.add(id)
    for (const collection of (await this.#collections.getMany([...collections].slice(0, 1000))).values())
      if (collection.thumbnail !== null) await this.#chooseForCollection(collection)
  }

  /** For a file or section; returns the datasets that the file is in. */
  async #chooseOf({ kind, id }: { readonly kind: string; readonly id: string }, gone: string): Promise<readonly string[]> {
    if (kind !== 'file' && kind !== 'section') return []
    const next = await this.#thumbnails.lastOf({ kind, id })
    await this.#showing.replace(kind, id, gone, next?.id ?? null)
    const file = kind === 'file' ? await this.#files.get(id) : undefined
    return file?.places.map(place => place.dataset) ?? []
  }

  /** Returns the collections of the dataset, if its thumbnail changed. */
  async #chooseForDataset({ id, thumbnail, collections }: DatasetRecord & Stored): Promise<readonly string[]> {
    if (await this.#isOfFileIn(thumbnail, dataset => dataset === id)) return []
    let looked = 0
    let next: string | null = null
    for await (const file of this.#files.ofDataset(id)) {
      looked += 1
      next = file.thumbnail !== null && file.thumbnail !== thumbnail ? file.thumbnail : null
      if (next !== null || looked === maxLooked) break
    }
    await this.#showing.replace('dataset', id, thumbnail, next)
    return collections
  }

  async #chooseForCollection({ id, thumbnail }: CollectionRecord & Stored): Promise<void> {
    const isRight = await this.#isOfFileIn(
      thumbnail,
      async dataset => (await this.#datasets.get(dataset))?.collections.includes(id) ?? false,
    )
    if (isRight) return
    const { items } = await this.#datasets.inCollection(id, { limit: maxLooked })
    const next = items.find(dataset => dataset.thumbnail !== null && dataset.thumbnail !== thumbnail)
    await this.#showing.replace('collection', id, thumbnail, next?.thumbnail ?? null)
  }

  async #isOfFileIn(thumbnail: string | null, holds: (dataset: string) => Promise<boolean> | boolean): Promise<boolean> {
    const target = thumbnail === null ? undefined : (await this.#thumbnails.thumbnail(thumbnail))?.target
    const file = target?.kind === 'file' ? await this.#files.get(target.id) : undefined
    for (const { dataset } of file?.places ?? []) if (await holds(dataset)) return true
    return false
  }
}
wire(ReplaceRemovedThumbnails, Files, Datasets, Collections, StoredThumbnails, ThumbnailAssignment)
