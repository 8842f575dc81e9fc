import { collection, type FileRecord, type Time } from 'pounce/sdk'

/** Files. `places` is an array, so listing a folder and finding a file's datasets are both one index read. */
export const files = collection<FileRecord>()('files', {
  byPlace: { on: ['places.in', 'name'], array: 'places.in' },
  byDataset: { on: ['places.dataset', 'created'], array: 'places.dataset' },
  byBlob: { on: ['blob'] },
  byCreated: { on: ['created'] },
})

/** Uploads that a client says belong together, into one dataset, by one user. */
export interface BatchRecord {
  readonly user: string
  readonly dataset: string
  /** Some of its files came into the root of the dataset. */
  readonly hasRootFiles: boolean
  /** Extraction was requested with some of its files. */
  readonly extract: boolean
  readonly state: 'open' | 'complete'
  /** When an open one counts as complete, and a complete one is deleted, unless files arrive until then. */
  readonly due: Time
}

export const uploadBatches = collection<BatchRecord>()('upload-batches', {
  byDue: { on: ['state', 'due'] },
  byUser: { on: ['user'] },
})

/** Files of a batch that came at about the same time: so many in one document that neither documents nor their number grow large. */
interface BatchFilesRecord {
  readonly batch: string
  readonly files: readonly string[]
}

export const uploadBatchFiles = collection<BatchFilesRecord>()('upload-batch-files', { byBatch: { on: ['batch'] } })
