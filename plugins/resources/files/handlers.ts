import { Files, type StoredEvent, wire } from 'pounce/sdk'
import { FileRemoval, type Removal } from './removal.ts'

/** A dataset that goes takes the files with it that lie nowhere else. */
export class LeaveDataset {
  #files: Files
  #removal: Removal

  constructor(files: Files, removal: Removal) {
    this.#files = files
    this.#removal = removal
  }

  async handle({ subject, actor }: StoredEvent<'dataset.removed'>): Promise<void> {
    for await (const file of this.#files.ofDataset(subject.id)) {
      await this.#removal.leave(file, place => place.dataset === subject.id, actor)
    }
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
      const { items } = await this.#files.in(subject.id, { limit: 200 })
      if (items.length === 0) return
      for (const file of items) await this.#removal.leave(file, place => place.folder === subject.id, actor)
    }
  }
}
wire(LeaveFolder, Files, FileRemoval)
