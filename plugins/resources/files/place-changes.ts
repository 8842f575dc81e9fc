import { setTimeout as pause } from 'node:timers/promises'
import {
  Clock,
  CommitConflict,
  Datasets,
  DocumentStore,
  eq,
  event,
  type FileRecord,
  Files,
  Folders,
  type NewEvent,
  type Place,
  type Stored,
  type StoredEvent,
  wire,
} from 'pounce/sdk'
import { filePlaced } from 'pounce/sdk/kit'
import { files } from './collection.ts'
import { FileRemoval } from './file-removal.ts'
import { leaveFolder } from './handlers.ts'

type File = FileRecord & Stored

const batchSize = 100

/**
 * The commit that sets new locations of a file, with events for the datasets that it left and entered; undefined when they are unchanged.
 */
const movedTo = (
  { id, places }: File,
  next: readonly Place[],
): { readonly places: readonly Place[]; readonly events: readonly NewEvent[] } | undefined => {
  const unique = next.filter((place, at) => next.findIndex(other => other.in === place.in) === at)
  if (unique.length === places.length && unique.every((place, at) => place.in === places[at]?.in && place.dataset === places[at]?.dataset))
    return undefined
  const [before, after] = [places, unique].map(some => new Set(some.map(place => place.dataset)))
  const subject = { kind: 'file', id } as const
  const left = [...(before ?? [])].filter(dataset => !after?.has(dataset)).map(dataset => event('file.detached', subject, { dataset }))
  const come = [...(after ?? [])].filter(dataset => !before?.has(dataset)).map(dataset => event('file.attached', subject, { dataset }))
  return { places: unique, events: [...left, ...come, filePlaced(id, places, unique)] }
}

/** Sets new locations of files, except those that were changed concurrently. Returns the ids of the latter. */
const replace = async (
  documents: DocumentStore,
  some: readonly File[],
  next: (place: Place) => Place | undefined,
): Promise<readonly string[]> => {
  const changes = some.flatMap(file => {
    const moved = movedTo(
      file,
      file.places.flatMap(place => next(place) ?? []),
    )
    return moved ? [{ file, ...moved }] : []
  })
  const done = await documents.commitEach(
    changes.map(({ file, places, events }) => ({
      change: { update: file.id, in: files, where: eq('revision', file.revision), set: { places } },
      events,
    })),
  )
  return done.flatMap((result, at) => {
    if (result.ok) return []
    if (!(result.error instanceof CommitConflict)) throw result.error
    return changes[at]?.file.id ?? []
  })
}

/**
 * Changes the dataset of files to that of their folder. The folder is read after the files: a later move either conflicts with this change, or its handler
 * changes the files again.
 */
export const followFolder = async (documents: DocumentStore, folders: Folders, id: string, some: readonly File[]): Promise<void> => {
  for (let left = some; left.length > 0; ) {
    const folder = await folders.get(id)
    if (!folder) return
    const missed = await replace(documents, left, place => (place.folder === id ? { ...place, dataset: folder.dataset } : place))
    left = missed.length === 0 ? [] : [...(await documents.getMany(files, missed)).values()]
  }
}

/** Files follow their folder into its dataset. If the folder was deleted with that dataset, whose files they were not yet, they are deleted too. */
export class UpdatePlacesOnFolderMoved {
  #documents: DocumentStore
  #files: Files
  #folders: Folders
  #removal: FileRemoval

  constructor(documents: DocumentStore, all: Files, folders: Folders, removal: FileRemoval) {
    this.#documents = documents
    this.#files = all
    this.#folders = folders
    this.#removal = removal
  }

  async handle({ subject, data, actor }: StoredEvent<'folder.moved'>): Promise<void> {
    if (data.dataset === data.from) return
    if (!(await this.#folders.get(subject.id))) return leaveFolder(this.#files, this.#removal, subject.id, actor)
    let after: Awaited<ReturnType<Files['in']>>['next']
    do {
      const page = await this.#files.in(subject.id, { limit: batchSize, ...(after ? { after } : {}) })
      await followFolder(this.#documents, this.#folders, subject.id, page.items)
      after = page.next
    } while (after)
  }
}
wire(UpdatePlacesOnFolderMoved, DocumentStore, Files, Folders, FileRemoval)

/** By then a move that found its target deleted has taken the file back, and mostly the event of the deletion has been handled. */
const settleMs = 1000

/** A file with the records of its locations that exist. */
interface PlacedFile {
  readonly file: File
  readonly folders: Awaited<ReturnType<Folders['getMany']>>
  readonly datasets: Awaited<ReturnType<Datasets['getMany']>>
}

/**
 * Removes a location that was deleted while a file was added to it: a file only in a deleted folder is deleted like those that were in it before; a file in
 * the root of a deleted dataset is kept, possibly in no location.
 */
export class DetachRemovedPlaces {
  #documents: DocumentStore
  #files: Files
  #folders: Folders
  #datasets: Datasets
  #removal: FileRemoval
  #clock: Clock

  constructor(documents: DocumentStore, all: Files, folders: Folders, datasets: Datasets, removal: FileRemoval, clock: Clock) {
    this.#documents = documents
    this.#files = all
    this.#folders = folders
    this.#datasets = datasets
    this.#removal = removal
    this.#clock = clock
  }

  async handle({ subject, at }: StoredEvent<'file.attached' | 'file.moved'>): Promise<void> {
    const leftMs = Date.parse(at) + settleMs - this.#clock.now().getTime()
    let found = await this.#read(subject.id)
    if (leftMs > 0 && found && !isSettled(found)) {
      await pause(leftMs)
      found = await this.#read(subject.id)
    }
    for (; found; found = await this.#read(subject.id)) {
      const { file, folders, datasets } = found
      const deleted = new Set(file.places.flatMap(({ folder }) => (folder !== null && !folders.has(folder) ? [folder] : [])))
      if (deleted.size > 0) {
        await this.#removal.leave(file, ({ folder }) => folder !== null && deleted.has(folder), undefined)
        continue
      }
      const missed = await replace(this.#documents, [file], place => {
        const folder = place.folder === null ? undefined : folders.get(place.folder)
        if (folder && folder.dataset !== place.dataset) return { ...place, dataset: folder.dataset }
        return datasets.has(place.dataset) ? place : undefined
      })
      if (missed.length === 0) return
    }
  }

  async #read(id: string): Promise<PlacedFile | undefined> {
    const file = await this.#files.get(id)
    if (!file) return undefined
    const folders = await this.#folders.getMany(file.places.flatMap(({ folder }) => folder ?? []))
    const datasets = await this.#datasets.getMany(file.places.map(({ dataset }) => dataset))
    return { file, folders, datasets }
  }
}
wire(DetachRemovedPlaces, DocumentStore, Files, Folders, Datasets, FileRemoval, Clock)

const isSettled = ({ file, folders, datasets }: PlacedFile): boolean =>
  file.places.every(({ dataset, folder }) => datasets.has(dataset) && (folder === null || folders.has(folder)))
