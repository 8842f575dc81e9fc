import {
  type After,
  and,
  anonymousUserId,
  type Caller,
  Clock,
  CommitConflict,
  type Contributions,
  DocumentStore,
  eq,
  FileIngest,
  Ids,
  NotFound,
  type Page,
  type Problem,
  type Progress,
  ProgressListeners,
  range,
  type Stored,
  TooLarge,
  TooMany,
  type Update,
  type Where,
  wire,
} from 'pounce/sdk'
import { KeyedMutex, type ProgressListener, reportProgress } from 'pounce/sdk/kit'
import { type UploadRecord, uploads } from './collections.ts'
import { Config, type Settings } from './config.ts'
import { type NewUpload, targetOf } from './new-upload.ts'
import { StoredParts } from './parts.ts'
import { UploadExpired, UploadLocked } from './problems.ts'

type Upload = UploadRecord & Stored

const hourMs = 60 * 60 * 1000

const openOf = (owner: string): Where => and(eq('owner', owner), eq('state', 'open'))

/** An upload begun with a limited key can be continued only with that key. */
const ownerOf = ({ user, keyId, limits }: Caller): string => (limits && keyId ? `key ${keyId}` : (user?.id ?? anonymousUserId))

/** The progress of an upload; once it is finished, its file has the same id. */
export const reportUpload = (
  listeners: Contributions<ProgressListener>,
  { id, owner, name, receivedBytes, lengthBytes }: Upload,
  state: Progress['state'],
): void =>
  reportProgress(listeners, {
    activity: 'upload',
    id,
    actor: owner,
    state,
    done: receivedBytes,
    total: lengthBytes,
    unit: 'bytes',
    message: name,
  })

/** Uploads in the document store, so that any kernel can continue any of them. */
export class StoredUploads {
  readonly #settings: Settings
  readonly #documents: DocumentStore
  readonly #ingest: FileIngest
  readonly #parts: StoredParts
  readonly #ids: Ids
  readonly #clock: Clock
  readonly #progress: Contributions<ProgressListener>
  /** By owner: concurrent requests must not exceed `maxOpen` together. */
  readonly #begins = new KeyedMutex()

  constructor(
    settings: Settings,
    documents: DocumentStore,
    ingest: FileIngest,
    parts: StoredParts,
    ids: Ids,
    clock: Clock,
    progress: Contributions<ProgressListener>,
  ) {
    this.#settings = settings
    this.#documents = documents
    this.#ingest = ingest
    this.#parts = parts
    this.#ids = ids
    this.#clock = clock
    this.#progress = progress
  }

  /** Begins an upload to a location where the caller may add files. */
  async begin(caller: Caller, lengthBytes: number, about: NewUpload, sentMetadata: string): Promise<Upload> {
    const { maxBytes } = this.#settings
    if (lengthBytes > maxBytes) throw new TooLarge(`A resumable upload must be at most ${maxBytes} bytes`)
    await this.#ingest.admit(caller, targetOf(about), { bytes: lengthBytes, files: 1 })
    const owner = ownerOf(caller)
    return this.#begins.use(owner, () => this.#insert(owner, lengthBytes, about, sentMetadata))
  }

  async #insert(owner: string, lengthBytes: number, about: NewUpload, sentMetadata: string): Promise<Upload> {
    const { maxOpen } = this.#settings
    const open = await this.#documents.count(uploads, { using: 'byOwner', where: openOf(owner), upTo: maxOpen })
    if (open === maxOpen) {
      throw new TooMany(`You have ${maxOpen} unfinished uploads already: finish or delete one`, 60)
    }
    const id = this.#ids.next()
    const insert: UploadRecord & { id: string } = {
      ...{ id, owner, lengthBytes, ...about, sentMetadata },
      ...{ started: this.#clock.now().toISOString(), expires: this.#in(this.#settings.expireHours) },
      ...{ state: 'open', receivedBytes: 0, tail: null, partCount: 0, writer: id },
    }
    return this.#documents.commit({ insert, into: uploads })
  }

  /** An upload of the caller; throws `NotFound` for any other, and `UploadExpired`. */
  async get(id: string, caller: Caller): Promise<Upload> {
    const upload = await this.#documents.get(uploads, id)
    if (upload?.owner !== ownerOf(caller)) throw new NotFound('upload')
    if (upload.expires <= this.#clock.now().toISOString()) throw new UploadExpired()
    return upload
  }

  /** The caller's unfinished uploads, newest first. */
  of(caller: Caller, page: { readonly after?: After; readonly limit: number }): Promise<Page<Upload>> {
    const where = openOf(ownerOf(caller))
    return this.#documents.find(uploads, { using: 'byOwner', where, sort: { by: 'started', order: 'descending' }, ...page })
  }

  /** Changes an upload; undefined when the condition does not hold, or it is deleted. */
  async change(id: string, where: Where, update: Update): Promise<Upload | undefined> {
    try {
      return await this.#documents.commit({ update: id, in: uploads, where, ...update })
    } catch (error) {
      if (error instanceof CommitConflict) return undefined
      throw error
    }
  }

  /** Why an upload was not changed: it was deleted, or another request is writing to it. */
  async conflictOf({ id }: Upload): Promise<Problem> {
    return (await this.#documents.get(uploads, id)) ? new UploadLocked() : new NotFound('upload')
  }

  /** The expiry of an upload that just received bytes. */
  get nextExpiry(): string {
    return this.#in(this.#settings.expireHours)
  }

  /** Records that the file exists, and deletes the parts. */
  async finished({ id }: Upload): Promise<Upload | undefined> {
    const finished = await this.change(id, eq('state', 'open'), {
      set: { state: 'finished', expires: this.#in(this.#settings.finishedHours) },
    })
    await this.#parts.dropAll(id)
    return finished
  }

  /** Deletes an upload with its parts; the file of a finished one is kept. Idempotent. */
  async drop({ id }: Upload): Promise<void> {
    try {
      await this.#documents.commit({ tombstone: id, in: uploads })
    } catch (error) {
      if (!(error instanceof CommitConflict)) throw error
    }
    await this.#parts.dropAll(id)
  }

  /** Deletes an upload whose file, if unfinished, will not be created. */
  async abort(upload: Upload): Promise<void> {
    await this.drop(upload)
    if (upload.state === 'open') reportUpload(this.#progress, upload, 'failed')
  }

  /** Expired uploads, at most 100. */
  async expired(): Promise<readonly Upload[]> {
    const where = range('expires', { lte: this.#clock.now().toISOString() })
    return (await this.#documents.find(uploads, { using: 'byExpiry', where, limit: 100 })).items
  }

  /** Which of up to 1,000 uploads exist. */
  async known(ids: readonly string[]): Promise<ReadonlySet<string>> {
    return new Set((await this.#documents.getMany(uploads, ids)).keys())
  }

  #in(hours: number): string {
    return new Date(this.#clock.now().getTime() + hours * hourMs).toISOString()
  }
}
wire(StoredUploads, Config, DocumentStore, FileIngest, StoredParts, Ids, Clock, ProgressListeners)
