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

type Shower = Files | Datasets | Collections | Sections

/** Writes down which thumbnail a resource shows. */
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

  /** Another thumbnail, or none, in the place of `before`. What shows something else by now is left alone. */
  async replace(kind: 'file' | 'section' | 'dataset' | 'collection', id: string, before: string | null, thumbnail: string | null) {
    const of: Record<typeof kind, Shower> = {
      file: this.#files,
      section: this.#sections,
      dataset: this.#datasets,
      collection: this.#collections,
    }
    const events = kind === 'section' ? [] : [event(`${kind}.updated`, { kind, id }, { fields: ['thumbnail'] })]
    try {
      await of[kind].change(id, { where: eq('thumbnail', before), set: { thumbnail } }, events)
    } catch (error) {
      // someone gave it one meanwhile, or it is gone: either way it needs none from us
      if (!(error instanceof CommitConflict || error instanceof NotFound)) throw error
    }
  }

  /** Gives a file's thumbnail to its datasets that have none, and to their collections. */
  async passUp(file: File): Promise<void> {
    if (file.thumbnail === null) return
    const datasets = await this.#datasets.getMany([...new Set(file.places.map(place => place.dataset))].slice(0, 1000))
    for (const { id, thumbnail } of datasets.values()) {
      if (thumbnail === null) await this.replace('dataset', id, null, file.thumbnail)
      await this.passToCollections(id)
    }
  }

  /** Gives a dataset's thumbnail to its collections that have none. */
  async passToCollections(dataset: string): Promise<void> {
    const { thumbnail = null, collections = [] } = (await this.#datasets.get(dataset)) ?? {}
    if (thumbnail === null) return
    for (const { id, thumbnail: shown } of (await this.#collections.getMany(collections)).values())
      if (shown === null) await this.replace('collection', id, null, thumbnail)
  }
}
wire(ThumbnailAssignment, Files, Sections, Datasets, Collections)

/** Shows a new thumbnail on what it was made of, and on its datasets and their collections where they have none. */
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
    const shower = kind === 'file' ? await this.#files.get(id) : await this.#sections.get(id)
    if (!shower) return
    const newest = await this.#thumbnails.newestOf({ kind, id })
    if (newest && shower.thumbnail !== newest.id) await this.#showing.replace(kind, id, shower.thumbnail, newest.id)
    else if (!newest && kind === 'file' && shower.thumbnail === subject.id) await this.#giveOwn(id, subject.id)
    await this.#passUp(kind, id)
  }

  /** A copy of a file came with the thumbnail of the original, whose rights are not its own: it gets one for itself, of the same bytes. */
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

/** A file or dataset that comes to a place brings its thumbnail along. */
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

/** So many files, or datasets, are looked at for one with a thumbnail. */
const mostLooked = 1000

/** Where a thumbnail is gone, or its file, another one takes its place: of the file, of the dataset's files, of the collection's datasets. */
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

  /** Of a file or section; the datasets that the file is in. */
  async #chooseOf({ kind, id }: { readonly kind: string; readonly id: string }, gone: string): Promise<readonly string[]> {
    if (kind !== 'file' && kind !== 'section') return []
    const next = await this.#thumbnails.newestOf({ kind, id })
    await this.#showing.replace(kind, id, gone, next?.id ?? null)
    const file = kind === 'file' ? await this.#files.get(id) : undefined
    return file?.places.map(place => place.dataset) ?? []
  }

  /** The collections of the dataset, when it shows another one from now on. */
  async #chooseForDataset({ id, thumbnail, collections }: DatasetRecord & Stored): Promise<readonly string[]> {
    if (await this.#isOfFileIn(thumbnail, dataset => dataset === id)) return []
    let looked = 0
    let next: string | null = null
    for await (const file of this.#files.ofDataset(id)) {
      looked += 1
      next = file.thumbnail !== null && file.thumbnail !== thumbnail ? file.thumbnail : null
      if (next !== null || looked === mostLooked) break
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
    const { items } = await this.#datasets.inCollection(id, { limit: mostLooked })
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
