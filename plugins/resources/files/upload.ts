import { lookup } from 'mime-types'
import {
  anonymousUserId,
  type BlobFacts,
  BlobStore,
  type Caller,
  Conflict,
  Datasets,
  demand,
  type FilePart,
  type FileRecord,
  Files,
  Folders,
  Invalid,
  Log,
  MetadataDocuments,
  NotFound,
  type Parts,
  Policy,
  port,
  type Stored,
  s,
  wire,
} from 'pounce/sdk'
import { type SentMetadata, sentMetadata } from './sent-metadata.ts'
import { Config, type config } from './stored-files.ts'

/** What was asked for besides the bytes. */
export interface UploadOptions {
  /** The dataset to add to; the caller's right to do so has been checked. */
  readonly dataset?: string | undefined
  /** The dataset as the caller named it, not checked yet. A `dataset_id` field says the same. */
  readonly namedDataset?: string | undefined
  /** Refuse when neither names a dataset. */
  readonly mustNameDataset?: boolean
  readonly folder?: string | undefined
  readonly extract: boolean
  readonly showPreviews: FileRecord['showPreviews']
}

interface Received {
  readonly field: string
  readonly name: string
  readonly contentType: string
  readonly bytes: BlobFacts
}

const unknownType = 'application/octet-stream'

const typeOf = (part: FilePart): string => {
  const declared = part.contentType.split(';')[0]?.trim().toLowerCase() ?? ''
  if (/^[\w.+-]+\/[\w.+-]+$/.test(declared) && declared !== unknownType) return declared
  return lookup(part.filename) || unknownType
}

/**
 * Takes the parts of one upload: bytes first, all of them durable, then the records. A body that breaks off
 * leaves nothing behind; `dataset_id` and `folder_id` fields may stand before or after the files.
 */
export class Upload {
  #blobs: BlobStore
  #files: Files
  #datasets: Datasets
  #folders: Folders
  #metadata: MetadataDocuments
  #policy: Policy
  #log: Log
  #maxNameLength: number

  constructor(
    { maxNameLength }: s.Static<typeof config>,
    blobs: BlobStore,
    files: Files,
    datasets: Datasets,
    folders: Folders,
    metadata: MetadataDocuments,
    policy: Policy,
    log: Log,
  ) {
    this.#maxNameLength = maxNameLength
    this.#blobs = blobs
    this.#files = files
    this.#datasets = datasets
    this.#folders = folders
    this.#metadata = metadata
    this.#policy = policy
    this.#log = log
  }

  /** The new files in the order they came; at least one. */
  async take(parts: Parts, caller: Caller, options: UploadOptions, signal: AbortSignal): Promise<readonly (FileRecord & Stored)[]> {
    if (options.namedDataset !== undefined) await this.#mayAddTo(caller, options.namedDataset)
    const known = options.dataset ?? options.namedDataset
    if (known !== undefined) await this.#checkTarget(known, options.folder)
    const fields = new Map<string, string>()
    const received: Received[] = []
    try {
      for await (const part of parts) {
        if (part.kind === 'field') fields.set(part.field, part.value)
        else received.push(await this.#receive(part, signal))
      }
      if (received.length === 0) throw new Invalid('No files uploaded: send at least one file as a part of a multipart/form-data body')
      const dataset = known ?? (options.mustNameDataset ? fields.get('dataset_id') : undefined)
      const folder = options.folder ?? fields.get('folder_id')
      if (options.mustNameDataset && dataset === undefined) throw new Invalid('dataset_id is missing: name the dataset to add to')
      if (known === undefined && dataset !== undefined) await this.#mayAddTo(caller, dataset)
      await this.#checkTarget(dataset, folder)
      const documents = new Map(received.map(file => [file, sentMetadata(fields, file)]))
      return await this.#record(received, documents, caller, { ...options, dataset, folder })
    } catch (error) {
      await this.#forget(received)
      throw error
    }
  }

  async #receive(part: FilePart, signal: AbortSignal): Promise<Received> {
    const name = part.filename.normalize('NFC').trim()
    if (name === '' || name.length > this.#maxNameLength) {
      throw new Invalid(`The file name must have 1 to ${this.#maxNameLength} characters; this one has ${name.length}`)
    }
    const contentType = typeOf(part)
    return { field: part.field, name, contentType, bytes: await this.#blobs.put(part.stream, { signal }) }
  }

  #mayAddTo(caller: Caller, dataset: string): Promise<void> {
    return demand(this.#policy, caller, 'AddResourceToDataset', { kind: 'dataset', id: dataset })
  }

  async #checkTarget(dataset: string | undefined, folder: string | undefined): Promise<void> {
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

  async #record(
    received: Received[],
    documents: ReadonlyMap<Received, SentMetadata | undefined>,
    caller: Caller,
    options: UploadOptions,
  ): Promise<readonly (FileRecord & Stored)[]> {
    const author = caller.user?.id ?? anonymousUserId
    const made: (FileRecord & Stored)[] = []
    const target = { ...(options.dataset ? { dataset: options.dataset } : {}), ...(options.folder ? { folder: options.folder } : {}) }
    const keyId = caller.keyId === undefined ? {} : { keyId: caller.keyId }
    for (let next = received.shift(); next !== undefined; next = received.shift()) {
      const { name, contentType, bytes } = next
      const { key: blob, sizeBytes, sha256 } = bytes
      const { extract, showPreviews } = options
      // From here on the bytes are those of the record, or its maker's to remove.
      const file = await this.#files.create({
        name,
        contentType,
        blob,
        sizeBytes,
        sha256,
        author,
        extract,
        showPreviews,
        ...target,
        ...keyId,
      })
      made.push(file)
      const document = documents.get(next)
      if (document) await this.#annotate(file, document, caller)
    }
    return made
  }

  async #annotate(file: FileRecord & Stored, document: SentMetadata, caller: Caller): Promise<void> {
    const user = caller.user
    await this.#metadata.add({
      target: { kind: 'file', id: file.id },
      ...document,
      agent: { kind: 'user', name: user?.fullName ?? 'Unknown', extractorId: null, userId: user?.id ?? null },
      author: user?.id ?? null,
    })
  }

  async #forget(received: readonly Received[]): Promise<void> {
    for (const { bytes } of received) {
      try {
        await this.#blobs.remove(bytes.key)
      } catch (error) {
        this.#log.warn('bytes of a broken upload stay until the next sweep', { blob: bytes.key, error })
      }
    }
  }
}
wire(Upload, Config, BlobStore, Files, Datasets, Folders, MetadataDocuments, Policy, Log)

/** The one place where multipart bodies become files. */
export const Uploads = port<Upload>('files.uploads')
