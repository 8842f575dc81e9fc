import { collection, type FolderRecord, type Stored } from 'pounce/sdk'

export type Folder = FolderRecord & Stored

/** Folders. The unique index is what keeps display names apart when two are made at once. */
export const folders = collection<FolderRecord>()('folders', {
  byParent: { on: ['parent.id', 'displayName'], unique: true },
  byDataset: { on: ['dataset', 'created'] },
})
