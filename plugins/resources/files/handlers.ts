import { type FileRecord, Files, Folders, type Place, type Stored, type StoredEvent, wire } from 'pounce/sdk'
import { FileRemoval } from './file-removal.ts'

type File = FileRecord & Stored

/** Number of files deleted per step, small enough to let other work run in between. */
const batchSize = 100

/** Deletes the files of a deleted dataset that are nowhere else. */
export class DetachFilesOnDatasetRemoved {
  #files: Files
  #folders: Folders
  #removal: FileRemoval

  constructor(files: Files, folders: Folders, removal: FileRemoval) {
    this.#files = files
    this.#folders = folders
    this.#removal = removal
  }

  async handle({ subject, actor }: StoredEvent<'dataset.removed'>): Promise<void> {
    let some: File[] = []
    for await (const file of this.#files.ofDataset(subject.id)) {
      some.push(file)
      if (some.length < batchSize) continue
      await this.#leave(some, subject.id, actor)
      some = []
    }
    await this.#leave(some, subject.id, actor)
  }

  /** Files in a folder that was just moved to another dataset will follow it, and are kept. */
  async #leave(some: readonly File[], dataset: string, actor: string | undefined): Promise<void> {
    const folders = [...new Set(some.flatMap(file => file.places.flatMap(place => place.folder ?? [])))]
    const goals = folders.length === 0 ? new Map<string, string>() : await this.#folders.datasetsOf(folders)
    const isInside = (place: Place): boolean => place.dataset === dataset && (goals.get(place.in) ?? dataset) === dataset
    await this.#removal.leaveAll(some, isInside, actor)
  }
}
wire(DetachFilesOnDatasetRemoved, Files, Folders, FileRemoval)

/** Deletes the files of a deleted folder that are nowhere else. */
export const leaveFolder = async (all: Files, removal: FileRemoval, folder: string, actor: string | undefined): Promise<void> => {
  for (;;) {
    const { items } = await all.in(folder, { limit: batchSize })
    if (items.length === 0) return
    await removal.leaveAll(items, place => place.folder === folder, actor)
  }
}

/** Deletes the files of a deleted folder; those in subfolders are deleted by the events of the subfolders. */
export class DetachFilesOnFolderRemoved {
  #files: Files
  #removal: FileRemoval

  constructor(files: Files, removal: FileRemoval) {
    this.#files = files
    this.#removal = removal
  }

  async handle({ subject, actor }: StoredEvent<'folder.removed'>): Promise<void> {
    await leaveFolder(this.#files, this.#removal, subject.id, actor)
  }
}
wire(DetachFilesOnFolderRemoved, Files, FileRemoval)
