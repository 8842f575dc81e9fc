import { hash } from 'node:crypto'
import {
  anonymousUserId,
  authorize,
  BlobStore,
  type Caller,
  type ChargedTo,
  CommitConflict,
  Conflict,
  type Contributions,
  changedNothing,
  Datasets,
  type FileIntake,
  type FileRecord,
  Files,
  Folders,
  Forbidden,
  Ids,
  type IncomingFile,
  type IntakeTarget,
  Invalid,
  Log,
  type MetadataCheck,
  MetadataChecks,
  MetadataDocuments,
  NotFound,
  NotSignedIn,
  Policy,
  type Ref,
  requirePlaced,
  type StorageQuota,
  StorageQuotas,
  type Stored,
  s,
  Users,
  wire,
} from 'pounce/sdk'
import { FileRemoval } from './file-removal.ts'
import { Config, type config } from './stored-files.ts'
import { fileTypeOf } from './upload-type.ts'

type File = FileRecord & Stored
type Options = Parameters<FileIntake['admit']>[2]
type Named = IncomingFile & { readonly fileId: string }
type Typed = Named & { readonly contentType: string }

/** So many records are written at a time: enough to share a commit. */
const atOnce = 100

const chargedTo = ({ user }: Caller, { dataset }: IntakeTarget): ChargedTo => ({
  author: user?.id ?? anonymousUserId,
  datasets: dataset === undefined ? [] : [dataset],
})

/** Makes files of bytes that came in, all of one upload or none. */
export class FileRecorder implements FileIntake {
  #maxNameLength: number
  #blobs: BlobStore
  #files: Files
  #removal: FileRemoval
  #datasets: Datasets
  #folders: Folders
  #metadata: MetadataDocuments
  #checks: Contributions<MetadataCheck>
  #quotas: Contributions<StorageQuota>
  #policy: Policy
  #users: Users
  #ids: Ids
  #log: Log

  constructor(
    { maxNameLength }: s.Static<typeof config>,
    blobs: BlobStore,
    files: Files,
    removal: FileRemoval,
    datasets: Datasets,
    folders: Folders,
    metadata: MetadataDocuments,
    checks: Contributions<MetadataCheck>,
    quotas: Contributions<StorageQuota>,
    policy: Policy,
    users: Users,
    ids: Ids,
    log: Log,
  ) {
    this.#maxNameLength = maxNameLength
    this.#blobs = blobs
    this.#files = files
    this.#removal = removal
    this.#datasets = datasets
    this.#folders = folders
    this.#metadata = metadata
    this.#checks = checks
    this.#quotas = quotas
    this.#policy = policy
    this.#users = users
    this.#ids = ids
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
    requirePlaced(caller, target.dataset !== undefined)
    const now = await this.#asOfNow(caller)
    if (target.dataset !== undefined) await authorize(this.#policy, now, 'AddResourceToDataset', { kind: 'dataset', id: target.dataset })
    else if (this.#policy.can(now, 'AddFile') !== 'yes') throw new Forbidden('Permission denied: AddFile required')
    await this.requirePlace(target)
  }

  /** Bytes can take hours, in which people are suspended and leave spaces: what counts is what they may do when these have come. */
  async #asOfNow(caller: Caller): Promise<Caller> {
    if (!caller.user) return caller
    const user = await this.#users.get(caller.user.id)
    if (!user || user.status === 'Inactive') throw new NotSignedIn('Account is not activated')
    const now = await this.#users.callerOf(user)
    return { ...caller, ...(now.user ? { user: now.user } : {}), superAdmin: caller.superAdmin && user.status === 'Admin' }
  }

  async requirePlace({ dataset, folder }: IntakeTarget): Promise<void> {
    if (dataset === undefined) {
      if (folder !== undefined) throw new Invalid('folder_id requires the dataset of the folder')
      return
    }
    const record = s.isId(dataset) ? await this.#datasets.get(dataset) : undefined
    if (!record) throw new NotFound('dataset')
    if (record.state === 'trashed') throw new Conflict('This dataset is in the trash: restore it before adding files')
    if (folder === undefined) return
    const found = s.isId(folder) ? await this.#folders.get(folder) : undefined
    if (found?.dataset !== dataset) throw new NotFound('folder')
  }

  async requireRoom(caller: Caller, target: IntakeTarget, amount: { readonly bytes: number; readonly files: number }): Promise<void> {
    for (const quota of this.#quotas.all()) await quota.check(chargedTo(caller, target), amount)
  }

  async admit(incoming: readonly IncomingFile[], caller: Caller, options: Options): Promise<readonly File[]> {
    const named = incoming.map(each => ({ ...each, fileId: each.id ?? this.#ids.next() }))
    const made = new Map<string, File>()
    try {
      for (const each of named) await this.#check(each, options.dataset)
      const sizes = named.map(({ fileId: id, bytes: { sizeBytes } }) => ({ id, sizeBytes }))
      for (const quota of this.#quotas.all()) await quota.reserve(chargedTo(caller, options), sizes)
      const typed: Typed[] = []
      // One after the other: a look into an archive holds a part of it in memory.
      for (const each of named) typed.push({ ...each, contentType: await fileTypeOf(this.#blobs, each) })
      for (let at = 0; at < typed.length; at += atOnce) {
        const results = await Promise.allSettled(typed.slice(at, at + atOnce).map(each => this.#create(each, caller, options)))
        for (const result of results) if (result.status === 'fulfilled') made.set(result.value.id, result.value)
        for (const result of results) if (result.status === 'rejected') throw result.reason
      }
      const files = [...made.values()]
      for (const [at, file] of files.entries()) await this.#annotate(file, typed[at]?.metadata ?? [], caller)
      return files
    } catch (error) {
      for (const each of named) await this.#undo(each, made.get(each.fileId), caller, changedNothing(error))
      throw error
    }
  }

  /** Holds what is said of a file that is to come against the definitions of where it will be. */
  async #check({ fileId, metadata = [] }: Named, dataset: string | undefined): Promise<void> {
    const target: Ref = dataset === undefined ? { kind: 'file', id: fileId } : { kind: 'dataset', id: dataset }
    for (const { content } of metadata) for (const check of this.#checks.all()) await check.check(target, content)
  }

  async #create(incoming: Typed, caller: Caller, options: Options): Promise<File> {
    const { name, contentType, fileId: id } = incoming
    const { key: blob, sizeBytes, sha256 } = incoming.bytes
    const { dataset, folder, extract, showPreviews, isToldApart } = options
    try {
      return await this.#files.create({
        ...{ id, name, contentType, blob, sizeBytes, sha256, extract, author: caller.user?.id ?? anonymousUserId, isShared: true },
        ...(dataset === undefined ? {} : { dataset }),
        ...(folder === undefined ? {} : { folder }),
        ...(showPreviews === undefined ? {} : { showPreviews }),
        ...(isToldApart ? { isToldApart } : {}),
        ...(caller.keyId === undefined ? {} : { keyId: caller.keyId }),
      })
    } catch (error) {
      const existing = error instanceof CommitConflict && error.reason === 'exists' ? await this.#files.get(id) : undefined
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

  /** `isCertain`: what is not known to be made was certainly not. Otherwise its bytes are left to the sweep, which knows their owner. */
  async #undo({ id, fileId, bytes }: Named, made: File | undefined, caller: Caller, isCertain: boolean): Promise<void> {
    try {
      // Only the answer may have been lost. A file whose id was given is for its giver to try again.
      const file = made ?? (isCertain || id !== undefined ? undefined : await this.#files.get(fileId))
      if (file) await this.#removal.remove(file, caller.user?.id)
      else if (isCertain) {
        for (const quota of this.#quotas.all()) await quota.release([fileId])
        if (id === undefined) await this.#forget(bytes.key)
      }
    } catch (error) {
      this.#log.error('failed to delete a file of a failed upload', { file: fileId, error })
    }
  }

  async #forget(blob: string): Promise<void> {
    try {
      await this.#blobs.remove(blob)
    } catch (error) {
      this.#log.warn('failed to delete the bytes of an interrupted upload; the next sweep will', { blob, error })
    }
  }
}
wire(
  FileRecorder,
  Config,
  BlobStore,
  Files,
  FileRemoval,
  Datasets,
  Folders,
  MetadataDocuments,
  MetadataChecks,
  StorageQuotas,
  Policy,
  Users,
  Ids,
  Log,
)
