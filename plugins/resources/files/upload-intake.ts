import { hash } from 'node:crypto'
import {
  anonymousUserId,
  BlobStore,
  type Caller,
  CommitConflict,
  Conflict,
  changedNothing,
  Datasets,
  demand,
  type FileIntake,
  type FileRecord,
  Files,
  Folders,
  type IncomingFile,
  type IntakeTarget,
  Invalid,
  Log,
  MetadataDocuments,
  NotFound,
  Policy,
  type Stored,
  s,
  wire,
} from 'pounce/sdk'
import { FileRemoval, type Removal } from './removal.ts'
import { Config, type config } from './stored-files.ts'
import { mediaTypeOf } from './upload-type.ts'

type File = FileRecord & Stored
type Options = Parameters<FileIntake['admit']>[2]
type Typed = IncomingFile & { readonly contentType: string }

/** So many records are written at a time: enough to share a commit. */
const atOnce = 100

/** Makes files of bytes that came in, all of one upload or none. */
export class Intake implements FileIntake {
  #maxNameLength: number
  #blobs: BlobStore
  #files: Files
  #removal: Removal
  #datasets: Datasets
  #folders: Folders
  #metadata: MetadataDocuments
  #policy: Policy
  #log: Log

  constructor(
    { maxNameLength }: s.Static<typeof config>,
    blobs: BlobStore,
    files: Files,
    removal: Removal,
    datasets: Datasets,
    folders: Folders,
    metadata: MetadataDocuments,
    policy: Policy,
    log: Log,
  ) {
    this.#maxNameLength = maxNameLength
    this.#blobs = blobs
    this.#files = files
    this.#removal = removal
    this.#datasets = datasets
    this.#folders = folders
    this.#metadata = metadata
    this.#policy = policy
    this.#log = log
  }

  nameOf(sent: string): string {
    const name = sent.normalize('NFC').trim()
    if (name === '' || name.length > this.#maxNameLength) {
      throw new Invalid(`The file name must have 1 to ${this.#maxNameLength} characters; this one has ${name.length}`)
    }
    if (/[\p{Cc}/\\]/u.test(name) || name === '.' || name === '..' || !name.isWellFormed()) {
      throw new Invalid('A file name must not contain slashes, backslashes or control characters, nor be . or ..')
    }
    return name
  }

  async requireTarget(caller: Caller, target: IntakeTarget): Promise<void> {
    if (target.dataset !== undefined) await demand(this.#policy, caller, 'AddResourceToDataset', { kind: 'dataset', id: target.dataset })
    await this.requirePlace(target)
  }

  async requirePlace({ dataset, folder }: IntakeTarget): Promise<void> {
    if (dataset === undefined) {
      if (folder !== undefined) throw new Invalid('folder_id needs the dataset that the folder is in')
      return
    }
    const record = s.isId(dataset) ? await this.#datasets.get(dataset) : undefined
    if (!record) throw new NotFound('dataset')
    if (record.state === 'trashed') throw new Conflict('This dataset is in the trash: restore it before adding files')
    if (folder === undefined) return
    const found = s.isId(folder) ? await this.#folders.get(folder) : undefined
    if (found?.dataset !== dataset) throw new NotFound('folder')
  }

  async admit(incoming: readonly IncomingFile[], caller: Caller, options: Options): Promise<readonly File[]> {
    const made: File[] = []
    try {
      const typed: Typed[] = []
      // One after the other: a look into an archive holds a part of it in memory.
      for (const each of incoming) typed.push({ ...each, contentType: await mediaTypeOf(this.#blobs, each) })
      for (let at = 0; at < typed.length; at += atOnce) {
        const results = await Promise.allSettled(typed.slice(at, at + atOnce).map(each => this.#create(each, caller, options)))
        for (const result of results) if (result.status === 'fulfilled') made.push(result.value)
        for (const result of results) if (result.status === 'rejected') throw result.reason
      }
      for (const [at, file] of made.entries()) await this.#annotate(file, typed[at]?.metadata ?? [], caller)
      return made
    } catch (error) {
      await this.#undo(made, incoming, caller, changedNothing(error))
      throw error
    }
  }

  async #create(incoming: Typed, caller: Caller, options: Options): Promise<File> {
    const { name, contentType, id } = incoming
    const { key: blob, sizeBytes, sha256 } = incoming.bytes
    const { dataset, folder, extract, showPreviews, isToldApart } = options
    try {
      return await this.#files.create({
        ...{ name, contentType, blob, sizeBytes, sha256, extract, author: caller.user?.id ?? anonymousUserId, isShared: true },
        ...(dataset === undefined ? {} : { dataset }),
        ...(folder === undefined ? {} : { folder }),
        ...(showPreviews === undefined ? {} : { showPreviews }),
        ...(isToldApart ? { isToldApart } : {}),
        ...(caller.keyId === undefined ? {} : { keyId: caller.keyId }),
        ...(id === undefined ? {} : { id }),
      })
    } catch (error) {
      const existing =
        id !== undefined && error instanceof CommitConflict && error.reason === 'exists' ? await this.#files.get(id) : undefined
      if (!existing) throw error
      if (existing.blob !== blob) await this.#forget(blob)
      return existing
    }
  }

  async #annotate(file: File, documents: NonNullable<IncomingFile['metadata']>, caller: Caller): Promise<void> {
    const user = caller.user
    for (const [at, document] of documents.entries()) {
      await this.#metadata.add({
        id: hash('sha256', `${file.id} sent ${at}`).slice(0, 24),
        target: { kind: 'file', id: file.id },
        ...document,
        agent: { kind: 'user', name: user?.fullName ?? 'Unknown', extractorId: null, userId: user?.id ?? null },
        author: user?.id ?? null,
      })
    }
  }

  /** `isCertain`: no other record than those made was written. */
  async #undo(made: readonly File[], incoming: readonly IncomingFile[], caller: Caller, isCertain: boolean): Promise<void> {
    const taken = new Set(made.map(file => file.blob))
    for (const file of made) {
      try {
        await this.#removal.remove(file, caller.user?.id)
      } catch (error) {
        this.#log.error('a file of a failed upload could not be removed again', { file: file.id, error })
      }
    }
    if (!isCertain) return
    for (const { bytes, id } of incoming) if (id === undefined && !taken.has(bytes.key)) await this.#forget(bytes.key)
  }

  async #forget(blob: string): Promise<void> {
    try {
      await this.#blobs.remove(blob)
    } catch (error) {
      this.#log.warn('bytes of a broken upload stay until the next sweep', { blob, error })
    }
  }
}
wire(Intake, Config, BlobStore, Files, FileRemoval, Datasets, Folders, MetadataDocuments, Policy, Log)
