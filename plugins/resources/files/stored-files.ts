import { hash } from 'node:crypto'
import {
  type After,
  and,
  type BlobOwner,
  Clock,
  CommitConflict,
  type Contributions,
  configPort,
  Datasets,
  DocumentStore,
  eq,
  event,
  type FileRecord,
  type Files,
  Folders,
  Ids,
  type MalwareScan,
  MalwareScanners,
  type NewEvent,
  NotFound,
  type Page,
  type Place,
  type StorageQuota,
  StorageQuotas,
  type Stored,
  s,
  type Update,
  type Where,
  wire,
} from 'pounce/sdk'
import {
  capabilitiesBy,
  changedNothing,
  type FileCopy,
  type IngestTarget,
  type NewFile,
  noStatistics,
  ownLicense,
  referencedIds,
} from 'pounce/sdk/kit'
import { files, uploadBatchFiles, usedFileIds } from './collection.ts'
import { copyFiles } from './file-copies.ts'
import { FileRemoval } from './file-removal.ts'
import { followFolder } from './place-changes.ts'

export const config = s.Object({
  maxNameLength: s.Integer({ default: 255, minimum: 1, maximum: 255, description: 'Maximum length of a file name, in characters' }),
  maxUrlBytes: s.Integer({
    default: 1_099_511_627_776,
    minimum: 1,
    description: 'Maximum size of a file fetched from a URL, in bytes',
  }),
  scrubDays: s.Integer({
    default: 7,
    minimum: 0,
    maximum: 3650,
    description: 'Interval between verifications of the checksums of all stored files, in days; 0: never',
  }),
  scrubMiBPerSecond: s.Integer({
    default: 32,
    minimum: 1,
    maximum: 100_000,
    description: 'Maximum read rate of the checksum verification, in MiB per second',
  }),
  batchQuietSeconds: s.Integer({
    default: 30,
    minimum: 0,
    maximum: 3600,
    description: 'Time without a new file after which a batch of uploads counts as complete, in seconds',
  }),
  linkDays: s.Integer({ default: 7, minimum: 1, maximum: 365, description: 'Lifetime of a download link, in days' }),
})

export const UrlUploadCapability = capabilitiesBy(configPort(config), ({ maxUrlBytes }) => ({ uploads: { maxUrlBytes } }))
export type Settings = s.Static<typeof config>
export const Config = configPort(config)

/** Maximum number of files of a batch per query. */
const maxOfBatch = 10_000

/** Bounds the cost of one count. */
const maxCount = 100_000

/** The location of a file in a dataset: its root, or one of its folders. */
export const placeIn = (dataset: string, folder?: string): Place => ({ dataset, folder: folder ?? null, in: folder ?? dataset })

/** Files in the document store, with their bytes in the blob store. */
export class StoredFiles implements Files {
  #documents: DocumentStore
  #datasets: Datasets
  #folders: Folders
  #removal: FileRemoval
  #quotas: Contributions<StorageQuota>
  #ids: Ids
  #clock: Clock
  #scanners: Contributions<MalwareScan>

  constructor(
    documents: DocumentStore,
    datasets: Datasets,
    folders: Folders,
    removal: FileRemoval,
    quotas: Contributions<StorageQuota>,
    ids: Ids,
    clock: Clock,
    scanners: Contributions<MalwareScan>,
  ) {
    this.#documents = documents
    this.#datasets = datasets
    this.#folders = folders
    this.#removal = removal
    this.#quotas = quotas
    this.#ids = ids
    this.#clock = clock
    this.#scanners = scanners
  }

  get(id: string): Promise<(FileRecord & Stored) | undefined> {
    return this.#documents.get(files, id)
  }

  getMany(ids: readonly string[]): Promise<ReadonlyMap<string, FileRecord & Stored>> {
    return this.#documents.getMany(files, ids)
  }

  async change(id: string, update: Update & { readonly where?: Where }, events: readonly NewEvent[]): Promise<FileRecord & Stored> {
    try {
      return await this.#documents.commit({ update: id, in: files, ...update }, events)
    } catch (error) {
      if (error instanceof CommitConflict && error.reason === 'absent') throw new NotFound('file', { cause: error })
      throw error
    }
  }

  async create(file: NewFile): Promise<FileRecord & Stored> {
    const id = file.id ?? this.#ids.next()
    // Uploads are charged at ingest, all files of one upload together.
    const counted = file.isImporting ? this.#quotas.all() : []
    const to = { author: file.author, datasets: file.dataset === undefined ? [] : [file.dataset] }
    let inserted: FileRecord & Stored
    try {
      for (const quota of counted) await quota.reserve(to, [{ id, sizeBytes: file.sizeBytes }])
      inserted = await this.insert({ ...file, id })
    } catch (error) {
      if (changedNothing(error)) for (const quota of counted) await quota.release([id])
      throw error
    }
    const missing = await this.settle(file, [inserted])
    if (missing === undefined) return inserted
    await this.#removal.remove(inserted, undefined)
    throw new NotFound(missing)
  }

  /** The commit alone. The caller is responsible for quotas, and for checking the dataset and folder afterwards (`settle`). */
  insert(file: NewFile & { readonly id: string }): Promise<FileRecord & Stored> {
    const { id, extract, keyId: key = null, isImporting = false, thumbnail } = file
    const record = this.#recordOf(file)
    const insert = { id, ...record, ...(isImporting ? { untold: { extract, key } } : {}) }
    const created = isImporting ? [] : [createdEvent(file, record), ...batched(file), ...scanDue({ id, ...record })]
    // A copy gets its own thumbnail from the plugin that stores thumbnails: the original's thumbnail has the rights of the original.
    const borrowed =
      thumbnail === undefined ? [] : [event('thumbnail.attached', { kind: 'thumbnail', id: thumbnail }, { target: { kind: 'file', id } })]
    return this.#documents.commit({ insert, into: files }, [...created, ...borrowed])
  }

  /** The id of the file that an upload with this key created, or of the one to create if there is none or it was deleted. */
  async idOf(key: string): Promise<string> {
    for (let deleted = 0; ; deleted++) {
      const id = hash('sha256', `${key} ${deleted}`).slice(0, 24)
      if ((await this.get(id)) || !(await this.#documents.get(usedFileIds, id))) return id
    }
  }

  /**
   * Called for files that were just added to a target, because concurrent deletions and moves have not seen them. They follow their folder if it was moved to
   * another dataset. Returns the part of the target that was deleted: the caller must then delete the files.
   */
  async settle({ dataset, folder }: IngestTarget, added: readonly (FileRecord & Stored)[]): Promise<'dataset' | 'folder' | undefined> {
    if (dataset === undefined) return undefined
    if (!(await this.#datasets.get(dataset))) return 'dataset'
    if (folder === undefined) return undefined
    const found = await this.#folders.get(folder)
    if (!found) return 'folder'
    if (found.dataset !== dataset) await followFolder(this.#documents, this.#folders, folder, added)
    return undefined
  }

  #recordOf(file: NewFile): FileRecord {
    return {
      name: file.name,
      originalName: file.name,
      description: file.description ?? '',
      author: file.author,
      created: file.created ?? this.#clock.now().toISOString(),
      contentType: file.contentType,
      sizeBytes: file.sizeBytes,
      sha256: file.sha256,
      blob: file.blob,
      status: file.extract && file.dataset !== undefined ? 'CREATED' : 'PROCESSED',
      places: file.dataset === undefined ? [] : [placeIn(file.dataset, file.folder)],
      thumbnail: file.thumbnail ?? null,
      showPreviews: file.showPreviews ?? 'DatasetLevel',
      license: file.license ?? ownLicense,
      tags: file.tags ?? [],
      statistics: noStatistics,
      ...(file.hasDerivedId ? { hasDerivedId: true as const } : {}),
      ...(this.#scanners.all().length > 0 ? { scan: { state: 'pending', ...(file.extract ? { extract: true } : {}) } } : {}),
    }
  }

  async copy(some: readonly (FileRecord & Stored)[], as: FileCopy): Promise<ReadonlyMap<string, string>> {
    const parts = { documents: this.#documents, removal: this.#removal, quotas: this.#quotas, ids: this.#ids, clock: this.#clock }
    const copies = await copyFiles({ ...parts, announcing }, some, as)
    if (!as.shown) return copies
    for (const copy of (await this.getMany([...copies.values()])).values()) {
      const [place] = copy.places
      const missing = place && (await this.settle(targetOf(place), [copy]))
      if (missing === undefined) continue
      await this.#removal.remove(copy, undefined)
      throw new NotFound(missing)
    }
    return copies
  }

  in(datasetOrFolder: string, page: { readonly after?: After; readonly limit: number }): Promise<Page<FileRecord & Stored>> {
    return this.#documents.find(files, {
      using: 'byPlace',
      where: eq('places.in', datasetOrFolder),
      sort: { by: 'name', order: 'ascending' },
      ...page,
    })
  }

  async named(datasetOrFolder: string, name: string, limit: number): Promise<readonly (FileRecord & Stored)[]> {
    const where = and(eq('places.in', datasetOrFolder), eq('name', name))
    return (await this.#documents.find(files, { using: 'byPlace', where, sort: { by: 'name', order: 'descending' }, limit })).items
  }

  countIn(datasetOrFolder: string): Promise<number> {
    return this.#documents.count(files, { using: 'byPlace', where: eq('places.in', datasetOrFolder), upTo: maxCount })
  }

  async ofBatch(batch: string, limit: number): Promise<readonly (FileRecord & Stored)[]> {
    const maxFound = Math.min(limit, maxOfBatch)
    const ids: string[] = []
    for await (const some of this.#documents.scan(uploadBatchFiles, { using: 'byBatch', where: eq('batch', batch) })) {
      ids.push(...some.files)
      if (ids.length >= maxFound) break
    }
    const found: (FileRecord & Stored)[] = []
    for (let at = 0; at < Math.min(ids.length, maxFound); at += 1000) {
      found.push(...(await this.getMany(ids.slice(at, Math.min(at + 1000, maxFound)))).values())
    }
    return found
  }

  ofDataset(dataset: string): AsyncIterable<FileRecord & Stored> {
    return this.#documents.scan(files, {
      using: 'byDataset',
      where: eq('places.dataset', dataset),
      sort: { by: 'created', order: 'ascending' },
    })
  }
}
wire(StoredFiles, DocumentStore, Datasets, Folders, FileRemoval, StorageQuotas, Ids, Clock, MalwareScanners)

const createdEvent = (file: NewFile & { readonly id: string }, { scan }: FileRecord): NewEvent => {
  const about = {
    dataset: file.dataset ?? null,
    folder: file.folder ?? null,
    sizeBytes: file.sizeBytes,
    extract: file.extract,
    key: file.keyId ?? null,
    ...(file.isToldApart || file.batch !== undefined ? { isToldApart: true } : {}),
    ...(scan ? { awaitsScan: true } : {}),
  }
  return event('file.created', { kind: 'file', id: file.id }, about, file.author)
}

const announcing = (copy: FileRecord & { readonly id: string }, batch: string): readonly NewEvent[] => {
  const [place] = copy.places
  const { id, name, contentType, sizeBytes, sha256, blob, author } = copy
  const about = { ...{ id, name, contentType, sizeBytes, sha256, blob, author, batch, extract: false }, ...(place ? targetOf(place) : {}) }
  return [createdEvent(about, copy), ...batched(about), ...scanDue(copy)]
}

const targetOf = ({ dataset, folder }: Place): { readonly dataset: string; readonly folder?: string } => ({
  dataset,
  ...(folder === null ? {} : { folder }),
})

/** Only uploads of a batch incur the cost of a common event. */
const batched = ({ id, dataset, folder, batch, author, extract }: NewFile & { readonly id: string }): readonly NewEvent[] =>
  batch === undefined || dataset === undefined
    ? []
    : [event('file.batched', { kind: 'file', id }, { dataset, folder: folder ?? null, batch, extract }, author)]

/** Emitted in the commit that creates the file. */
export const scanDue = ({ id, scan }: Pick<FileRecord & Stored, 'id' | 'scan'>): readonly NewEvent[] =>
  scan?.state === 'pending' ? [event('file.scan-due', { kind: 'file', id }, {})] : []

/** Which stored bytes belong to files. */
export class FileBlobs implements BlobOwner {
  readonly places = [{ in: files, field: 'blob', sizeField: 'sizeBytes' }]
  #documents: DocumentStore

  constructor(documents: DocumentStore) {
    this.#documents = documents
  }

  owned(keys: readonly string[]): Promise<ReadonlySet<string>> {
    return referencedIds(this.#documents, files, { using: 'byBlob', field: 'blob', of: file => file.blob }, keys)
  }
}
wire(FileBlobs, DocumentStore)
