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
  Taken,
  wire,
} from 'pounce/sdk'
import { updateWithRetry } from 'pounce/sdk/kit'
import { type Thumbnail, thumbnails } from './collections.ts'
import { DerivedStore, type Received, uploaderOf } from './derived-store.ts'

const tries = 200

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

  /** The thumbnail of a resource that was attached last. */
  async lastOf(target: Ref): Promise<Thumbnail | undefined> {
    const where = eq('target.id', target.id)
    const query = { using: 'byAttached', where, sort: { by: 'attached', order: 'descending' }, limit: 1 } as const
    return (await this.#documents.find(thumbnails, query)).items[0]
  }

  /** Stores an image made by a built-in extractor. A repeat with the same id changes nothing. */
  async add(target: Ref, file: DerivedFile & { readonly id?: string }, author: string | undefined): Promise<string> {
    const { id = this.#ids.next(), contentType } = file
    const known = await this.thumbnail(id)
    if (known?.target) return id
    if (!known) {
      const { key: blob, sizeBytes } = await this.#blobs.put(createReadStream(file.path))
      const record = { id, blob, sizeBytes, contentType, filename: '', author: author ?? null, ...this.#unattached() }
      await this.#derived.keep(thumbnails, record, [])
    }
    await this.#setTarget(id, target, author)
    return id
  }

  /** The same image for another resource, with that resource's rights; its id is derived from both, so that a repeat creates no other one. */
  async share(original: Thumbnail, target: Ref): Promise<string> {
    const { blob, sizeBytes, contentType, filename, author } = original
    const id = createHash('sha256').update(`thumbnail ${target.id} ${original.id}`).digest('hex').slice(0, 24)
    try {
      const record = { id, blob, sizeBytes, contentType, filename, author, ...this.#unattached() }
      await this.#documents.commit({ insert: record, into: thumbnails })
    } catch (error) {
      if (!(error instanceof CommitConflict && error.reason === 'exists')) throw error
    }
    await this.#setTarget(id, target, author ?? undefined)
    return id
  }

  async upload({ bytes, filename, contentType }: Received, caller: Caller): Promise<string> {
    const id = this.#ids.next()
    const shown = { filename, contentType, blob: bytes.key, sizeBytes: bytes.sizeBytes }
    await this.#derived.keep(thumbnails, { id, ...shown, ...uploaderOf(caller), ...this.#unattached() }, [])
    return id
  }

  /**
   * Sets the target of a thumbnail, also again; if it has another target already, the new one gets a copy. The caller must have checked the
   * rights on both.
   */
  async attach(id: string, target: Ref, actor?: string): Promise<void> {
    const known = await this.thumbnail(id)
    if (known?.target && known.target.id !== target.id) await this.share(known, target)
    else await this.#setTarget(id, target, actor)
  }

  /** A deleted one is not an error. */
  async remove(thumbnail: Thumbnail, actor: string | undefined): Promise<void> {
    await this.#derived.remove(thumbnails, 'thumbnail', thumbnail, actor)
  }

  /** Deletes the thumbnails of some resources, in batches; `actors` maps each resource to the user who deleted it. */
  async removeAllOf(actors: ReadonlyMap<string, string | undefined>): Promise<void> {
    await this.#derived.removeAllOf(thumbnails, 'thumbnail', actors)
  }

  /** The thumbnail becomes the last one of its target. */
  async #setTarget(id: string, target: Ref, actor: string | undefined): Promise<void> {
    const events = [event('thumbnail.attached', { kind: 'thumbnail', id }, { target }, actor)]
    for (let left = tries; ; left -= 1) {
      try {
        await updateWithRetry(this.#documents, thumbnails, { kind: 'thumbnail', id }, async () => {
          const last = (await this.lastOf(target))?.attached
          const now = this.#clock.now()
          const attached = last ? new Date(Math.max(now.getTime(), Date.parse(last) + 1)) : now
          return { set: { target, attached: attached.toISOString() }, events }
        })
        return
      } catch (error) {
        // Another one was attached at this time.
        if (!(error instanceof Taken) || left === 0) throw error
      }
    }
  }

  #unattached() {
    return { target: null, attached: null, created: this.#clock.now().toISOString() }
  }
}
wire(StoredThumbnails, DocumentStore, DerivedStore, BlobStore, Ids, Clock)
