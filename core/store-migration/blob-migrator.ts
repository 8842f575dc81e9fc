import { createHash } from 'node:crypto'
import type { Readable } from 'node:stream'
import { type BlobStore, CommitConflict, CorruptContent, type DocumentStore, Invalid } from 'pounce/sdk'
import type { BlobInfo } from 'pounce/sdk/store-kit'
import { type MovedBlob, movedBlobId, movedBlobs } from './migration-record.ts'

/** The stores and options of a blob migration. */
export interface BlobRoute {
  readonly from: BlobStore
  readonly to: BlobStore
  /** The target store, which records the new key of each blob, so that a later run can resume. */
  readonly documents: DocumentStore
  /** Migrates records with damaged bytes without the bytes, instead of failing. */
  readonly skipDamaged: boolean
}

/** Copies blobs from one store to another, each once, and records their new keys. */
export class BlobMigrator {
  readonly #route: BlobRoute
  readonly #under = new Map<string, Promise<string>>()
  /** Number of blobs copied in this run. */
  copied = 0
  copiedBytes = 0
  /** Keys in the old store whose bytes are missing or damaged. */
  readonly lost = new Set<string>()

  constructor(route: BlobRoute) {
    this.#route = route
  }

  get isNeeded(): boolean {
    return this.#route.from !== this.#route.to
  }

  /** Resolves to the key in the new store once the bytes are stored there. `whose` describes the owner in errors about damaged bytes. */
  newKey(key: string, whose: string): Promise<string> {
    if (!this.isNeeded || this.#route.from.liesElsewhere?.(key)) return Promise.resolve(key)
    const under = this.#under.get(key) ?? this.#move(key, whose).finally(() => this.#under.delete(key))
    this.#under.set(key, under)
    return under
  }

  /** Compares the metadata of all blobs in the new store with the copied ones, and optionally reads all bytes. Resolves to the number of blobs and bytes. */
  async verify(readData: boolean, onProgress: (count: number) => void): Promise<{ readonly blobs: number; readonly bytes: number }> {
    const seen = { blobs: 0, bytes: 0 }
    for await (const blob of this.#route.documents.walk(movedBlobs)) {
      const info = await this.#route.to.stat(blob.to)
      const isThere = info?.sizeBytes === blob.sizeBytes && info.sha256 === blob.sha256
      if (!isThere || (readData && (await this.#digestOf(blob.to)) !== blob.sha256))
        throw new Invalid(`The bytes ${blob.to} in the target store differ from the source (${blob.from}); the migration is not complete`)
      seen.blobs += 1
      seen.bytes += blob.sizeBytes
      onProgress(seen.blobs)
    }
    return seen
  }

  async #digestOf(key: string): Promise<string | undefined> {
    const stream = await this.#route.to.get(key)
    if (!stream) return undefined
    const hash = createHash('sha256')
    for await (const piece of stream) hash.update(piece)
    return hash.digest('hex')
  }

  async #move(key: string, whose: string): Promise<string> {
    const { documents, from, to } = this.#route
    const known = await documents.get(movedBlobs, movedBlobId(key))
    if (known) return known.to
    const info = await this.#infoOf(key, whose)
    if (!info) {
      // If both sides share the document store, an earlier run may already have written the new key.
      if (!(await to.stat(key))) this.lost.add(key)
      return key
    }
    const stored = await this.#copy(from, to, info, whose)
    if (!stored) return key
    this.copied += 1
    this.copiedBytes += stored.sizeBytes
    return this.#remember({ from: key, to: stored.key, sizeBytes: stored.sizeBytes, sha256: stored.sha256 })
  }

  async #infoOf(key: string, whose: string): Promise<BlobInfo | undefined> {
    try {
      return await this.#route.from.stat(key)
    } catch (error) {
      return this.#damaged(error, key, whose)
    }
  }

  async #copy(from: BlobStore, to: BlobStore, info: BlobInfo, whose: string): Promise<BlobInfo | undefined> {
    let source: Readable | undefined
    try {
      source = await from.get(info.key)
      if (!source) throw new CorruptContent(`The bytes ${info.key} were deleted during the migration`)
      return await to.put(source, { sizeBytes: info.sizeBytes, sha256: info.sha256 })
    } catch (error) {
      source?.destroy()
      return this.#damaged(error, info.key, whose)
    }
  }

  #damaged(error: unknown, key: string, whose: string): undefined {
    // The new store verifies the digest from the old one.
    const isDamage = error instanceof CorruptContent || error instanceof Invalid
    if (!isDamage) throw error
    if (!this.#route.skipDamaged)
      throw new Invalid(
        `The bytes of ${whose} (${key}) are damaged: ${error.message}. Restore them, delete the record, or migrate it without bytes with --skip-damaged`,
        { cause: error },
      )
    this.lost.add(key)
    return undefined
  }

  async #remember(blob: MovedBlob): Promise<string> {
    const { documents, to } = this.#route
    const id = movedBlobId(blob.from)
    try {
      await documents.commit({ insert: { id, ...blob }, into: movedBlobs })
      return blob.to
    } catch (error) {
      const known = error instanceof CommitConflict && error.reason === 'exists' ? await documents.get(movedBlobs, id) : undefined
      if (!known) throw error
      if (known.to !== blob.to) await to.remove(blob.to)
      return known.to
    }
  }
}
