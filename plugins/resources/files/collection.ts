import { collection, type FileRecord } from 'pounce/sdk'

/** Files. `places` is an array, so listing a folder and finding a file's datasets are both one index read. */
export const files = collection<FileRecord>('files', {
  byPlace: { on: ['places.in', 'name'], array: 'places.in' },
  byDataset: { on: ['places.dataset', 'created'], array: 'places.dataset' },
  byBlob: { on: ['blob'] },
  byCreated: { on: ['created'] },
})
