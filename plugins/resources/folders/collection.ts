import { collection, event, type FolderRecord, type NewEvent, type Stored } from 'pounce/sdk'

export type Folder = FolderRecord & Stored

/** Folders. The unique index keeps display names distinct when two are created concurrently. */
export const folders = collection<FolderRecord>()('folders', {
  byParent: { on: ['parent.id', 'displayName'], unique: true },
  byDataset: { on: ['dataset', 'created'] },
})

/** The event that a folder was deleted. */
export const removedFolder = ({ id, dataset, parent, author }: Folder, actor: string | undefined): NewEvent =>
  event('folder.removed', { kind: 'folder', id }, { dataset, parent, author }, actor)
