import { createReadStream } from 'node:fs'
import {
  type After,
  BlobStore,
  type Caller,
  Clock,
  type DerivedFile,
  DocumentStore,
  eq,
  event,
  Ids,
  type Json,
  type Page,
  type Previews,
  type Ref,
  wire,
} from 'pounce/sdk'
import { orNotFound, updateWithRetry } from 'pounce/sdk/kit'
import { type Preview, previews } from './collections.ts'
import { DerivedStore, type Received, shortened, uploaderOf } from './derived-store.ts'
import { StoredThumbnails } from './stored-thumbnails.ts'

type PreviewCreator = { readonly extractor: string; readonly author?: string }

/** Previews: records in the document store, images and other bytes in the blob store. */
export class StoredPreviews implements Previews {
  #documents: DocumentStore
  #derived: DerivedStore
  #thumbnails: StoredThumbnails
  #blobs: BlobStore
  #ids: Ids
  #clock: Clock

  constructor(documents: DocumentStore, derived: DerivedStore, thumbnails: StoredThumbnails, blobs: BlobStore, ids: Ids, clock: Clock) {
    this.#documents = documents
    this.#derived = derived
    this.#thumbnails = thumbnails
    this.#blobs = blobs
    this.#ids = ids
    this.#clock = clock
  }

  preview(id: string): Promise<Preview | undefined> {
    return this.#documents.get(previews, id)
  }

  /** All previews of the server, newest first. */
  page(page: { readonly after?: After; readonly limit: number }): Promise<Page<Preview>> {
    return this.#documents.find(previews, { using: 'byCreated', sort: { by: 'created', order: 'descending' }, ...page })
  }

  /** At most 1,000, in order of creation. */
  async of(target: Ref): Promise<readonly Preview[]> {
    const query = {
      using: 'byTarget',
      where: eq('target.id', target.id),
      sort: { by: 'created', order: 'ascending' },
      limit: 1000,
    } as const
    return (await this.#documents.find(previews, query)).items
  }

  async addPreview(target: Ref, file: DerivedFile & { readonly id?: string }, by: PreviewCreator): Promise<string> {
    const { id = this.#ids.next(), title = null, contentType } = file
    if (await this.preview(id)) return id
    const bytes = await this.#blobs.put(createReadStream(file.path))
    const fields = { filename: '', title, target, extractor: by.extractor, metadata: {}, author: by.author ?? null }
    const record = { id, ...fields, blob: bytes.key, sizeBytes: bytes.sizeBytes, contentType, created: this.#clock.now().toISOString() }
    await this.#derived.keep(previews, record, [event('preview.attached', { kind: 'preview', id }, { target }, by.author)])
    return id
  }

  addThumbnail(target: Ref, file: DerivedFile & { readonly id?: string }, by: PreviewCreator): Promise<string> {
    return this.#thumbnails.add(target, file, by.author)
  }

  /** `iipKey` refers to pyramids on another server; it is stored with the metadata. */
  async upload({ bytes, filename, contentType, fields }: Received, caller: Caller, iipKey?: string): Promise<string> {
    const id = this.#ids.next()
    const title = fields.get('title') || undefined
    const shown = {
      filename,
      title: title === undefined ? null : shortened(title),
      contentType: contentType === 'application/xml' ? 'application/dzi' : contentType,
    }
    const metadata: Record<string, Json> = iipKey ? { iipKey } : {}
    const record = { target: null, extractor: 'Other', metadata, ...uploaderOf(caller), created: this.#clock.now().toISOString() }
    await this.#derived.keep(previews, { id, ...shown, ...record, blob: bytes.key, sizeBytes: bytes.sizeBytes }, [])
    return id
  }

  /** Sets the target of a preview; the caller must have checked the rights on both. */
  async attach(
    id: string,
    target: Ref,
    { extractor, metadata }: { readonly extractor: string | undefined; readonly metadata: Readonly<Record<string, Json>> },
    actor?: string,
  ): Promise<void> {
    const set = { target, metadata, ...(extractor === undefined ? {} : { extractor }) }
    const attached = event('preview.attached', { kind: 'preview', id }, { target }, actor)
    await updateWithRetry(this.#documents, previews, { kind: 'preview', id }, () => ({ set, events: [attached] }))
  }

  async describe(id: string, set: { readonly metadata?: Readonly<Record<string, Json>>; readonly title?: string }): Promise<void> {
    await orNotFound('preview', this.#documents.commit({ update: id, in: previews, set }))
  }

  /** A deleted one is not an error. */
  async removePreview(preview: Preview, actor: string | undefined): Promise<void> {
    await this.#derived.remove(previews, 'preview', preview, actor)
  }

  /** Deletes all derived files of some resources, in batches; `actors` maps each resource to the user who deleted it. */
  async removeAllOf(actors: ReadonlyMap<string, string | undefined>): Promise<void> {
    await this.#derived.removeAllOf(previews, 'preview', actors)
    await this.#thumbnails.removeAllOf(actors)
  }
}
wire(StoredPreviews, DocumentStore, DerivedStore, StoredThumbnails, BlobStore, Ids, Clock)
