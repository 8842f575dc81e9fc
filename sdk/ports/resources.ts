import type { NewEvent } from '../events.ts'
import type {
  CollectionRecord,
  DatasetAccess,
  DatasetRecord,
  FileRecord,
  FolderRecord,
  License,
  Place,
  SpaceRecord,
  Tag,
  Time,
} from '../model/records.ts'
import { port } from '../port.ts'
import type { After, Page, Stored } from './document-store.ts'
import type { Records } from './records.ts'

/** Spaces. */
export interface Spaces extends Records<SpaceRecord> {
  /** All there are, read while you iterate: for jobs. */
  all(): AsyncIterable<SpaceRecord & Stored>
}
export const Spaces = port<Spaces>('spaces')

/** Collections, which nest many-to-many. */
export interface Collections extends Records<CollectionRecord> {
  /** Collections right below one, newest first; none from the trash. */
  childrenOf(collection: string, page: { readonly after?: After; readonly limit: number }): Promise<Page<CollectionRecord & Stored>>
}
export const Collections = port<Collections>('collections')

/** What a new dataset is made of. */
export interface NewDataset {
  readonly name: string
  readonly description?: string
  readonly author: string
  readonly spaces?: readonly string[]
  readonly collections?: readonly string[]
  readonly access?: DatasetAccess
  readonly creators?: readonly string[]
  readonly license?: License
  readonly tags?: readonly Tag[]
  readonly thumbnail?: string
  /**
   * For imports of many documents: the dataset and its contents are invisible until `reveal`, and no event is emitted. Create its files,
   * folders and metadata with `isImporting` too, say `stillImporting` now and then, and end with `reveal` or `drop`.
   */
  readonly isImporting?: boolean
}

/** The datasets of the installation. */
export interface Datasets extends Records<DatasetRecord> {
  /** Rights on spaces and collections are the caller's to check. */
  create(dataset: NewDataset): Promise<DatasetRecord & Stored>
  /** Datasets right in a collection, newest first; none from the trash, nor those being imported. */
  inCollection(collection: string, page: { readonly after?: After; readonly limit: number }): Promise<Page<DatasetRecord & Stored>>
  /** The import continues. At least every 20 minutes: one that was silent for an hour is dropped. `NotFound` when it was. */
  stillImporting(id: string): Promise<void>
  /**
   * Shows an imported dataset with all that is in it: one commit, with `dataset.created` and `dataset.imported`; each file says `file.created` soon
   * after. `besides`: further events of that commit. One that is shown already is not an error. `NotFound` when it was dropped.
   */
  reveal(id: string, besides?: readonly NewEvent[]): Promise<DatasetRecord & Stored>
  /** Takes an import back with all that is in it. An absent dataset, and one that is shown, is not an error and stays. */
  drop(id: string): Promise<void>
  /**
   * Deletes for good, past the trash; what is in it follows in the background. An absent one is not an error. `fromTrash`: only if it is in the
   * trash when it happens.
   */
  remove(id: string, actor?: string, only?: { readonly fromTrash: boolean }): Promise<void>
}
export const Datasets = port<Datasets>('datasets')

/** What a new folder is made of. */
export interface NewFolder {
  readonly name: string
  readonly dataset: string
  /** The dataset, or a folder in it. */
  readonly parent: FolderRecord['parent']
  readonly author: string
  /** Of a dataset that is being imported: no event is emitted. */
  readonly isImporting?: boolean
}
/** Where a folder lies, by the names that are shown. */
export interface FolderPath {
  readonly dataset: string
  /** The dataset, or a folder in it. */
  readonly parent: FolderRecord['parent']
  /** Display names below the parent, from the top down; at least one. */
  readonly path: readonly string[]
}
/** Folders of datasets. */
export interface Folders extends Records<FolderRecord> {
  /** Shown under its name, or as `name (1)` … when that is taken. `NotFound` for a parent that is not in the dataset, `Conflict` in the trash. */
  create(folder: NewFolder): Promise<FolderRecord & Stored>
  /** The folder at the end of a path; undefined when one of its folders is missing. */
  at(place: Pick<FolderPath, 'parent' | 'path'>): Promise<(FolderRecord & Stored) | undefined>
  /**
   * The folder at the end of a path. Folders that are missing are created, each once, however many do so at the same moment. Refuses like `create`;
   * `Invalid` when the path is too deep. `isToldApart`: the feed has lines of their contents instead.
   */
  ensure(place: FolderPath & { readonly author: string; readonly isToldApart?: boolean }): Promise<FolderRecord & Stored>
  /** Display names from the top down to each folder, by folder id. */
  paths(ids: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>>
  /** The dataset that each folder is in by what is above it: in the middle of a move this is where it goes. None for one below a folder that is gone. */
  datasetsOf(ids: readonly string[]): Promise<ReadonlyMap<string, string>>
  /** Folders right below a dataset or folder, by display name. */
  childrenOf(parent: string, page: { readonly after?: After; readonly limit: number }): Promise<Page<FolderRecord & Stored>>
  /** All folders of a dataset, read while you iterate. */
  ofDataset(dataset: string): AsyncIterable<FolderRecord & Stored>
}
export const Folders = port<Folders>('folders')

/** Bytes already stored, to become a file. */
export interface NewFile {
  readonly name: string
  readonly contentType: string
  readonly blob: string
  readonly sizeBytes: number
  readonly sha256: string
  readonly author: string
  /** Undefined: a file in no dataset. */
  readonly dataset?: string
  readonly folder?: string
  readonly showPreviews?: FileRecord['showPreviews']
  /** False: no extraction. */
  readonly extract: boolean
  readonly keyId?: string
  readonly description?: string
  readonly license?: License
  readonly tags?: readonly Tag[]
  readonly thumbnail?: string
  /** Of something older that is imported; now by default. */
  readonly created?: Time
  /** Of a dataset that is being imported: `file.created` follows when that is shown. */
  readonly isImporting?: boolean
  /** Makes a repeat harmless: `CommitConflict` with `exists` when there is a file with this id already. */
  readonly id?: string
  /** One of several for which the client adds a feed line by itself (`addFileEvent`). */
  readonly isToldApart?: boolean
  /** See `IngestOptions.batch`. */
  readonly batch?: string
}
/** Whose the copies of files are, and where they lie. */
export interface FileCopy {
  readonly author: string
  readonly placesOf: (original: FileRecord & Stored) => readonly Place[]
  /** Into datasets that are no longer imported: events announce the files at once. Ids make a repeat harmless; `batch` as in `IngestOptions`. */
  readonly shown?: { readonly idOf: (original: FileRecord & Stored) => string; readonly batch: string }
}

/** The files of the installation. */
export interface Files extends Records<FileRecord> {
  /** One commit. The bytes are the caller's until then (`StagedBlob`). `NotFound` when the dataset or folder was removed meanwhile. */
  create(file: NewFile): Promise<FileRecord & Stored>
  /**
   * Copies by the ids of the originals, for a dataset that is being imported unless `shown` is set. They share the bytes, which go with the last record that
   * names them. A file that is deleted meanwhile has no copy. At most 200.
   */
  copy(some: readonly (FileRecord & Stored)[], as: FileCopy): Promise<ReadonlyMap<string, string>>
  /** Files that lie right in a dataset's root or in a folder, by name. */
  in(datasetOrFolder: string, page: { readonly after?: After; readonly limit: number }): Promise<Page<FileRecord & Stored>>
  /** Files of one name that lie right in a dataset's root or in a folder, the newest first; at most `limit`. */
  named(datasetOrFolder: string, name: string, limit: number): Promise<readonly (FileRecord & Stored)[]>
  /** How many files `in` would list, counted up to 100,000. 0 for an unknown id. */
  countIn(datasetOrFolder: string): Promise<number>
  /** All files of a dataset wherever they lie, read while you iterate. */
  ofDataset(dataset: string): AsyncIterable<FileRecord & Stored>
  /** Files of a batch of `dataset.files-added` that exist, within a week; at most `limit`, and 10,000. */
  ofBatch(batch: string, limit: number): Promise<readonly (FileRecord & Stored)[]>
}
export const Files = port<Files>('files')
