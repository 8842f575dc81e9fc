import {
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
import { placed } from 'pounce/sdk/kit'
import { files } from './collection.ts'

type File = FileRecord & Stored

const batch = 100

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
  return { places: unique, events: [...left, ...come, placed(id, places, unique)] }
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

/** Files follow their folder into its dataset. */
export class UpdatePlacesOnFolderMoved {
  #documents: DocumentStore
  #files: Files
  #folders: Folders

  constructor(documents: DocumentStore, all: Files, folders: Folders) {
    this.#documents = documents
    this.#files = all
    this.#folders = folders
  }

  async handle({ subject, data }: StoredEvent<'folder.moved'>): Promise<void> {
    if (data.dataset === data.from) return
    const folder = await this.#folders.get(subject.id)
    if (!folder) return
    const { id, dataset } = folder
    const follow = (place: Place): Place => (place.folder === id ? { ...place, dataset } : place)
    let after: Awaited<ReturnType<Files['in']>>['next']
    do {
      const page = await this.#files.in(id, { limit: batch, ...(after ? { after } : {}) })
      let missed = await replace(this.#documents, page.items, follow)
      while (missed.length > 0) missed = await replace(this.#documents, [...(await this.#files.getMany(missed)).values()], follow)
      after = page.next
    } while (after)
  }
}
wire(UpdatePlacesOnFolderMoved, DocumentStore, Files, Folders)

/** Removes a location that was deleted while a file was added to it. The file is kept, possibly in no location. */
export class DetachRemovedPlaces {
  #documents: DocumentStore
  #files: Files
  #folders: Folders
  #datasets: Datasets

  constructor(documents: DocumentStore, all: Files, folders: Folders, datasets: Datasets) {
    this.#documents = documents
    this.#files = all
    this.#folders = folders
    this.#datasets = datasets
  }

  async handle({ subject }: StoredEvent<'file.attached' | 'file.moved'>): Promise<void> {
    for (;;) {
      const file = await this.#files.get(subject.id)
      if (!file) return
      const folders = await this.#folders.getMany(file.places.flatMap(({ folder }) => folder ?? []))
      const datasets = await this.#datasets.getMany(file.places.map(({ dataset }) => dataset))
      const missed = await replace(this.#documents, [file], place => {
        const folder = place.folder === null ? undefined : folders.get(place.folder)
        if (place.folder !== null && !folder) return undefined
        if (folder && folder.dataset !== place.dataset) return { ...place, dataset: folder.dataset }
        return datasets.has(place.dataset) ? place : undefined
      })
      if (missed.length === 0) return
    }
  }
}
wire(DetachRemovedPlaces, DocumentStore, Files, Folders, Datasets)
