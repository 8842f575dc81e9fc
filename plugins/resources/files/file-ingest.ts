import { hash } from 'node:crypto'
import type { Readable } from 'node:stream'
import {
  anonymousUserId,
  BlobStore,
  type Caller,
  CommitConflict,
  type Contributions,
  type FileIngest,
  type FileRecord,
  Ids,
  InPlaceFiles,
  Invalid,
  Log,
  type MetadataCheck,
  MetadataChecks,
  MetadataDocuments,
  NotFound,
  type Ref,
  StagedBlob,
  type Stored,
  type s,
  wire,
} from 'pounce/sdk'
import { changedNothing, type IncomingFile, type IngestOptions, namesInPath } from 'pounce/sdk/kit'
import type { BlobInfo, PutOptions } from 'pounce/sdk/store-kit'
import { FileAdmission } from './file-admission.ts'
import { FileRemoval } from './file-removal.ts'
import { Config, type config, StoredFiles } from './stored-files.ts'
import { fileTypeOf } from './upload-type.ts'

type File = FileRecord & Stored
type Named = IncomingFile & { readonly fileId: string }
type Typed = Named & { readonly contentType: string }

/** The outcome for the files of one upload. */
interface IngestOutcome {
  readonly created: Map<string, File>
  /** Those of them that an earlier request made. */
  readonly known: Set<string>
  readonly failed: Map<string, unknown>
}

/** Maximum number of records written at a time: enough to share a commit. */
const batchSize = 100

/** Creates files from received bytes, all files of an upload or none. */
export class FileIngestService implements FileIngest {
  #maxNameLength: number
  #blobs: BlobStore
  #inPlace: Contributions<InPlaceFiles>
  #admission: FileAdmission
  #files: StoredFiles
  #removal: FileRemoval
  #metadata: MetadataDocuments
  #checks: Contributions<MetadataCheck>
  #ids: Ids
  #log: Log

  constructor(
    { maxNameLength }: s.Static<typeof config>,
    blobs: BlobStore,
    inPlace: Contributions<InPlaceFiles>,
    admission: FileAdmission,
    files: StoredFiles,
    removal: FileRemoval,
    metadata: MetadataDocuments,
    checks: Contributions<MetadataCheck>,
    ids: Ids,
    log: Log,
  ) {
    this.#maxNameLength = maxNameLength
    this.#blobs = blobs
    this.#inPlace = inPlace
    this.#admission = admission
    this.#files = files
    this.#removal = removal
    this.#metadata = metadata
    this.#checks = checks
    this.#ids = ids
    this.#log = log
  }

  nameOf(sent: string): string {
    const name = sent.normalize('NFC')
    if (name !== '' && name.trim() === '') throw new Invalid('A file name must not be blank')
    if (name === '' || name.length > this.#maxNameLength) {
      throw new Invalid(`The file name must have 1 to ${this.#maxNameLength} characters; this one has ${name.length}`)
    }
    if (/[\p{Cc}/\\]/u.test(name) || name === '.' || name === '..' || !name.isWellFormed()) {
      throw new Invalid('A file name must not contain slashes, backslashes or control characters, nor be . or ..')
    }
    return name
  }

  pathOf(sent: string): { readonly folders: readonly string[]; readonly name: string } {
    const names = namesInPath(sent)
    return { folders: names.slice(0, -1), name: this.nameOf(names.at(-1) ?? '') }
  }

  batchOf(sent: string): string {
    if (!/^[\w.:-]{1,100}$/.test(sent))
      throw new Invalid('batch must be an id of 1 to 100 letters, digits and - _ . : that you choose, such as a UUID')
    return sent
  }

  async receive(source: Readable | Uint8Array, options?: PutOptions): Promise<StagedBlob> {
    return this.stage(await this.#blobs.put(source, options))
  }

  async receiveInPlace(path: string, signal?: AbortSignal): Promise<IncomingFile> {
    const [place] = this.#inPlace.all()
    if (!place) throw new Invalid('Files cannot be registered by path on this server')
    const name = this.nameOf(path.split('/').at(-1) ?? '')
    return { name, blob: this.stage(await place.register(path, signal)) }
  }

  stage(bytes: BlobInfo): StagedBlob {
    return new StagedBlob(bytes, this.#blobs, this.#log)
  }

  admit(...request: Parameters<FileIngest['admit']>): Promise<void> {
    return this.#admission.admit(...request)
  }

  async record(incoming: readonly IncomingFile[], caller: Caller, options: IngestOptions): Promise<readonly File[]> {
    await this.#admission.admitAsOfNow(caller, options)
    const named: Named[] = []
    for (const each of incoming) named.push({ ...each, fileId: await this.#idOf(each) })
    const outcome: IngestOutcome = { created: new Map(), known: new Set(), failed: new Map() }
    try {
      for (const each of named) await this.#check(each, options.dataset, caller)
      const sizes = named.map(({ fileId: id, blob: { bytes } }) => ({ id, sizeBytes: bytes.sizeBytes }))
      await this.#admission.reserve(caller, options, sizes)
      const typed: Typed[] = []
      // One at a time: inspecting an archive holds a part of it in memory.
      for (const each of named) typed.push({ ...each, contentType: await fileTypeOf(this.#blobs, each) })
      await this.#recordAll(typed, caller, await this.#admission.placed(caller, options), outcome)
      const files = [...outcome.created.values()]
      for (const [at, file] of files.entries()) await this.#annotate(file, typed[at]?.metadata ?? [], caller)
      return files
    } catch (error) {
      for (const each of named) await this.#undo(each, outcome, caller, error)
      throw error
    }
  }

  async #idOf({ id, key }: IncomingFile): Promise<string> {
    return key === undefined ? (id ?? this.#ids.next()) : await this.#files.idOf(key)
  }

  /** Validates the metadata of a file against the definitions that apply to its target. */
  async #check({ fileId, metadata = [] }: Named, dataset: string | undefined, caller: Caller): Promise<void> {
    const target: Ref = dataset === undefined ? { kind: 'file', id: fileId } : { kind: 'dataset', id: dataset }
    for (const { content } of metadata) for (const check of this.#checks.all()) await check.check(target, content, caller)
  }

  async #recordAll(typed: readonly Typed[], caller: Caller, options: IngestOptions, outcome: IngestOutcome): Promise<void> {
    const { created, failed } = outcome
    for (let from = 0; from < typed.length; from += batchSize) {
      const some = typed.slice(from, from + batchSize)
      const results = await Promise.allSettled(some.map(each => this.#record(each, caller, options, outcome)))
      for (const [at, result] of results.entries()) {
        const id = some[at]?.fileId ?? ''
        if (result.status === 'fulfilled') created.set(id, result.value)
        else failed.set(id, result.reason)
      }
      for (const [, reason] of failed) throw reason
    }
    // A concurrent deletion or move does not include these files.
    const missing = await this.#files.settle(options, [...created.values()])
    if (missing) throw new NotFound(missing)
  }

  #record(incoming: Typed, caller: Caller, options: IngestOptions, { known }: IngestOutcome): Promise<File> {
    const { name, contentType, fileId: id, key, blob: staged } = incoming
    const { key: blob, sizeBytes, sha256 } = staged.bytes
    const { dataset, folder, extract, showPreviews, isToldApart, batch } = options
    const file = {
      ...{ id, name, contentType, blob, sizeBytes, sha256, extract, author: caller.user?.id ?? anonymousUserId },
      ...(dataset === undefined ? {} : { dataset }),
      ...(folder === undefined ? {} : { folder }),
      ...(showPreviews === undefined ? {} : { showPreviews }),
      ...(isToldApart ? { isToldApart } : {}),
      ...(batch === undefined ? {} : { batch }),
      ...(key === undefined ? {} : { hasDerivedId: true }),
      ...(caller.keyId === undefined ? {} : { keyId: caller.keyId }),
    }
    return staged.commit(async () => {
      try {
        return await this.#files.insert(file)
      } catch (error) {
        const existing = error instanceof CommitConflict && error.reason === 'exists' ? await this.#files.get(id) : undefined
        if (!existing) throw error
        known.add(id)
        return existing
      }
    })
  }

  async #annotate(file: File, documents: NonNullable<IncomingFile['metadata']>, caller: Caller): Promise<void> {
    const user = caller.user
    for (const [at, document] of documents.entries()) {
      await this.#metadata.add({
        id: hash('sha256', `${file.id} sent ${at}`).slice(0, 24),
        target: { kind: 'file', id: file.id },
        ...document,
        agent: { kind: 'user', name: user?.fullName ?? 'Unknown', extractorId: null, userId: user?.id ?? anonymousUserId },
        author: user?.id ?? null,
      })
    }
  }

  async #undo({ id, key, fileId }: Named, { created, known, failed }: IngestOutcome, caller: Caller, error: unknown): Promise<void> {
    const isCertain = changedNothing(failed.get(fileId) ?? error)
    const isNew = id === undefined && key === undefined
    try {
      const file = known.has(fileId) ? undefined : created.get(fileId)
      if (file) return await this.#removal.remove(file, caller.user?.id)
      const existing = isCertain && isNew ? undefined : await this.#files.get(fileId)
      // With the given ID, an earlier request may have made the file, or this one, of which only the response of the store was lost: the client can retry.
      if (existing && isNew) await this.#removal.remove(existing, caller.user?.id)
      else if (!existing && isCertain) await this.#admission.release(fileId)
    } catch (cause) {
      this.#log.error('Failed to delete a file of a failed upload', { file: fileId, error: cause })
    }
  }
}
wire(
  FileIngestService,
  Config,
  BlobStore,
  InPlaceFiles,
  FileAdmission,
  StoredFiles,
  FileRemoval,
  MetadataDocuments,
  MetadataChecks,
  Ids,
  Log,
)
