import { collection, event, type FolderRecord, type NewEvent, type Stored } from 'pounce/sdk'

export type Folder = FolderRecord & Stored

/** Folders. The unique index is what keeps display names apart when two are made at once. */
export const folders = collection<FolderRecord>()('folders', {
  byParent: { on: ['parent.id', 'displayName'], unique: true },
  byDataset: { on: ['dataset', 'created'] },
})

/** Says that a folder is deleted. */
export const removedFolder = ({ id, dataset, parent, author }: Folder, actor: string | undefined): NewEvent =>
  event('folder.removed', { kind: 'folder', id }, { dataset, parent, author }, actor)
