import { DocumentStore, eq, type event, Folders, type StoredEvent, wire } from 'pounce/sdk'
import { requireDone } from 'pounce/sdk/kit'
import { type Folder, folders, removedFolder } from './collection.ts'

const batch = 200

/** Tombstones folders that are still where they were; each says so. */
const removeThose = async (
  documents: DocumentStore,
  some: readonly Folder[],
  where: 'parent.id' | 'dataset',
  events: (folder: Folder) => ReturnType<typeof event>[],
): Promise<void> => {
  const done = await documents.commitEach(
    some.map(folder => ({
      change: { tombstone: folder.id, in: folders, where: eq(where, where === 'dataset' ? folder.dataset : folder.parent.id) },
      events: events(folder),
    })),
  )
  requireDone(done)
}

/** A folder that goes takes the folders in it with it; each says so, and takes its own. */
export class DeleteSubfoldersOnFolderRemoved {
  #documents: DocumentStore

  constructor(documents: DocumentStore) {
    this.#documents = documents
  }

  async handle({ subject, actor }: StoredEvent<'folder.removed'>): Promise<void> {
    const sort = { by: 'displayName', order: 'ascending' } as const
    for (;;) {
      const where = eq('parent.id', subject.id)
      const { items } = await this.#documents.find(folders, { using: 'byParent', where, sort, limit: batch })
      if (items.length === 0) return
      await removeThose(this.#documents, items, 'parent.id', folder => [removedFolder(folder, actor)])
    }
  }
}
wire(DeleteSubfoldersOnFolderRemoved, DocumentStore)

/** A dataset that goes takes its folders with it, without a word for each: anyone who cares is notified of the dataset. Those on their way to another one stay. */
export class DeleteFoldersOnDatasetRemoved {
  #documents: DocumentStore
  #folders: Folders

  constructor(documents: DocumentStore, all: Folders) {
    this.#documents = documents
    this.#folders = all
  }

  async handle({ subject }: StoredEvent<'dataset.removed'>): Promise<void> {
    let some: Folder[] = []
    for await (const folder of this.#folders.ofDataset(subject.id)) {
      some.push(folder)
      if (some.length < batch) continue
      await this.#remove(some, subject.id)
      some = []
    }
    await this.#remove(some, subject.id)
  }

  async #remove(some: readonly Folder[], dataset: string): Promise<void> {
    const places = await this.#folders.datasetsOf(some.map(({ id }) => id))
    const staying = some.filter(({ id }) => (places.get(id) ?? dataset) === dataset)
    await removeThose(this.#documents, staying, 'dataset', () => [])
  }
}
wire(DeleteFoldersOnDatasetRemoved, DocumentStore, Folders)
