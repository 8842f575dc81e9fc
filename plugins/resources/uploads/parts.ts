import {
  type BlobOwner,
  BlobStore,
  CommitConflict,
  CorruptContent,
  DocumentStore,
  eq,
  FileIngest,
  Files,
  Ids,
  type Stored,
  wire,
} from 'pounce/sdk'
import { youngGeneration } from 'pounce/sdk/kit'
import type { BlobInfo } from 'pounce/sdk/store-kit'
import { type PartRecord, parts, type UploadRecord } from './collections.ts'

type Upload = UploadRecord & Stored

/** The durable bytes of uploads in progress. */
export class StoredParts {
  readonly #documents: DocumentStore
  readonly #blobs: BlobStore
  readonly #files: Files
  readonly #ids: Ids
  readonly #ingest: FileIngest

  constructor(documents: DocumentStore, blobs: BlobStore, files: Files, ids: Ids, ingest: FileIngest) {
    this.#documents = documents
    this.#blobs = blobs
    this.#files = files
    this.#ids = ids
    this.#ingest = ingest
  }

  /** See `BlobStore`. */
  get putGrowing(): BlobStore['putGrowing'] {
    return this.#blobs.putGrowing?.bind(this.#blobs)
  }

  /** Adds a part for bytes that are stored already; they do not count yet. */
  async add(
    upload: string,
    startByte: number,
    { key: blob, sizeBytes, sha256 }: BlobInfo,
    previous: string | null,
  ): Promise<PartRecord & Stored> {
    const part = { id: this.#ids.next(), upload, startByte, sizeBytes, sha256, blob, previous }
    return this.#documents.commit({ insert: part, into: parts })
  }

  /** The parts that count, in order. */
  async of({ id, tail, receivedBytes }: Upload): Promise<readonly (PartRecord & Stored)[]> {
    const all = new Map<string, PartRecord & Stored>()
    for await (const part of this.#all(id)) all.set(part.id, part)
    const chain: (PartRecord & Stored)[] = []
    let end = receivedBytes
    for (let next = tail; next !== null; ) {
      const part = all.get(next)
      if (part === undefined || part.startByte + part.sizeBytes !== end)
        throw new CorruptContent('A part of this upload is missing: start a new upload')
      chain.push(part)
      end = part.startByte
      next = part.previous
    }
    if (end !== 0) throw new CorruptContent('A part of this upload is missing: start a new upload')
    return chain.reverse()
  }

  /** The bytes of parts, one after the other. */
  async *bytesOf(chain: readonly PartRecord[]): AsyncGenerator<Buffer> {
    for (const { blob } of chain) {
      const stream = await this.#blobs.get(blob)
      if (!stream) throw new CorruptContent('A part of this upload is missing: start a new upload')
      for await (const chunk of stream) {
        youngGeneration.passed((chunk as Buffer).length)
        yield chunk as Buffer
      }
    }
  }

  /** Deletes one part with its bytes. If that fails now, it is deleted with its upload. */
  async drop({ id, blob: key, sizeBytes, sha256 }: PartRecord & Stored, keeping?: string): Promise<void> {
    try {
      await this.#documents.commit({ tombstone: id, in: parts })
    } catch (error) {
      if (!(error instanceof CommitConflict)) throw error
    }
    if (key === keeping) return
    await using _ = this.#ingest.stage({ key, sizeBytes, sha256 })
  }

  /** Deletes all parts of an upload with their bytes, except bytes that became those of the file, whose id is the upload's. */
  async dropAll(upload: string): Promise<void> {
    const blob = (await this.#files.get(upload))?.blob
    for await (const part of this.#all(upload)) await this.drop(part, blob)
  }

  /** All parts. */
  walk(): AsyncIterable<PartRecord & Stored> {
    return this.#documents.walk(parts)
  }

  #all(upload: string): AsyncIterable<PartRecord & Stored> {
    return this.#documents.scan(parts, {
      using: 'byUpload',
      where: eq('upload', upload),
      sort: { by: 'startByte', order: 'ascending' },
    })
  }
}
wire(StoredParts, DocumentStore, BlobStore, Files, Ids, FileIngest)

/** Which stored bytes are parts of uploads. */
export class PartBlobs implements BlobOwner {
  readonly places = [{ in: parts, field: 'blob' }]
  readonly #documents: DocumentStore

  constructor(documents: DocumentStore) {
    this.#documents = documents
  }

  async owned(keys: readonly string[]): Promise<ReadonlySet<string>> {
    const owned = new Set<string>()
    for (const key of keys) {
      const { items } = await this.#documents.find(parts, { using: 'byBlob', where: eq('blob', key), limit: 1 })
      if (items.length > 0) owned.add(key)
    }
    return owned
  }
}
wire(PartBlobs, DocumentStore)
