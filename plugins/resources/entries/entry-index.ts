import {
  type AnyEvent,
  type BatchHandler,
  CommitConflict,
  collection,
  DocumentStore,
  type EventType,
  eq,
  event,
  type FileRecord,
  Files,
  type FolderRecord,
  Folders,
  type Stored,
  wire,
} from 'pounce/sdk'
import { removeFound } from 'pounce/sdk/kit'
import { entryNameKey, typeKey } from './entry-order.ts'

type Kind = 'folder' | 'file'
type Source = (FileRecord & Stored) | (FolderRecord & Stored)

/** A folder or file of an indexed dataset. The fields shown are read from its own record. */
export interface EntryRecord {
  readonly dataset: string
  readonly kind: Kind
  /** The id of the folder or file. */
  readonly entry: string
  /** The locations it is directly in: the dataset, folders. */
  readonly places: readonly string[]
  /** The lists that it is in: see `listed`. */
  readonly at: readonly string[]
  readonly text: string
  readonly name: string
  readonly type: string
  readonly sizeBytes: number
  readonly created: string
}

export const entries = collection<EntryRecord>()('entries', {
  byName: { on: ['at', 'name'], array: 'at' },
  bySize: { on: ['at', 'sizeBytes'], array: 'at' },
  byCreated: { on: ['at', 'created'], array: 'at' },
  byType: { on: ['at', 'type'], array: 'at' },
})

/** Indexed datasets, by id. Not ready: the existing entries are still being added. */
export const entryIndexes = collection<{ readonly isReady: boolean }>()('entry-indexes')

/** The lists that an entry can be in. */
export const listed = {
  /** Directly in the root of a dataset, or in a folder. */
  in: (kind: Kind, place: string): string => `${kind} ${place}`,
  anywhere: (kind: Kind, dataset: string): string => `any-${kind} ${dataset}`,
  /** Files in several locations of the dataset. */
  severally: (dataset: string): string => `several ${dataset}`,
}

export const entryIdOf = (dataset: string, entry: string): string => `${dataset}.${entry}`

/** A dataset with no more folders and files than this has no index: its entries are read and sorted on each request. */
export const maxSorted = 1000
/** The entries of a dataset are counted once per this many uploads handled by this server. */
const countEvery = 250
const maxCached = 1000
const batchSize = 500
const maxTries = 20

const recordOf = (dataset: string, kind: Kind, places: readonly string[], { id, created }: Source) => ({
  ...{ id: entryIdOf(dataset, id), dataset, kind, entry: id, places, created },
  at: [
    ...places.map(place => listed.in(kind, place)),
    listed.anywhere(kind, dataset),
    ...(places.length > 1 ? [listed.severally(dataset)] : []),
  ],
})

const folderEntry = (dataset: string, folder: FolderRecord & Stored) => {
  if (folder.dataset !== dataset) return undefined
  const { displayName: text } = folder
  const name = entryNameKey(text)
  return { ...recordOf(dataset, 'folder', [folder.parent.id], folder), text, name, type: '', sizeBytes: 0 }
}

const fileEntry = (dataset: string, file: FileRecord & Stored) => {
  const places = file.places.flatMap(place => (place.dataset === dataset ? [place.in] : [])).toSorted()
  if (places.length === 0) return undefined
  const { name: text, contentType, sizeBytes } = file
  const name = entryNameKey(text)
  return { ...recordOf(dataset, 'file', places, file), text, name, type: typeKey(contentType, name), sizeBytes }
}

type WantedEntry = EntryRecord & { readonly id: string }

const isAsWanted = (found: EntryRecord, wanted: WantedEntry): boolean =>
  found.text === wanted.text &&
  found.type === wanted.type &&
  found.sizeBytes === wanted.sizeBytes &&
  found.places.length === wanted.places.length &&
  found.places.every((place, at) => place === wanted.places[at])

/** The commit that brings an entry up to date, with the event for totals; undefined if it is up to date. */
const changeOf = (dataset: string, kind: Kind, found: (EntryRecord & Stored) | undefined, wanted: WantedEntry | undefined) => {
  if (found ? wanted && isAsWanted(found, wanted) : !wanted) return undefined
  const [from, to] = [found, wanted].map(each => (each ? { places: each.places, sizeBytes: each.sizeBytes } : null))
  const events = [event('dataset.entry-indexed', { kind: 'dataset', id: dataset }, { kind, from: from ?? null, to: to ?? null })]
  if (!found) return wanted && { change: { insert: wanted, into: entries }, events }
  const where = eq('revision', found.revision)
  if (!wanted) return { change: { tombstone: found.id, in: entries, where }, events }
  const { id, ...set } = wanted
  return { change: { update: id, in: entries, where, set }, events }
}

/** The number of folders and files of a dataset, counted up to one beyond the limit. */
const countEntries = async (folders: Folders, files: Files, dataset: string, bound: number): Promise<number> => {
  let count = 0
  for (const all of [files.ofDataset(dataset), folders.ofDataset(dataset)]) for await (const _ of all) if (++count > bound) return count
  return count
}

/** The changed entries reported by events, by dataset. */
class Touched {
  readonly folders = new Map<string, Set<string>>()
  readonly files = new Map<string, Set<string>>()
  /** Files whose event does not name the datasets. */
  readonly unplaced = new Set<string>()

  add(kind: Kind, id: string, datasets: readonly string[]): void {
    const all = kind === 'file' ? this.files : this.folders
    for (const dataset of datasets) all.set(dataset, (all.get(dataset) ?? new Set()).add(id))
  }

  read(each: AnyEvent): void {
    const { id } = each.subject
    if (each.type === 'file.created' && each.data.dataset !== null) this.add('file', id, [each.data.dataset])
    else if (each.type === 'file.placed' || each.type === 'file.removed') this.add('file', id, each.data.datasets)
    else if (each.type === 'file.copied' || (each.type === 'file.updated' && each.data.fields.includes('name'))) this.unplaced.add(id)
    else if (each.type === 'folder.moved') this.add('folder', id, [each.data.dataset, each.data.from])
    else if (each.type === 'folder.created' || each.type === 'folder.updated' || each.type === 'folder.removed')
      this.add('folder', id, [each.data.dataset])
  }

  get datasets(): readonly string[] {
    return [...new Set([...this.folders.keys(), ...this.files.keys()])]
  }
}

export const indexedEvents = [
  ...(['file.created', 'file.copied', 'file.placed', 'file.updated', 'file.removed'] as const),
  ...(['folder.created', 'folder.moved', 'folder.updated', 'folder.removed'] as const),
  ...(['dataset.entries-due', 'dataset.removed'] as const),
] satisfies readonly EventType[]

/** Maintains the sorted lists of datasets with many entries. Small datasets cost one check whether they are indexed. */
export class EntryIndex implements BatchHandler {
  #documents: DocumentStore
  #files: Files
  #folders: Folders
  /** Uploads since a dataset was last counted. */
  #uploads = new Map<string, number>()

  constructor(documents: DocumentStore, files: Files, folders: Folders) {
    this.#documents = documents
    this.#files = files
    this.#folders = folders
  }

  /** `none`: it has too few entries, or has not been counted since it grew. */
  async stateOf(dataset: string): Promise<'none' | 'building' | 'ready'> {
    const index = await this.#documents.get(entryIndexes, dataset)
    return index ? (index.isReady ? 'ready' : 'building') : 'none'
  }

  /** Schedules a dataset for indexing. */
  async request(dataset: string): Promise<void> {
    try {
      const due = event('dataset.entries-due', { kind: 'dataset', id: dataset }, {})
      await this.#documents.commit({ insert: { id: dataset, isReady: false }, into: entryIndexes }, [due])
    } catch (error) {
      if (!(error instanceof CommitConflict)) throw error
    }
  }

  async handleAll(events: readonly AnyEvent[]): Promise<void> {
    const touched = new Touched()
    for (const each of events) touched.read(each)
    for (const file of (await this.#files.getMany([...touched.unplaced])).values())
      touched.add('file', file.id, [...new Set(file.places.map(({ dataset }) => dataset))])
    const { datasets } = touched
    const indexed = datasets.length === 0 ? new Map() : await this.#documents.getMany(entryIndexes, datasets)
    for (const dataset of datasets) {
      if (!indexed.has(dataset)) {
        await this.#noteUploads(dataset, (touched.files.get(dataset)?.size ?? 0) + (touched.folders.get(dataset)?.size ?? 0))
        continue
      }
      await this.#sync(dataset, 'folder', [...(touched.folders.get(dataset) ?? [])])
      await this.#sync(dataset, 'file', [...(touched.files.get(dataset) ?? [])])
    }
    for (const { type, subject } of events) {
      if (type === 'dataset.entries-due') await this.#build(subject.id)
      if (type === 'dataset.removed') await this.#drop(subject.id)
    }
  }

  async #noteUploads(dataset: string, more: number): Promise<void> {
    const count = (this.#uploads.get(dataset) ?? 0) + more
    this.#uploads.delete(dataset)
    if (count < countEvery) {
      this.#uploads.set(dataset, count)
      const [oldest] = this.#uploads.keys()
      if (this.#uploads.size > maxCached && oldest !== undefined) this.#uploads.delete(oldest)
      return
    }
    if ((await countEntries(this.#folders, this.#files, dataset, maxSorted)) > maxSorted) await this.request(dataset)
  }

  /** Entries added meanwhile are indexed by their events. */
  async #build(dataset: string): Promise<void> {
    if ((await this.stateOf(dataset)) !== 'building') return
    for (const [kind, all] of [['folder', this.#folders.ofDataset(dataset)] as const, ['file', this.#files.ofDataset(dataset)] as const]) {
      let ids: string[] = []
      for await (const { id } of all) {
        ids.push(id)
        if (ids.length < batchSize) continue
        await this.#sync(dataset, kind, ids)
        ids = []
      }
      await this.#sync(dataset, kind, ids)
    }
    await this.#unlessGone(this.#documents.commit({ update: dataset, in: entryIndexes, set: { isReady: true } }))
  }

  async #drop(dataset: string): Promise<void> {
    await this.#unlessGone(this.#documents.commit({ tombstone: dataset, in: entryIndexes }))
    for (const kind of ['folder', 'file'] as const)
      await removeFound(this.#documents, entries, { using: 'byName', where: eq('at', listed.anywhere(kind, dataset)) })
  }

  async #unlessGone(change: Promise<unknown>): Promise<void> {
    try {
      await change
    } catch (error) {
      if (!(error instanceof CommitConflict)) throw error
    }
  }

  /** Brings entries in line with the records, and repeats if those change meanwhile: the last writer has read last. */
  async #sync(dataset: string, kind: Kind, ids: readonly string[]): Promise<void> {
    let left = ids
    for (let tries = 0; left.length > 0; tries++) {
      if (tries === maxTries) throw new Error(`Entries of dataset ${dataset} change too often to be indexed`)
      left = await this.#syncOnce(dataset, kind, left)
    }
  }

  async #syncOnce(dataset: string, kind: Kind, ids: readonly string[]): Promise<readonly string[]> {
    const sources = await this.#sources(kind, ids)
    const found = await this.#documents.getMany(
      entries,
      ids.map(id => entryIdOf(dataset, id)),
    )
    const changes = ids.flatMap(id => {
      const source = sources.get(id)
      const wanted = source && ('places' in source ? fileEntry(dataset, source) : folderEntry(dataset, source))
      const change = changeOf(dataset, kind, found.get(entryIdOf(dataset, id)), wanted)
      return change ? [{ id, change }] : []
    })
    if (changes.length === 0) return []
    const outcome = await this.#documents.commitEach(changes.map(({ change }) => change))
    const now = await this.#sources(
      kind,
      changes.map(({ id }) => id),
    )
    return changes.flatMap(({ id }, at) => {
      const done = outcome[at]
      if (done && !done.ok && !(done.error instanceof CommitConflict)) throw done.error
      return done?.ok && now.get(id)?.revision === sources.get(id)?.revision ? [] : [id]
    })
  }

  #sources(kind: Kind, ids: readonly string[]): Promise<ReadonlyMap<string, Source>> {
    return kind === 'file' ? this.#files.getMany(ids) : this.#folders.getMany(ids)
  }
}
wire(EntryIndex, DocumentStore, Files, Folders)
