import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import {
  type After,
  BlobStore,
  type Caller,
  Clock,
  CommitConflict,
  type DerivedFile,
  DocumentStore,
  eq,
  event,
  Ids,
  type Page,
  type Ref,
  wire,
} from 'pounce/sdk'
import { updateWithRetry } from 'pounce/sdk/kit'
import { type Thumbnail, thumbnails } from './collections.ts'
import { DerivedStore, type Received, uploaderOf } from './derived-store.ts'

/** Thumbnails: records in the document store, images in the blob store. */
export class StoredThumbnails {
  #documents: DocumentStore
  #derived: DerivedStore
  #blobs: BlobStore
  #ids: Ids
  #clock: Clock

  constructor(documents: DocumentStore, derived: DerivedStore, blobs: BlobStore, ids: Ids, clock: Clock) {
    this.#documents = documents
    this.#derived = derived
    this.#blobs = blobs
    this.#ids = ids
    this.#clock = clock
  }

  thumbnail(id: string): Promise<Thumbnail | undefined> {
    return this.#documents.get(thumbnails, id)
  }

  /** All thumbnails of the server, newest first. */
  page(page: { readonly after?: After; readonly limit: number }): Promise<Page<Thumbnail>> {
    return this.#documents.find(thumbnails, { using: 'byCreated', sort: { by: 'created', order: 'descending' }, ...page })
  }

  /** The newest thumbnail of a resource. */
  async newestOf(target: Ref): Promise<Thumbnail | undefined> {
    const where = eq('target.id', target.id)
    const query = { using: 'byAge', where, sort: { by: 'created', order: 'descending' }, limit: 1 } as const
    return (await this.#documents.find(thumbnails, query)).items[0]
  }

  /** Stores an image made by a built-in extractor. A repeat with the same id changes nothing. */
  async add(target: Ref, file: DerivedFile & { readonly id?: string }, author: string | undefined): Promise<string> {
    const { id = this.#ids.next(), contentType } = file
    if (await this.thumbnail(id)) return id
    const bytes = await this.#blobs.put(createReadStream(file.path))
    const record = { filename: '', target, author: author ?? null, created: this.#now(), contentType }
    await this.#keepAttached({ id, ...record, blob: bytes.key, sizeBytes: bytes.sizeBytes }, target, author)
    return id
  }

  /** The same image for another resource, with that resource's rights; its id is derived from both, so that a repeat changes nothing. */
  async share(original: Thumbnail, target: Ref): Promise<string> {
    const { blob, sizeBytes, contentType, filename, author } = original
    const id = createHash('sha256').update(`thumbnail ${target.id} ${original.id}`).digest('hex').slice(0, 24)
    const record = { id, blob, sizeBytes, contentType, filename, target, author, created: this.#now() }
    const attached = event('thumbnail.attached', { kind: 'thumbnail', id }, { target }, author ?? undefined)
    try {
      await this.#documents.commit({ insert: record, into: thumbnails }, [attached])
    } catch (error) {
      if (!(error instanceof CommitConflict && error.reason === 'exists')) throw error
    }
    return id
  }

  async upload({ bytes, filename, contentType }: Received, caller: Caller): Promise<string> {
    const id = this.#ids.next()
    const made = { target: null, ...uploaderOf(caller), created: this.#now() }
    await this.#derived.keep(thumbnails, { id, filename, contentType, ...made, blob: bytes.key, sizeBytes: bytes.sizeBytes }, [])
    return id
  }

  /**
   * Sets the target of a thumbnail; if it has another target already, the new one gets a copy. The caller must have checked the rights on
   * both.
   */
  async attach(id: string, target: Ref, actor?: string): Promise<void> {
    const known = await this.thumbnail(id)
    if (known?.target && known.target.id !== target.id) {
      await this.share(known, target)
      return
    }
    const attached = event('thumbnail.attached', { kind: 'thumbnail', id }, { target }, actor)
    await updateWithRetry(this.#documents, thumbnails, { kind: 'thumbnail', id }, () => ({ set: { target }, events: [attached] }))
  }

  /** A deleted one is not an error. */
  async remove(thumbnail: Thumbnail, actor: string | undefined): Promise<void> {
    await this.#derived.remove(thumbnails, 'thumbnail', thumbnail, actor)
  }

  /** Deletes the thumbnails of some resources, in batches; `actors` maps each resource to the user who deleted it. */
  async removeAllOf(actors: ReadonlyMap<string, string | undefined>): Promise<void> {
    await this.#derived.removeAllOf(thumbnails, 'thumbnail', actors)
  }

  #keepAttached(record: Parameters<DerivedStore['keep']>[1] & Omit<Thumbnail, 'revision'>, target: Ref, author: string | undefined) {
    const attached = event('thumbnail.attached', { kind: 'thumbnail', id: record.id }, { target }, author)
    return this.#derived.keep(thumbnails, record, [attached])
  }

  #now(): string {
    return this.#clock.now().toISOString()
  }
}
wire(StoredThumbnails, DocumentStore, DerivedStore, BlobStore, Ids, Clock)
