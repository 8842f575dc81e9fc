import { type FileRecord, Files, Folders, type Place, type Stored, type StoredEvent, wire } from 'pounce/sdk'
import { FileRemoval } from './file-removal.ts'

type File = FileRecord & Stored

/** Taken away in one go: few enough that others have their turn in between. */
const batch = 100

/** A dataset that goes takes the files with it that lie nowhere else. */
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
      if (some.length < batch) continue
      await this.#leave(some, subject.id, actor)
      some = []
    }
    await this.#leave(some, subject.id, actor)
  }

  /** Those in a folder that was moved to another dataset just now are on their way there, and stay. */
  async #leave(some: readonly File[], dataset: string, actor: string | undefined): Promise<void> {
    const folders = [...new Set(some.flatMap(file => file.places.flatMap(place => place.folder ?? [])))]
    const goals = folders.length === 0 ? new Map<string, string>() : await this.#folders.datasetsOf(folders)
    const isInside = (place: Place): boolean => place.dataset === dataset && (goals.get(place.in) ?? dataset) === dataset
    await this.#removal.leaveAll(some, isInside, actor)
  }
}
wire(DetachFilesOnDatasetRemoved, Files, Folders, FileRemoval)

/** Removes the files of a deleted folder; those in folders below are removed by the event of their own folder. */
export class DetachFilesOnFolderRemoved {
  #files: Files
  #removal: FileRemoval

  constructor(files: Files, removal: FileRemoval) {
    this.#files = files
    this.#removal = removal
  }

  async handle({ subject, actor }: StoredEvent<'folder.removed'>): Promise<void> {
    for (;;) {
      const { items } = await this.#files.in(subject.id, { limit: batch })
      if (items.length === 0) return
      await this.#removal.leaveAll(items, place => place.folder === subject.id, actor)
    }
  }
}
wire(DetachFilesOnFolderRemoved, Files, FileRemoval)
