import { hash } from 'node:crypto'
import { basename } from 'node:path'
import { type Caller, FileIngest, type FileRecord, Invalid, type Parts, type Stored, TooLarge, wire } from 'pounce/sdk'
import { type FieldPart, type FilePart, type IncomingFile, type IngestTarget, OtherName } from 'pounce/sdk/kit'
import { jsonObjectIn, metadataFrom, sentMetadata } from './sent-metadata.ts'

/** Parameters of an upload besides the bytes. */
export interface UploadOptions {
  /** The target dataset, from the path or query. A `dataset_id` field can name it too, where allowed. */
  readonly dataset?: string | undefined
  /** Refuse the request when neither names a dataset. */
  readonly mustNameDataset?: boolean
  readonly folder?: string | undefined
  /** Relative path of the file, folders and name. Same as a text field `path`. */
  readonly path?: string | undefined
  /** See `IngestOptions.batch`. */
  readonly batch?: string | undefined
  readonly extract: boolean
  readonly showPreviews: FileRecord['showPreviews']
  /** The length of the whole body, if announced. */
  readonly bodyBytes?: number | undefined
}

/** A file of a server folder to register in place. */
interface Reference {
  readonly path: string
  readonly md?: unknown
  readonly dataset?: unknown
}

interface Received extends IncomingFile {
  /** The name of its part. */
  readonly field: string
}

/** Limit for all text fields of one upload in total. */
const maxFieldsBytes = 10 * 1024 * 1024

/** The name of a part, in the form of stored file names: macOS sends decomposed letters. */
const fieldKey = (name: string): string => name.normalize('NFC')

/** The text fields of a form. The field `file` may be repeated, once for each file of a server folder to register. */
class Fields {
  readonly byName = new Map<string, string>()
  readonly references: Reference[] = []
  #bytes = 0

  add({ field, value }: FieldPart): void {
    this.#bytes += Buffer.byteLength(field) + Buffer.byteLength(value)
    if (this.#bytes > maxFieldsBytes) throw new TooLarge(`The fields of a form must be at most ${maxFieldsBytes} bytes in total`)
    const document = field === 'file' ? jsonObjectIn(value, 'The field file') : undefined
    if (!document || !('path' in document)) this.byName.set(fieldKey(field), value)
    else if (typeof document['path'] === 'string') this.references.push({ ...document, path: document['path'] })
    else throw new Invalid('The field file: path must be the path of a file on the server')
  }

  /** An id given as a field or as a parameter, which must agree; an empty field names nothing. */
  idOf(name: string, parameter: string | undefined): string | undefined {
    const sent = this.byName.get(name) || undefined
    if (sent !== undefined && parameter !== undefined && sent !== parameter)
      throw new Invalid(`The field ${name} differs from the parameter of the request`)
    return parameter ?? sent
  }

  /** The dataset named by the references, which must all agree. */
  referredDataset(): string | undefined {
    const named = new Set(this.references.map(({ dataset }) => dataset).filter(dataset => dataset !== undefined && dataset !== ''))
    if (named.size > 1) throw new Invalid('The fields named file must all name the same dataset')
    const [dataset] = named
    if (dataset !== undefined && typeof dataset !== 'string') throw new Invalid('The field file: dataset must be the id of a dataset')
    return dataset
  }
}

/**
 * Handles the parts of one upload: first all bytes are made durable, then the records are created. An interrupted body leaves nothing;
 * fields may precede or follow the files.
 */
export class MultipartUpload {
  #ingest: FileIngest

  constructor(ingest: FileIngest) {
    this.#ingest = ingest
  }

  /** The new files in the order of their parts; at least one. */
  async take(parts: Parts, caller: Caller, options: UploadOptions, signal: AbortSignal): Promise<readonly (FileRecord & Stored)[]> {
    const early = options.path === undefined ? undefined : this.#ingest.pathOf(options.path)
    if (options.batch !== undefined) this.#ingest.batchOf(options.batch)
    const admitted = await this.#admit(caller, { ...options, folders: early?.folders })
    await using staged = new AsyncDisposableStack()
    const fields = new Fields()
    const received: Received[] = []
    for await (const part of parts) {
      if (part.kind === 'field') fields.add(part)
      else if (!(await isBlank(part))) received.push(await this.#receive(part, staged, signal))
    }
    if (received.length + fields.references.length === 0) {
      throw new Invalid('No files uploaded: send at least one file as a part of a multipart/form-data body')
    }
    const path = early ?? this.#pathIn(fields)
    const target = { ...targetOf(fields, options), path: path?.folders }
    if (path) requireOne([...received.map(({ name }) => name), ...fields.references.map(each => basename(each.path))], path.name)
    // A file registered in place is read to its end, so check the right to add it first.
    if (fields.references.length > 0 && target.dataset !== admitted) await this.#ingest.admit(caller, target)
    const incoming: IncomingFile[] = received.map(file => {
      const document = sentMetadata(fields.byName, file)
      const key =
        path && options.batch !== undefined && caller.user ? keyOf(file, caller.user.id, target, path.name, options.batch) : undefined
      return { ...file, ...(key !== undefined && { key }), name: path?.name ?? file.name, ...(document && { metadata: [document] }) }
    })
    for (const reference of fields.references) incoming.push(await this.#refer(reference, staged, signal))
    const { extract, showPreviews, batch } = options
    const isToldApart = fields.byName.get('multiple') === 'true'
    return await this.#ingest.record(incoming, caller, { ...target, extract, showPreviews, isToldApart, batch })
  }

  /** Called before the bytes are received. The right on the dataset in the path was checked by the route. Returns the dataset, if known. */
  async #admit(
    caller: Caller,
    {
      dataset,
      folder,
      folders: path,
      mustNameDataset = false,
      bodyBytes,
    }: UploadOptions & { readonly folders?: readonly string[] | undefined },
  ): Promise<string | undefined> {
    const target = dataset === undefined && mustNameDataset ? undefined : { dataset, folder, path }
    // A body contains fields and part headers besides the files; `record` counts exactly.
    const amount = { bytes: bodyBytes === undefined ? 1 : Math.max(0, bodyBytes - maxFieldsBytes), files: 1 }
    await this.#ingest.admit(caller, target, amount, { isAuthorized: !mustNameDataset })
    return dataset
  }

  /** A file named `path` may have metadata under that name: a JSON object is not a path. */
  #pathIn({ byName }: Fields): ReturnType<FileIngest['pathOf']> | undefined {
    const sent = byName.get('path')
    return sent === undefined || jsonObjectIn(sent, 'The field path') ? undefined : this.#ingest.pathOf(sent)
  }

  async #receive(part: FilePart, staged: AsyncDisposableStack, signal: AbortSignal): Promise<Received> {
    const name = this.#ingest.nameOf(part.filename)
    const blob = staged.use(await this.#ingest.receive(part.stream, { signal }))
    return { field: fieldKey(part.field), name, contentType: part.contentType, blob }
  }

  async #refer({ path, md }: Reference, staged: AsyncDisposableStack, signal: AbortSignal): Promise<IncomingFile> {
    const metadata = md === undefined || md === null ? {} : { metadata: [metadataFrom(md, 'The field file: md')] }
    const file = await this.#ingest.receiveInPlace(path, signal)
    staged.use(file.blob)
    return { ...metadata, ...file }
  }
}
wire(MultipartUpload, FileIngest)

/**
 * The key of a file that a client places in a batch by its path: the same for a repeated request, whose first response may have been lost or is still
 * awaited.
 */
const keyOf = ({ blob }: Received, user: string, { dataset, folder, path = [] }: IngestTarget, name: string, batch: string): string =>
  hash('sha256', JSON.stringify([user, dataset ?? '', folder ?? '', batch, ...path, name, blob.bytes.sha256]))

/** True for a file input without a chosen file, as browsers send it. */
const isBlank = async ({ filename, stream }: FilePart): Promise<boolean> => {
  if (filename !== '') return false
  for await (const bytes of stream) if (bytes.length > 0) return false
  return true
}

/** A path refers to one file. Only `path` can distinguish `"` from `%22` in a name: in form parts both are the latter. */
const requireOne = (names: readonly string[], name: string): void => {
  const [only = name] = names
  if (names.length > 1) throw new Invalid('path refers to one file: send one file per request, or omit path')
  if (only.replaceAll('%22', '"') !== name.replaceAll('%22', '"')) throw new OtherName(only)
}

const targetOf = (fields: Fields, options: UploadOptions): IngestTarget => {
  const referred = fields.referredDataset()
  const dataset = (options.mustNameDataset ? fields.idOf('dataset_id', options.dataset) : options.dataset) ?? referred
  if (options.mustNameDataset && dataset === undefined) throw new Invalid('dataset_id is missing: the id of the target dataset')
  if (referred !== undefined && referred !== dataset) throw new Invalid('The field file names a different dataset than the request')
  return { dataset, folder: fields.idOf('folder_id', options.folder) }
}
