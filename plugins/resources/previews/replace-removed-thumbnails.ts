import {
  type AnyEvent,
  type BatchHandler,
  type CollectionRecord,
  Collections,
  type DatasetRecord,
  Datasets,
  Files,
  type Stored,
  wire,
} from 'pounce/sdk'
import { ThumbnailAssignment } from './assign-thumbnail-on-attached.ts'
import { StoredThumbnails } from './stored-thumbnails.ts'

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
