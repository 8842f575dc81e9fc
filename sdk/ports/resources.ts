import type { Caller } from '../model/caller.ts'
import type { Kind, Ref } from '../model/kind.ts'
import type {
  CollectionRecord,
  CommentRecord,
  DatasetAccess,
  DatasetRecord,
  FileRecord,
  FolderRecord,
  License,
  MetadataRecord,
  PreviewRecord,
  RoleRecord,
  SectionRecord,
  SpaceRecord,
  Tag,
  Time,
  UserRecord,
} from '../model/records.ts'
import { type Contributions, contributions, port } from '../port.ts'
import type { BlobFacts } from './blob-store.ts'
import type { After, Json, Page, Stored } from './document-store.ts'
import type { DerivedFile } from './extractor.ts'
import type { Records } from './records.ts'
import type { SearchDocument } from './search-index.ts'

/** Accounts. */
export interface Users extends Records<UserRecord> {
  byEmail(email: string): Promise<(UserRecord & Stored) | undefined>
  /** Accounts of exactly this name, at most 20: two people can have the same. */
  named(firstName: string, lastName: string): Promise<readonly (UserRecord & Stored)[]>
  /** Server admins, at most 100, by id. */
  admins(): Promise<readonly (UserRecord & Stored)[]>
  /** Members of a space with their role ids, by id. */
  membersOf(space: string, page: { readonly after?: After; readonly limit: number }): Promise<Page<UserRecord & Stored>>
  /** Some of those who follow a thing, at most `limit` (1 to 1,000), by id. */
  followersOf(thing: string, limit: number): Promise<readonly (UserRecord & Stored)[]>
  /** `Taken` when the e-mail is in use. */
  create(
    user: Pick<UserRecord, 'email' | 'firstName' | 'lastName' | 'status'> & { readonly password?: string; readonly actor?: string },
  ): Promise<UserRecord & Stored>
  /** Adds, changes or (role undefined) ends a membership. `joining`: whether a new member was added, or accepted after asking. */
  setMembership(user: string, space: string, role: string | undefined, actor?: string, joining?: 'added' | 'accepted'): Promise<void>
  /** Address of a person's picture; it can give their e-mail away, so it is for those who may see that. */
  avatarOf(user: UserRecord): string
  roles(): Promise<readonly (RoleRecord & Stored)[]>
}
export const Users = port<Users>('users')

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
   * For something made of many documents: nobody sees the dataset, nor what is in it, until `reveal`, and no event tells of it. Create its files,
   * folders and metadata with `isImporting` too, say `stillImporting` now and then, and end with `reveal` or `drop`.
   */
  readonly isImporting?: boolean
}
export interface Datasets extends Records<DatasetRecord> {
  /** Rights on spaces and collections are the caller's to check. */
  create(dataset: NewDataset): Promise<DatasetRecord & Stored>
  /** Datasets right in a collection, newest first; none from the trash, nor those being imported. */
  inCollection(collection: string, page: { readonly after?: After; readonly limit: number }): Promise<Page<DatasetRecord & Stored>>
  /** The import goes on. At least every 20 minutes: one that was silent for an hour is dropped. `NotFound` when it was. */
  stillImporting(id: string): Promise<void>
  /**
   * Shows an imported dataset with all that is in it: one commit, with `dataset.created` and `dataset.imported`; each file says `file.created` soon
   * after. One that is shown already is no error. `NotFound` when it was dropped.
   */
  reveal(id: string): Promise<DatasetRecord & Stored>
  /** Takes an import back with all that is in it. An absent dataset, and one that is shown, is no error and stays. */
  drop(id: string): Promise<void>
  /** Deletes for good, past the trash; what is in it follows in the background. An absent one is no error. */
  remove(id: string, actor?: string): Promise<void>
}
export const Datasets = port<Datasets>('datasets')

export interface NewFolder {
  readonly name: string
  readonly dataset: string
  /** The dataset, or a folder in it. */
  readonly parent: FolderRecord['parent']
  readonly author: string
  /** Of a dataset that is being imported: no event tells of it. */
  readonly isImporting?: boolean
}
/** Folders of datasets. */
export interface Folders extends Records<FolderRecord> {
  /** Shown under its name, or as `name (1)` … when that is taken. `NotFound` for a parent that is not in the dataset, `Conflict` in the trash. */
  create(folder: NewFolder): Promise<FolderRecord & Stored>
  /** Display names from the top down to each folder, by folder id. */
  paths(ids: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>>
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
  /** Of something older that is imported; now unless said. */
  readonly created?: Time
  /** The bytes belong to another record as well: they stay when this one cannot be made. */
  readonly isShared?: boolean
  /** Of a dataset that is being imported: `file.created` follows when that is shown. */
  readonly isImporting?: boolean
  /** Makes a repeat harmless: `CommitConflict` with `exists` when there is a file with this id already. */
  readonly id?: string
  /** One of several of which the client tells the feed by itself (`addFileEvent`). */
  readonly isToldApart?: boolean
}
export interface Files extends Records<FileRecord> {
  /** One commit. When it certainly failed the bytes are removed; when only its answer was lost they stay until a sweep finds them. */
  create(file: NewFile): Promise<FileRecord & Stored>
  /** Files that lie right in a dataset's root or in a folder, by name. */
  in(datasetOrFolder: string, page: { readonly after?: After; readonly limit: number }): Promise<Page<FileRecord & Stored>>
  /** How many files `in` would list, counted up to 100,000. 0 for an unknown id. */
  countIn(datasetOrFolder: string): Promise<number>
  /** All files of a dataset wherever they lie, read while you iterate. */
  ofDataset(dataset: string): AsyncIterable<FileRecord & Stored>
  /** What an upload waits for: at none left the file becomes PROCESSED. Idempotent. */
  jobsChanged(id: string, change: { readonly add?: readonly string[]; readonly done?: readonly string[] }): Promise<void>
}
export const Files = port<Files>('files')

/** Bytes that came in and are durable, with what was sent about them. */
export interface IncomingFile {
  /** As `FileIntake.nameOf` gave it. */
  readonly name: string
  /** As declared; absent or `application/octet-stream`: told by the name. */
  readonly contentType?: string
  readonly bytes: BlobFacts
  /** JSON-LD documents about it, checked by the caller; their agent is the uploader. */
  readonly metadata?: readonly { readonly context?: Json; readonly content: Json }[]
  /** Makes a repeat harmless: the file's id. The bytes then stay with the caller when they cannot become a file. */
  readonly id?: string
}

/** Where files are to lie: in no dataset, in the root of one, or in one of its folders. */
export interface IntakeTarget {
  readonly dataset?: string | undefined
  readonly folder?: string | undefined
}

/** The one way by which sent bytes become files, however they came: multipart, in pieces, from an address or from a folder of the server. */
export interface FileIntake {
  /** A name as sent, in the form in which it is stored. `Invalid` for one that cannot stand in a path. */
  nameOf(sent: string): string
  /** `NotFound`, `Forbidden`, `Conflict` (in the trash) unless the caller may put files there now. */
  requireTarget(caller: Caller, target: IntakeTarget): Promise<void>
  /** The same without the caller's rights, for a dataset whose rights the route has checked. */
  requirePlace(target: IntakeTarget): Promise<void>
  /**
   * Makes all of them files, in the order given, or none: then their bytes are removed too, save those of which it is not known whether a
   * record names them. The target's rights are the caller's to check (`requireTarget`).
   */
  admit(
    files: readonly IncomingFile[],
    caller: Caller,
    options: IntakeTarget & {
      readonly extract: boolean
      readonly showPreviews?: FileRecord['showPreviews']
      readonly isToldApart?: boolean
    },
  ): Promise<readonly (FileRecord & Stored)[]>
}
export const FileIntake = port<FileIntake>('fileIntake')

/** Parts of files. */
export interface Sections extends Records<SectionRecord> {
  /** Those of a file in the order of their start times; those without one come first. */
  of(file: string, page: { readonly after?: After; readonly limit: number }): Promise<Page<SectionRecord & Stored>>
}
export const Sections = port<Sections>('sections')

export interface NewMetadata {
  readonly target: Ref
  readonly context?: Json
  readonly agent: MetadataRecord['agent']
  readonly content: Json
  readonly created?: string
  readonly author: string | null
  /** Makes a repeat harmless: the document's id. */
  readonly id?: string
  /** On a dataset that is being imported, or in it: no event tells of it. */
  readonly isImporting?: boolean
}
/** JSON-LD documents on things. */
export interface MetadataDocuments {
  add(document: NewMetadata): Promise<MetadataRecord & Stored>
  get(id: string): Promise<(MetadataRecord & Stored) | undefined>
  /** Newest first, read in pages of at most 1,000. `extractor`: only those of this extractor name, optionally `name/version`. */
  of(
    target: Ref,
    options?: { readonly extractor?: string; readonly after?: After; readonly limit?: number },
  ): Promise<Page<MetadataRecord & Stored>>
}
export const MetadataDocuments = port<MetadataDocuments>('metadataDocuments')

/** What people say about things. */
export interface Comments {
  /** `to`: the comment that this one answers. `NotFound` when that is gone. */
  add(target: Ref, text: string, author: string | undefined, to?: CommentRecord & Stored): Promise<CommentRecord & Stored>
  get(id: string): Promise<(CommentRecord & Stored) | undefined>
  /** Another text. `NotFound` for one that is not there. */
  edit(id: string, text: string, actor: string | undefined): Promise<void>
  /** Oldest first. */
  of(target: Ref, page: { readonly after?: After; readonly limit: number }): Promise<Page<CommentRecord & Stored>>
}
export const Comments = port<Comments>('comments')

/** Tags of things of any kind that can carry them. */
export interface Tags {
  /** Trims, drops repeats; the tags that are new. */
  add(target: Ref, names: readonly string[], by: { readonly user?: string; readonly extractor?: string }): Promise<readonly Tag[]>
}
export const Tags = port<Tags>('tags')

/** Previews and thumbnails. */
export interface Previews {
  /** Stores a derived file and attaches it. `id` makes a repeat harmless. */
  addPreview(
    target: Ref,
    file: DerivedFile & { readonly id?: string },
    by: { readonly extractor: string; readonly author?: string },
  ): Promise<string>
  /** Likewise; becomes the thumbnail of the file, and of its datasets and their collections where they have none. */
  addThumbnail(
    target: Ref,
    file: DerivedFile & { readonly id?: string },
    by: { readonly extractor: string; readonly author?: string },
  ): Promise<string>
  of(target: Ref): Promise<readonly (PreviewRecord & Stored)[]>
}
export const Previews = port<Previews>('previews')

/** Numbers that are kept, not counted, and equal a recount once the outbox is empty. */
export interface Counters {
  /** The whole installation. */
  instance(): Promise<{
    readonly spaces: number
    readonly collections: number
    readonly datasets: number
    readonly files: number
    readonly bytes: number
    readonly users: number
  }>
}
export const Counters = port<Counters>('counters')

/** Takes things of one kind away as their DELETE route does: contributed by the plugin that owns the kind. */
export interface Bin {
  readonly kind: Kind
  /** To the trash, or for good where there is none or the thing lies in it. Rights are the caller's to check. Absent: `NotFound`. */
  discard(id: string, actor: string | undefined): Promise<void>
}
export const Bins = contributions<Bin>('bins')

/** What somebody might want to follow as well (reference, api-platform §1). */
export interface Recommendation {
  readonly id: string
  readonly name: string
  readonly objectType: 'file' | 'dataset' | 'collection' | 'space' | 'user'
}

/** Knows what those who follow a thing follow besides. */
export interface Recommender {
  /** The most followed first, at most 10, only what the caller may see and does not follow yet. */
  recommend(caller: Caller, target: Ref): Promise<readonly Recommendation[]>
}
export const Recommenders = contributions<Recommender>('recommenders')

/** How much of one kind lies right in a thing: contributed from below, for answers that carry the number, or whether there is any. */
export interface ContentCount {
  /** What is counted: `collection`, `dataset`, `folder`, `file`. */
  readonly kind: Kind
  /** Live ones, counted up to `upTo` (10,000 unless said). 0 in what cannot hold any. */
  countIn(container: Ref, upTo?: number): Promise<number>
}
export const ContentCounts = contributions<ContentCount>('contentCounts')

/** Whether anything lies right in a thing. */
export const holdsAny = async (counts: Contributions<ContentCount>, container: Ref): Promise<boolean> => {
  for (const count of counts.all()) if ((await count.countIn(container, 1)) > 0) return true
  return false
}

/** Each resource plugin contributes one for every kind that can be found by search. */
export interface Searchable {
  readonly kind: Kind
  /** What the index should know of those that exist now; ids that are left out are removed from it. At most 200 ids. */
  describe(ids: readonly string[]): Promise<ReadonlyMap<string, SearchDocument>>
  /** Every id, for a rebuild. */
  all(): AsyncIterable<string>
  /** The items of a search answer in v1's shape, by id. Ids the caller may not see were taken out before. */
  present(ids: readonly string[], caller: Caller): Promise<ReadonlyMap<string, Readonly<Record<string, unknown>>>>
}
export const Searchables = contributions<Searchable>('searchables')

/** Where the tree stands: `root`, or a space, collection, dataset or folder. */
export interface TreeParent {
  readonly kind: 'root' | 'space' | 'collection' | 'dataset' | 'folder'
  /** Absent at the root. */
  readonly id?: string
  /** Only what the caller made. */
  readonly mine: boolean
}

/** A thing in the tree (reference, api-platform §10). */
export interface TreeNode {
  readonly kind: 'space' | 'collection' | 'dataset' | 'folder' | 'file'
  readonly id: string
  readonly name: string
  readonly hasChildren: boolean
  /** Further members of v1's `data` and node: `authorId`, `spaces`, `parentDataset`. */
  readonly data: Readonly<Record<string, unknown>>
}

/** Each resource plugin contributes one for every kind that shows in the tree. */
export interface TreeBranch {
  readonly kind: TreeNode['kind']
  /** Things of this kind right below the parent that the caller may see; none for parents that hold none of them. The right to see the parent was checked. */
  below(parent: TreeParent, caller: Caller, page: { readonly after?: After; readonly limit: number }): Promise<Page<TreeNode>>
}
export const TreeBranches = contributions<TreeBranch>('treeBranches')

/** Shows a media type to people. */
export interface Previewer {
  readonly id: string
  readonly summary: string
  /** Media types of exactly two parts, `*` for a part. */
  readonly mediaTypes: readonly string[]
  /** Asset path and main script for the browser (v1: p_path, p_main). */
  readonly path: string
  readonly main: string
  /** Shows the file itself when no preview fits. */
  readonly showsFiles: boolean
}
export const Previewers = contributions<Previewer>('previewers')
