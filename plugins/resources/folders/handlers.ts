import { CommitConflict, DocumentStore, eq, event, type StoredEvent, type Where, wire } from 'pounce/sdk'
import { type Folder, folders } from './collection.ts'

const batch = 200

/** Tombstones what fits until nothing does any more. */
const removeAll = async (
  documents: DocumentStore,
  using: string,
  where: Where,
  events: (folder: Folder) => ReturnType<typeof event>[],
): Promise<void> => {
  const by = using === 'byDataset' ? 'created' : 'displayName'
  for (;;) {
    const { items } = await documents.find(folders, { using, where, sort: { by, order: 'ascending' }, limit: batch })
    if (items.length === 0) return
    const done = await documents.commitEach(
      items.map(folder => ({ change: { tombstone: folder.id, in: folders }, events: events(folder) })),
    )
    for (const result of done) if (!result.ok && !(result.error instanceof CommitConflict)) throw result.error
  }
}

/** A folder that goes takes the folders in it with it; each says so, and takes its own. */
export class LeaveParent {
  #documents: DocumentStore

  constructor(documents: DocumentStore) {
    this.#documents = documents
  }

  async handle({ subject, actor }: StoredEvent<'folder.removed'>): Promise<void> {
    await removeAll(this.#documents, 'byParent', eq('parent.id', subject.id), ({ id, dataset }) => [
      event('folder.removed', { kind: 'folder', id }, { dataset }, actor),
    ])
  }
}
wire(LeaveParent, DocumentStore)

/** A dataset that goes takes its folders with it, without a word for each: whoever cares hears of the dataset. */
export class LeaveDataset {
  #documents: DocumentStore

  constructor(documents: DocumentStore) {
    this.#documents = documents
  }

  async handle({ subject }: StoredEvent<'dataset.removed'>): Promise<void> {
    await removeAll(this.#documents, 'byDataset', eq('dataset', subject.id), () => [])
  }
}
wire(LeaveDataset, DocumentStore)
