import {
  type After,
  BlobStore,
  Clock,
  CommitConflict,
  type Contributions,
  changedNothing,
  configPort,
  Datasets,
  DocumentStore,
  eq,
  event,
  type FileCopy,
  type FileRecord,
  type Files,
  Folders,
  Ids,
  Log,
  type MalwareScan,
  MalwareScanners,
  type NewEvent,
  type NewFile,
  NotFound,
  noStatistics,
  ownLicense,
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
import { files } from './collection.ts'
import { copyFiles } from './file-copies.ts'
import { FileRemoval } from './file-removal.ts'
import { scanDue } from './scan-files.ts'

export const config = s.Object({
  maxNameLength: s.Integer({ default: 255, minimum: 1, maximum: 1000, description: 'Maximum length of a file name, in characters' }),
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
  linkDays: s.Integer({ default: 7, minimum: 1, maximum: 365, description: 'Lifetime of a download link, in days' }),
})
export type Settings = s.Static<typeof config>
export const Config = configPort(config)

/** Bounds what one count may cost. */
const maxCount = 100_000

/** The place of a file in a dataset: its root, or one of its folders. */
export const placeIn = (dataset: string, folder?: string): Place => ({ dataset, folder: folder ?? null, in: folder ?? dataset })

/** Files in the document store, their bytes in the blob store. */
export class StoredFiles implements Files {
  #documents: DocumentStore
  #blobs: BlobStore
  #datasets: Datasets
  #folders: Folders
  #removal: FileRemoval
  #quotas: Contributions<StorageQuota>
  #ids: Ids
  #clock: Clock
  #scanners: Contributions<MalwareScan>
  #log: Log

  constructor(
    documents: DocumentStore,
    blobs: BlobStore,
    datasets: Datasets,
    folders: Folders,
    removal: FileRemoval,
    quotas: Contributions<StorageQuota>,
    ids: Ids,
    clock: Clock,
    scanners: Contributions<MalwareScan>,
    log: Log,
  ) {
    this.#documents = documents
    this.#blobs = blobs
    this.#datasets = datasets
    this.#folders = folders
    this.#removal = removal
    this.#quotas = quotas
    this.#ids = ids
    this.#clock = clock
    this.#scanners = scanners
    this.#log = log
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
    const record: FileRecord = {
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
      ...(this.#scanners.all().length > 0 ? { scan: { state: 'pending', ...(file.extract ? { extract: true } : {}) } } : {}),
    }
    const { extract, keyId: key = null, isImporting = false } = file
    const about = {
      dataset: file.dataset ?? null,
      folder: file.folder ?? null,
      sizeBytes: file.sizeBytes,
      extract,
      key,
      ...(file.isToldApart ? { isToldApart: true } : {}),
      ...(record.scan ? { awaitsScan: true } : {}),
    }
    const created = [event('file.created', { kind: 'file', id }, about, file.author), ...scanDue({ id, ...record })]
    // A copy gets a thumbnail of its own from who keeps them: that of the original has the rights of the original.
    const { thumbnail } = file
    const borrowed =
      thumbnail === undefined ? [] : [event('thumbnail.attached', { kind: 'thumbnail', id: thumbnail }, { target: { kind: 'file', id } })]
    const insert = { id, ...record, ...(isImporting ? { untold: { extract, key } } : {}) }
    // What was sent is reserved at its intake, all of one upload together.
    const counted = isImporting ? this.#quotas.all() : []
    const to = { author: file.author, datasets: file.dataset === undefined ? [] : [file.dataset] }
    let made: FileRecord & Stored
    try {
      for (const quota of counted) await quota.reserve(to, [{ id, sizeBytes: file.sizeBytes }])
      made = await this.#documents.commit({ insert, into: files }, isImporting ? borrowed : [...created, ...borrowed])
    } catch (error) {
      if (changedNothing(error)) {
        for (const quota of counted) await quota.release([id])
        if (!file.isShared) await this.#discard(file.blob)
      }
      throw error
    }
    await this.#mustBeSomewhere(made, file)
    return made
  }

  /** A dataset or folder that went while the file came has taken along what it found by then; this one comes after. */
  async #mustBeSomewhere(made: FileRecord & Stored, { dataset, folder }: NewFile): Promise<void> {
    if (dataset === undefined) return
    const gone = !(await this.#datasets.get(dataset)) ? 'dataset' : folder && !(await this.#folders.get(folder)) ? 'folder' : undefined
    if (gone === undefined) return
    await this.#removal.remove(made, undefined)
    throw new NotFound(gone)
  }

  copy(some: readonly (FileRecord & Stored)[], as: FileCopy): Promise<ReadonlyMap<string, string>> {
    return copyFiles(
      { documents: this.#documents, removal: this.#removal, quotas: this.#quotas, ids: this.#ids, clock: this.#clock },
      some,
      as,
    )
  }

  in(datasetOrFolder: string, page: { readonly after?: After; readonly limit: number }): Promise<Page<FileRecord & Stored>> {
    return this.#documents.find(files, {
      using: 'byPlace',
      where: eq('places.in', datasetOrFolder),
      sort: { by: 'name', order: 'ascending' },
      ...page,
    })
  }

  countIn(datasetOrFolder: string): Promise<number> {
    return this.#documents.count(files, { using: 'byPlace', where: eq('places.in', datasetOrFolder), upTo: maxCount })
  }

  ofDataset(dataset: string): AsyncIterable<FileRecord & Stored> {
    return this.#documents.scan(files, {
      using: 'byDataset',
      where: eq('places.dataset', dataset),
      sort: { by: 'created', order: 'ascending' },
    })
  }

  async #discard(blob: string): Promise<void> {
    try {
      await this.#blobs.remove(blob)
    } catch (error) {
      this.#log.warn('failed to delete the bytes of a rejected upload; the next sweep will', { blob, error })
    }
  }
}
wire(StoredFiles, DocumentStore, BlobStore, Datasets, Folders, FileRemoval, StorageQuotas, Ids, Clock, MalwareScanners, Log)
