import { DocumentStore, eq, type event, Folders, type StoredEvent, wire } from 'pounce/sdk'
import { requireDone } from 'pounce/sdk/kit'
import { type Folder, folders, removedFolder } from './collection.ts'

const batchSize = 200

/** Deletes folders that are still in the given location, each with its own event. */
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

/** Deletes the subfolders of a deleted folder, each with its own event, which deletes their subfolders. */
export const removeSubfolders = async (documents: DocumentStore, parent: string, actor: string | undefined): Promise<void> => {
  const sort = { by: 'displayName', order: 'ascending' } as const
  for (;;) {
    const { items } = await documents.find(folders, { using: 'byParent', where: eq('parent.id', parent), sort, limit: batchSize })
    if (items.length === 0) return
    await removeThose(documents, items, 'parent.id', folder => [removedFolder(folder, actor)])
  }
}

/** Deletes the subfolders of a deleted folder. */
export class DeleteSubfoldersOnFolderRemoved {
  #documents: DocumentStore

  constructor(documents: DocumentStore) {
    this.#documents = documents
  }

  async handle({ subject, actor }: StoredEvent<'folder.removed'>): Promise<void> {
    await removeSubfolders(this.#documents, subject.id, actor)
  }
}
wire(DeleteSubfoldersOnFolderRemoved, DocumentStore)

/**
 * Deletes the folders of a deleted dataset, without an event for each: interested consumers handle the event of the dataset. Folders that
 * are being moved to another dataset are kept.
 */
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
      if (some.length < batchSize) continue
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
