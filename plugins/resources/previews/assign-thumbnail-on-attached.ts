import {
  Collections,
  CommitConflict,
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

/** Writes down which thumbnail a thing shows. */
export class ThumbnailAssignment {
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
      // somebody gave it one meanwhile, or it is gone: either way it needs none from us
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
