import {
  and,
  type BlobOwner,
  BlobStore,
  type Caller,
  Clock,
  type Collection,
  CommitConflict,
  DocumentStore,
  eq,
  event,
  Invalid,
  isIn,
  type Kind,
  Log,
  type NewEvent,
  type Parts,
  type Policy,
  type PreviewRecord,
  range,
  type Stored,
  s,
  type Where,
  wire,
} from 'pounce/sdk'
import { afterParameter, changedNothing, mediaTypeOf, referencedIds, removeFound, requireDone } from 'pounce/sdk/kit'
import type { BlobInfo } from 'pounce/sdk/store-kit'
import { previews, thumbnails, tiles } from './collections.ts'

/** A received file part whose bytes are durable. */
export interface Received {
  readonly bytes: BlobInfo
  readonly filename: string
  readonly contentType: string
  readonly fields: ReadonlyMap<string, string>
}

/** Who uploaded a derived file: the account, and the job whose key it used. */
export const uploaderOf = ({ user, limits }: Caller): { readonly author: string | null; readonly job?: string } => ({
  author: user?.id ?? null,
  ...(limits?.job === undefined ? {} : { job: limits.job.id }),
})

type ShownKind = 'preview' | 'thumbnail'

type Shown = Pick<PreviewRecord, 'blob' | 'target'>

const removed = (kind: ShownKind, { id, blob, target }: Shown & Stored, actor: string | undefined) =>
  event('preview.removed', { kind, id }, { blob, target }, actor)

/** A title or the name of an extractor: at most 500 characters, of which the last may be half of a surrogate pair. */
export const shortened = (text: string): string => text.slice(0, 500).toWellFormed()

/** Common to previews, thumbnails and tiles: bytes from one multipart part, and a record. */
export class DerivedStore {
  #documents: DocumentStore
  #blobs: BlobStore
  #log: Log

  constructor(documents: DocumentStore, blobs: BlobStore, log: Log) {
    this.#documents = documents
    this.#blobs = blobs
    this.#log = log
  }

  /** Receives the one file of a body under v1's field name, in any case; any other body leaves nothing. */
  async receive(parts: Parts, signal: AbortSignal): Promise<Received> {
    const fields = new Map<string, string>()
    let received: Omit<Received, 'fields'> | undefined
    try {
      for await (const part of parts) {
        if (part.kind === 'field') fields.set(part.field, part.value)
        else if (received || part.field.toLowerCase() !== 'file') part.skip()
        else {
          received = { bytes: await this.#blobs.put(part.stream, { signal }), filename: part.filename, contentType: part.contentType }
        }
      }
      if (!received) throw new Invalid('File not attached: send one file part named File in a multipart/form-data body')
      if (received.bytes.sizeBytes === 0) throw new Invalid('File is empty: send at least one byte')
      const { bytes, filename, contentType } = received
      const type = await mediaTypeOf(this.#blobs, { name: filename, contentType, bytes })
      return { bytes, filename: filename.slice(0, 255), contentType: type, fields }
    } catch (error) {
      if (received) await this.discard(received.bytes.key)
      throw error
    }
  }

  /**
   * One commit. If it definitely failed the bytes are deleted, otherwise a sweep decides. An existing id is the same derived file sent
   * again.
   */
  async keep<T extends object>(
    into: Collection<T>,
    record: T & { readonly id: string; readonly blob: string },
    events: readonly NewEvent[],
  ): Promise<void> {
    try {
      await this.#documents.commit({ insert: record, into }, events)
    } catch (error) {
      if (changedNothing(error)) await this.discard(record.blob)
      if (!(error instanceof CommitConflict && error.reason === 'exists')) throw error
    }
  }

  /** A deleted one is not an error. */
  async remove<T extends Shown>(from: Collection<T>, kind: ShownKind, record: T & Stored, actor: string | undefined): Promise<void> {
    requireDone(await this.#documents.commitEach([{ change: { tombstone: record.id, in: from }, events: [removed(kind, record, actor)] }]))
  }

  /** Deletes all derived files of some resources, in batches; `actors` maps each resource to the user who deleted it. */
  async removeAllOf<T extends Shown>(from: Collection<T>, kind: ShownKind, actors: ReadonlyMap<string, string | undefined>): Promise<void> {
    const where: Where = isIn('target.id', [...actors.keys()])
    const events = (record: T & Stored) => [removed(kind, record, actors.get(record.target?.id ?? ''))]
    await removeFound(this.#documents, from, { using: 'byTarget', where, events })
  }

  async discard(blob: string): Promise<void> {
    try {
      await this.#blobs.remove(blob)
    } catch (error) {
      this.#log.warn('Failed to delete the bytes of a derived file; the next sweep will', { blob, error })
    }
  }
}
wire(DerivedStore, DocumentStore, BlobStore, Log)

/** Which stored bytes belong to previews, thumbnails and tiles. */
export class DerivedBlobs implements BlobOwner {
  readonly places = [
    { in: previews, field: 'blob', sizeField: 'sizeBytes' },
    { in: thumbnails, field: 'blob', sizeField: 'sizeBytes' },
    { in: tiles, field: 'blob', sizeField: 'sizeBytes' },
  ]
  #documents: DocumentStore

  constructor(documents: DocumentStore) {
    this.#documents = documents
  }

  async owned(keys: readonly string[]): Promise<ReadonlySet<string>> {
    const named = await Promise.all([previews, thumbnails, tiles].map(from => this.#named(from as Collection<{ blob: string }>, keys)))
    return new Set(named.flatMap(some => [...some]))
  }

  #named(from: Collection<{ blob: string }>, keys: readonly string[]): Promise<ReadonlySet<string>> {
    return referencedIds(this.#documents, from, { using: 'byBlob', field: 'blob', of: ({ blob }) => blob }, keys)
  }
}
wire(DerivedBlobs, DocumentStore)

/** The query parameters of the lists of all previews and thumbnails. */
export const listQuery = s.Object({ limit: s.Integer({ default: 100, minimum: 1, maximum: 1000 }), after: afterParameter() })

/** The items of a page that the caller may view. */
export const seenOf = async <T extends Stored>(
  policy: Policy,
  caller: Caller,
  kind: 'preview' | 'thumbnail',
  items: readonly T[],
): Promise<readonly T[]> => {
  const ids = items.map(({ id }) => id)
  const allowed = await policy.allowed(caller, 'ViewFile', kind, ids)
  return items.filter(({ id }) => allowed.has(id))
}

const keptMs = 7 * 24 * 60 * 60 * 1000

interface Derived {
  readonly blob: string
  readonly created: string
}

/** Deletes uploads that are still unattached after a week. */
export class SweepUnattached {
  #documents: DocumentStore
  #clock: Clock

  constructor(documents: DocumentStore, clock: Clock) {
    this.#documents = documents
    this.#clock = clock
  }

  async run(signal: AbortSignal): Promise<void> {
    await this.#sweep(previews as Collection<Derived>, 'preview', { using: 'byTarget', field: 'target.id' }, signal)
    await this.#sweep(thumbnails as Collection<Derived>, 'thumbnail', { using: 'byAge', field: 'target.id' }, signal)
    await this.#sweep(tiles as Collection<Derived>, 'preview', { using: 'byPreview', field: 'preview' }, signal)
  }

  async #sweep(
    from: Collection<Derived>,
    kind: Kind,
    { using, field }: { readonly using: string; readonly field: string },
    signal: AbortSignal,
  ): Promise<void> {
    const before = new Date(this.#clock.now().getTime() - keptMs).toISOString()
    const unattached = eq(field, null)
    const old = and(unattached, range('created', { lt: before }))
    await removeFound(this.#documents, from, {
      using,
      where: old,
      sort: { by: 'created', order: 'ascending' },
      // Attached just now: keep it.
      guard: () => unattached,
      events: ({ id, blob }) => [event('preview.removed', { kind, id }, { blob, target: null })],
      signal,
    })
  }
}
wire(SweepUnattached, DocumentStore, Clock)
