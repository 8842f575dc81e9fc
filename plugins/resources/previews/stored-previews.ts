import { createReadStream } from 'node:fs'
import {
  BlobStore,
  type Caller,
  Clock,
  CommitConflict,
  type DerivedFile,
  DocumentStore,
  eq,
  event,
  Ids,
  Invalid,
  type Json,
  NotFound,
  type PreviewRecord,
  type Previews,
  port,
  type Ref,
  type Stored,
  type ThumbnailRecord,
  wire,
} from 'pounce/sdk'
import { previews, thumbnails } from './collections.ts'
import { Derived, type DerivedStore, type Received } from './derived-store.ts'

type Preview = PreviewRecord & Stored
type By = { readonly extractor: string; readonly author?: string }

/** Previews and thumbnails: records in the document store, pictures in the blob store. */
export class StoredPreviews implements Previews {
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

  preview(id: string): Promise<Preview | undefined> {
    return this.#documents.get(previews, id)
  }

  thumbnail(id: string): Promise<(ThumbnailRecord & Stored) | undefined> {
    return this.#documents.get(thumbnails, id)
  }

  /** At most 1,000, in the order they came. */
  async of(target: Ref): Promise<readonly Preview[]> {
    const query = {
      using: 'byTarget',
      where: eq('target.id', target.id),
      sort: { by: 'created', order: 'ascending' },
      limit: 1000,
    } as const
    return (await this.#documents.find(previews, query)).items
  }

  async addPreview(target: Ref, file: DerivedFile & { readonly id?: string }, by: By): Promise<string> {
    const { id = this.#ids.next(), title = null, contentType } = file
    if (await this.preview(id)) return id
    const bytes = await this.#blobs.put(createReadStream(file.path))
    const made = { filename: '', title, target, extractor: by.extractor, metadata: {}, author: by.author ?? null }
    const record = { id, ...made, blob: bytes.key, sizeBytes: bytes.sizeBytes, contentType, created: this.#now() }
    await this.#derived.keep(previews, record, [event('preview.attached', { kind: 'preview', id }, { target }, by.author)])
    return id
  }

  async addThumbnail(target: Ref, file: DerivedFile & { readonly id?: string }, by: By): Promise<string> {
    const { id = this.#ids.next(), contentType } = file
    if (!(await this.thumbnail(id))) {
      const bytes = await this.#blobs.put(createReadStream(file.path))
      const made = { filename: '', target, author: by.author ?? null, created: this.#now() }
      const record = { id, ...made, blob: bytes.key, sizeBytes: bytes.sizeBytes, contentType }
      await this.#derived.keep(thumbnails, record, [event('thumbnail.attached', { kind: 'thumbnail', id }, { target }, by.author)])
    }
    return id
  }

  async upload({ bytes, filename, contentType, fields }: Received, caller: Caller): Promise<string> {
    const id = this.#ids.next()
    const title = fields.get('title')?.slice(0, 500) ?? null
    const shown = { filename, title, contentType: contentType === 'application/xml' ? 'application/dzi' : contentType }
    const made = { target: null, extractor: 'Other', metadata: {}, author: caller.user?.id ?? null, created: this.#now() }
    await this.#derived.keep(previews, { id, ...shown, ...made, blob: bytes.key, sizeBytes: bytes.sizeBytes }, [])
    return id
  }

  async uploadThumbnail({ bytes, filename, contentType }: Received, caller: Caller): Promise<string> {
    const id = this.#ids.next()
    const made = { target: null, author: caller.user?.id ?? null, created: this.#now() }
    await this.#derived.keep(thumbnails, { id, filename, contentType, ...made, blob: bytes.key, sizeBytes: bytes.sizeBytes }, [])
    return id
  }

  /** Says what a preview shows. One that shows something else already stays as it is. */
  async attach(
    id: string,
    target: Ref,
    extractor: string | undefined,
    metadata: Readonly<Record<string, Json>> | undefined,
    actor?: string,
  ): Promise<void> {
    const preview = await this.preview(id)
    if (!preview) throw new NotFound('preview')
    if (preview.target && preview.target.id !== target.id) throw new Invalid(`This preview shows another ${preview.target.kind} already`)
    const set = { target, ...(extractor === undefined ? {} : { extractor }), ...(metadata === undefined ? {} : { metadata }) }
    await this.#documents.commit({ update: id, in: previews, where: eq('revision', preview.revision), set }, [
      event('preview.attached', { kind: 'preview', id }, { target }, actor),
    ])
  }

  async describe(id: string, set: { readonly metadata?: Readonly<Record<string, Json>>; readonly title?: string }): Promise<void> {
    await this.#documents.commit({ update: id, in: previews, set })
  }

  async attachThumbnail(id: string, target: Ref, actor?: string): Promise<void> {
    const thumbnail = await this.thumbnail(id)
    if (!thumbnail) throw new NotFound('thumbnail')
    if (thumbnail.target && thumbnail.target.id !== target.id)
      throw new Invalid(`This thumbnail shows another ${thumbnail.target.kind} already`)
    await this.#documents.commit({ update: id, in: thumbnails, set: { target } }, [
      event('thumbnail.attached', { kind: 'thumbnail', id }, { target }, actor),
    ])
  }

  async removePreview(preview: Preview, actor: string | undefined): Promise<void> {
    const gone = event('preview.removed', { kind: 'preview', id: preview.id }, { blob: preview.blob }, actor)
    await this.#remove({ tombstone: preview.id, in: previews }, [gone])
  }

  /** Everything derived from a thing. */
  async removeAllOf(target: Ref, actor: string | undefined): Promise<void> {
    for (;;) {
      const shown = await this.of(target)
      for (const preview of shown) await this.removePreview(preview, actor)
      const { items } = await this.#documents.find(thumbnails, { using: 'byTarget', where: eq('target.id', target.id), limit: 1000 })
      for (const { id, blob } of items) {
        await this.#remove({ tombstone: id, in: thumbnails }, [event('preview.removed', { kind: 'thumbnail', id }, { blob }, actor)])
      }
      if (shown.length === 0 && items.length === 0) return
    }
  }

  async #remove(...[change, events]: Parameters<DocumentStore['commit']>): Promise<void> {
    try {
      await this.#documents.commit(change, events)
    } catch (error) {
      if (!(error instanceof CommitConflict && error.reason === 'absent')) throw error
    }
  }

  #now(): string {
    return this.#clock.now().toISOString()
  }
}
wire(StoredPreviews, DocumentStore, Derived, BlobStore, Ids, Clock)

/** What the routes use besides `Previews`. */
export const PreviewDesk = port<StoredPreviews>('previews.desk')
