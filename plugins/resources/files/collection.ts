import { collection, type FileRecord, type Time } from 'pounce/sdk'

/** Files. `places` is an array, so listing a folder and finding a file's datasets are both one index read. */
export const files = collection<FileRecord>()('files', {
  byPlace: { on: ['places.in', 'name'], array: 'places.in' },
  byDataset: { on: ['places.dataset', 'created'], array: 'places.dataset' },
  byBlob: { on: ['blob'] },
  byCreated: { on: ['created'] },
})

/** Ids of deleted files that a repeated upload would derive again. A file cannot have them: consumers ignore late changes of deleted files by their ids. */
export const usedFileIds = collection<object>()('used-file-ids')

/** Uploads that the client marked as belonging together, into one dataset, by one user. */
export interface BatchRecord {
  readonly user: string
  readonly dataset: string
  /** True if some of its files were added to the root of the dataset. */
  readonly hasRootFiles: boolean
  /** True if extraction was requested for some of its files. */
  readonly extract: boolean
  readonly state: 'open' | 'complete'
  /** When an open batch counts as complete, and a complete one is deleted, unless more files arrive before. */
  readonly due: Time
}

export const uploadBatches = collection<BatchRecord>()('upload-batches', {
  byDue: { on: ['state', 'due'] },
  byUser: { on: ['user'] },
})

/** Files of a batch that arrived at about the same time: grouped so that neither the documents nor their number grow large. */
interface BatchFilesRecord {
  readonly batch: string
  readonly files: readonly string[]
}

export const uploadBatchFiles = collection<BatchFilesRecord>()('upload-batch-files', { byBatch: { on: ['batch'] } })
