import { type FileRecord, Files, type Place, type Stored, type StoredEvent, wire } from 'pounce/sdk'
import { FileRemoval, type Removal } from './removal.ts'

type File = FileRecord & Stored

/** Taken away in one go: few enough that others have their turn in between. */
const batch = 100

/** A dataset that goes takes the files with it that lie nowhere else. */
export class LeaveDataset {
  #files: Files
  #removal: Removal

  constructor(files: Files, removal: Removal) {
    this.#files = files
    this.#removal = removal
  }

  async handle({ subject, actor }: StoredEvent<'dataset.removed'>): Promise<void> {
    const isInside = (place: Place): boolean => place.dataset === subject.id
    let some: File[] = []
    for await (const file of this.#files.ofDataset(subject.id)) {
      some.push(file)
      if (some.length < batch) continue
      await this.#removal.leaveAll(some, isInside, actor)
      some = []
    }
    await this.#removal.leaveAll(some, isInside, actor)
  }
}
wire(LeaveDataset, Files, FileRemoval)

/** A folder that goes takes its files with it; those in folders below hear of their own folder. */
export class LeaveFolder {
  #files: Files
  #removal: Removal

  constructor(files: Files, removal: Removal) {
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
wire(LeaveFolder, Files, FileRemoval)
