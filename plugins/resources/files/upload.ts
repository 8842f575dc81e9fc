import {
  BlobStore,
  type Caller,
  type Contributions,
  type FieldPart,
  FileIntake,
  type FilePart,
  type FileRecord,
  type IncomingFile,
  InPlaceFiles,
  type IntakeTarget,
  Invalid,
  Log,
  type Parts,
  requirePlaced,
  type Stored,
  TooLarge,
  wire,
} from 'pounce/sdk'
import { jsonObjectIn, metadataFrom, sentMetadata } from './sent-metadata.ts'
import { fileInPlace } from './upload-in-place.ts'

/** What was asked for besides the bytes. */
export interface UploadOptions {
  /** The dataset to add to, named by path or query. A `dataset_id` field says the same where it may. */
  readonly dataset?: string | undefined
  /** Refuse when neither names a dataset. */
  readonly mustNameDataset?: boolean
  readonly folder?: string | undefined
  readonly extract: boolean
  readonly showPreviews: FileRecord['showPreviews']
  /** The length of the whole body, where it was announced. */
  readonly bodyBytes?: number | undefined
}

interface Received extends IncomingFile {
  /** The name of its part. */
  readonly field: string
}

/** All text fields of one upload together. */
const maxFieldsBytes = 10 * 1024 * 1024

/** The text fields of a form. Those named `file` may come several times, one for each file to be taken from a folder of the server. */
class Fields {
  readonly byName = new Map<string, string>()
  readonly references: Readonly<Record<string, unknown>>[] = []
  #bytes = 0

  add({ field, value }: FieldPart): void {
    this.#bytes += Buffer.byteLength(field) + Buffer.byteLength(value)
    if (this.#bytes > maxFieldsBytes) throw new TooLarge(`The fields of a form must be at most ${maxFieldsBytes} bytes in total`)
    const document = field === 'file' ? jsonObjectIn(value, 'The field file') : undefined
    if (document && 'path' in document) this.references.push(document)
    else this.byName.set(field, value)
  }

  /** The dataset that the references name, all the same. */
  referredDataset(): string | undefined {
    const named = new Set(this.references.map(({ dataset }) => dataset).filter(dataset => dataset !== undefined && dataset !== ''))
    if (named.size > 1) throw new Invalid('The fields named file must all name the same dataset')
    const [dataset] = named
    if (dataset !== undefined && typeof dataset !== 'string') throw new Invalid('The field file: dataset must be the id of a dataset')
    return dataset
  }
}

/**
 * Takes the parts of one upload: bytes first, all of them durable, then the records. A body that breaks off
 * leaves nothing behind; fields may stand before or after the files.
 */
export class Upload {
  #blobs: BlobStore
  #intake: FileIntake
  #inPlace: Contributions<InPlaceFiles>
  #log: Log

  constructor(blobs: BlobStore, intake: FileIntake, inPlace: Contributions<InPlaceFiles>, log: Log) {
    this.#blobs = blobs
    this.#intake = intake
    this.#inPlace = inPlace
    this.#log = log
  }

  /** The new files in the order they came; at least one. */
  async take(parts: Parts, caller: Caller, options: UploadOptions, signal: AbortSignal): Promise<readonly (FileRecord & Stored)[]> {
    await this.#require(options, options, caller)
    // Besides the files a body holds fields and the headers of parts; `admit` counts exactly.
    const bytes = Math.max(1, (options.bodyBytes ?? 0) - maxFieldsBytes)
    await this.#intake.requireRoom(caller, options, { bytes, files: 1 })
    const received: Received[] = []
    let isHandedOver = false
    try {
      const fields = new Fields()
      for await (const part of parts) {
        if (part.kind === 'field') fields.add(part)
        else received.push(await this.#receive(part, signal))
      }
      if (received.length + fields.references.length === 0) {
        throw new Invalid('No files uploaded: send at least one file as a part of a multipart/form-data body')
      }
      const target = this.#targetOf(fields, options)
      await this.#intake.requireTarget(caller, target)
      const incoming: IncomingFile[] = received.map(file => {
        const document = sentMetadata(fields.byName, file)
        return document ? { ...file, metadata: [document] } : file
      })
      for (const reference of fields.references) {
        const file = await this.#refer(reference, signal)
        received.push(file)
        incoming.push(file)
      }
      const multiple = fields.byName.get('multiple')
      isHandedOver = true
      const { extract, showPreviews } = options
      return await this.#intake.admit(incoming, caller, { ...target, extract, showPreviews, isToldApart: multiple === 'true' })
    } catch (error) {
      if (!isHandedOver) await this.#forget(received)
      throw error
    }
  }

  /** The right to what the path names was checked by the route. */
  async #require(target: IntakeTarget, { dataset, mustNameDataset }: UploadOptions, caller: Caller): Promise<void> {
    if (target.dataset === undefined && mustNameDataset) return
    requirePlaced(caller, target.dataset !== undefined)
    if (target.dataset === dataset && !mustNameDataset) await this.#intake.requirePlace(target)
    else await this.#intake.requireTarget(caller, target)
  }

  #targetOf(fields: Fields, options: UploadOptions): IntakeTarget {
    const { byName } = fields
    const referred = fields.referredDataset()
    const dataset = options.dataset ?? (options.mustNameDataset ? byName.get('dataset_id') : undefined) ?? referred
    if (options.mustNameDataset && dataset === undefined) throw new Invalid('dataset_id is missing: the id of the target dataset')
    if (referred !== undefined && referred !== dataset) throw new Invalid('The field file names a different dataset than the request')
    return { dataset, folder: options.folder ?? byName.get('folder_id') }
  }

  async #receive(part: FilePart, signal: AbortSignal): Promise<Received> {
    const name = this.#intake.nameOf(part.filename)
    return { field: part.field, name, contentType: part.contentType, bytes: await this.#blobs.put(part.stream, { signal }) }
  }

  async #refer({ path, md }: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<Received> {
    if (typeof path !== 'string') throw new Invalid('The field file: path must be the path of a file on the server')
    const metadata = md === undefined || md === null ? {} : { metadata: [metadataFrom(md, 'The field file: md')] }
    return { field: 'file', ...metadata, ...(await fileInPlace(this.#inPlace, this.#intake, path, signal)) }
  }

  async #forget(received: readonly Received[]): Promise<void> {
    for (const { bytes } of received) {
      try {
        await this.#blobs.remove(bytes.key)
      } catch (error) {
        this.#log.warn('failed to delete the bytes of an interrupted upload; the next sweep will', { blob: bytes.key, error })
      }
    }
  }
}
wire(Upload, BlobStore, FileIntake, InPlaceFiles, Log)
