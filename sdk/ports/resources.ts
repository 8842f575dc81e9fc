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
  /** All spaces, read lazily; for background jobs. */
  all(): AsyncIterable<SpaceRecord & Stored>
}
export const Spaces = port<Spaces>('spaces')

/** Collections, which form a directed acyclic graph. */
export interface Collections extends Records<CollectionRecord> {
  /** Direct child collections, newest first, without trashed ones. */
  childrenOf(collection: string, page: { readonly after?: After; readonly limit: number }): Promise<Page<CollectionRecord & Stored>>
}
export const Collections = port<Collections>('collections')

/** The input for a new dataset. */
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
   * For large imports: the dataset and its content stay invisible until `reveal`, and no events are emitted. Set `isImporting` for its files, folders and
   * metadata too, call `stillImporting` periodically, and finish with `reveal` or `drop`.
   */
  readonly isImporting?: boolean
}

/** Datasets. */
export interface Datasets extends Records<DatasetRecord> {
  /** The caller must check permissions on spaces and collections. */
  create(dataset: NewDataset): Promise<DatasetRecord & Stored>
  /** Datasets directly in a collection, newest first, without trashed and importing ones. */
  inCollection(collection: string, page: { readonly after?: After; readonly limit: number }): Promise<Page<DatasetRecord & Stored>>
  /** Keeps an import alive. Call at least every 20 minutes: after an hour without a call the import is dropped. `NotFound` if it was. */
  stillImporting(id: string): Promise<void>
  /**
   * Makes an imported dataset visible with its content in one commit with `dataset.created` and `dataset.imported`; `file.created` follows soon for each file.
   * `besides`: additional events of that commit. Idempotent. `NotFound` if the import was dropped.
   */
  reveal(id: string, besides?: readonly NewEvent[]): Promise<DatasetRecord & Stored>
  /** Deletes an import with its content. Does nothing if the dataset is absent or already visible. */
  drop(id: string): Promise<void>
  /**
   * Permanently deletes a dataset, bypassing the trash; its content is deleted in the background. Absent ones are not an error. `fromTrash`: only if it is in
   * the trash at that moment.
   */
  remove(id: string, actor?: string, only?: { readonly fromTrash: boolean }): Promise<void>
}
export const Datasets = port<Datasets>('datasets')

/** The input for a new folder. */
export interface NewFolder {
  readonly name: string
  readonly dataset: string
  /** The dataset or the parent folder. */
  readonly parent: FolderRecord['parent']
  readonly author: string
  /** For a dataset being imported: no event is emitted. */
  readonly isImporting?: boolean
}
/** The path of a folder, by display names. */
export interface FolderPath {
  readonly dataset: string
  /** The dataset or the parent folder. */
  readonly parent: FolderRecord['parent']
  /** Display names below the parent, from the top down; at least one. */
  readonly path: readonly string[]
}
/** Folders of datasets. */
export interface Folders extends Records<FolderRecord> {
  /** Creates a folder, displayed as `name (1)` … if the name is taken. `NotFound` if the parent is not in the dataset, `Conflict` in the trash. */
  create(folder: NewFolder): Promise<FolderRecord & Stored>
  /** The folder at a path; undefined if any of its folders does not exist. */
  at(place: Pick<FolderPath, 'parent' | 'path'>): Promise<(FolderRecord & Stored) | undefined>
  /**
   * The folder at a path; missing folders are created, only once even with concurrent calls. Errors as for `create`; `Invalid` if the path is too deep.
   * `isToldApart`: the feed has lines for their content instead.
   */
  ensure(place: FolderPath & { readonly author: string; readonly isToldApart?: boolean }): Promise<FolderRecord & Stored>
  /** Display names from the top down to each folder, by folder id. */
  paths(ids: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>>
  /** The dataset of each folder, derived from its ancestors: during a move, the destination. Folders below a deleted one are omitted. */
  datasetsOf(ids: readonly string[]): Promise<ReadonlyMap<string, string>>
  /** Direct child folders of a dataset or folder, by display name. */
  childrenOf(parent: string, page: { readonly after?: After; readonly limit: number }): Promise<Page<FolderRecord & Stored>>
  /** All folders of a dataset, read lazily. */
  ofDataset(dataset: string): AsyncIterable<FolderRecord & Stored>
}
export const Folders = port<Folders>('folders')

/** Stored bytes that are to become a file. */
export interface NewFile {
  readonly name: string
  readonly contentType: string
  readonly blob: string
  readonly sizeBytes: number
  readonly sha256: string
  readonly author: string
  /** Undefined: a file outside of datasets. */
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
  /** For imports of older files; now by default. */
  readonly created?: Time
  /** For a dataset being imported: `file.created` is emitted when it becomes visible. */
  readonly isImporting?: boolean
  /** Makes repeated calls idempotent: `CommitConflict` with `exists` if a file with this id exists. */
  readonly id?: string
  /** See `FileRecord`. */
  readonly hasDerivedId?: boolean
  /** One of several files for which the client adds its own feed line (`addFileEvent`). */
  readonly isToldApart?: boolean
  /** See `IngestOptions.batch`. */
  readonly batch?: string
}
/** The owner and location of copied files. */
export interface FileCopy {
  readonly author: string
  readonly placesOf: (original: FileRecord & Stored) => readonly Place[]
  /** For datasets that are not being imported: events are emitted immediately. Ids make repeated calls idempotent; `batch` as in `IngestOptions`. */
  readonly shown?: { readonly idOf: (original: FileRecord & Stored) => string; readonly batch: string }
}

/** Files. */
export interface Files extends Records<FileRecord> {
  /** Creates a file in one commit. Until then the caller owns the bytes (`StagedBlob`). `NotFound` if the dataset or folder was deleted meanwhile. */
  create(file: NewFile): Promise<FileRecord & Stored>
  /**
   * Copies files, by default into a dataset being imported (see `shown`); returns the ids of the copies by those of the originals. Copies share the bytes,
   * which are deleted with the last record that refers to them. A file deleted meanwhile is not copied. At most 200.
   */
  copy(some: readonly (FileRecord & Stored)[], as: FileCopy): Promise<ReadonlyMap<string, string>>
  /** Files directly in a dataset's root or in a folder, by name. */
  in(datasetOrFolder: string, page: { readonly after?: After; readonly limit: number }): Promise<Page<FileRecord & Stored>>
  /** At most `limit` files of a given name directly in a dataset's root or in a folder, newest first. */
  named(datasetOrFolder: string, name: string, limit: number): Promise<readonly (FileRecord & Stored)[]>
  /** The number of files `in` would list, counted up to 100,000. 0 for an unknown id. */
  countIn(datasetOrFolder: string): Promise<number>
  /** All files of a dataset in any folder, read lazily. */
  ofDataset(dataset: string): AsyncIterable<FileRecord & Stored>
  /** Existing files of a batch of `dataset.files-added`, available for a week; at most `limit` and 10,000. */
  ofBatch(batch: string, limit: number): Promise<readonly (FileRecord & Stored)[]>
}
export const Files = port<Files>('files')
