import type { FileHandle } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { BlobStore, type ByteRange, CommitConflict, DocumentStore, Invalid, type Stored, wire, wrapped } from 'pounce/sdk'
import type { BlobEntry, BlobInfo, ObjectAddress, PutOptions, TemporaryUrlOptions } from 'pounce/sdk/store-kit'
import { ListedFolders } from './listed-folders.ts'
import { idIn, type RegisteredFile, registrations } from './registered-files.ts'
import { requireUnchanged, VerifiedFileBytes } from './verified-file-bytes.ts'

/** A blob store whose keys may also name registered files. Nothing ever writes to those or removes them. */
export class InPlaceBlobStore implements BlobStore {
  readonly #blobs: BlobStore
  readonly #documents: DocumentStore
  readonly #folders: ListedFolders

  constructor(blobs: BlobStore, documents: DocumentStore, folders: ListedFolders) {
    this.#blobs = blobs
    this.#documents = documents
    this.#folders = folders
  }

  put(source: Readable | Uint8Array, options?: PutOptions): Promise<BlobInfo> {
    return this.#blobs.put(source, options)
  }

  get putGrowing(): BlobStore['putGrowing'] {
    return this.#blobs.putGrowing?.bind(this.#blobs)
  }

  async get(key: string, range?: ByteRange): Promise<Readable | undefined> {
    const id = idIn(key)
    if (id === undefined) return this.#blobs.get(key, range)
    const file = await this.#documents.get(registrations, id)
    if (!file) return undefined
    if (range && (range.start < 0 || range.end < range.start || range.end >= file.sizeBytes)) {
      throw new Invalid(`The range ${range.start}-${range.end} is not within ${file.sizeBytes} bytes`)
    }
    return new VerifiedFileBytes(await this.#opened(file), file, range)
  }

  async stat(key: string): Promise<BlobInfo | undefined> {
    const id = idIn(key)
    if (id === undefined) return this.#blobs.stat(key)
    const file = await this.#documents.get(registrations, id)
    return file && { key, sizeBytes: file.sizeBytes, sha256: file.sha256 }
  }

  async remove(key: string): Promise<void> {
    const id = idIn(key)
    if (id === undefined) return this.#blobs.remove(key)
    try {
      await this.#documents.commit({ tombstone: id, in: registrations })
    } catch (error) {
      if (!(error instanceof CommitConflict)) throw error
    }
  }

  list(): AsyncIterable<BlobEntry> {
    return this.#blobs.list()
  }

  async localPath(key: string): Promise<string | undefined> {
    const id = idIn(key)
    if (id === undefined) return this.#blobs.localPath?.(key)
    return (await this.#documents.get(registrations, id))?.path
  }

  async crc32(key: string): Promise<number | undefined> {
    return idIn(key) === undefined ? this.#blobs.crc32?.(key) : undefined
  }

  async objectAddress(key: string): Promise<ObjectAddress | undefined> {
    return idIn(key) === undefined ? this.#blobs.objectAddress?.(key) : undefined
  }

  async temporaryUrl(key: string, options: TemporaryUrlOptions): Promise<string | undefined> {
    return idIn(key) === undefined ? this.#blobs.temporaryUrl?.(key, options) : undefined
  }

  liesElsewhere(key: string): boolean {
    return idIn(key) !== undefined || (this.#blobs.liesElsewhere?.(key) ?? false)
  }

  async #opened(file: RegisteredFile & Stored): Promise<FileHandle> {
    const { handle } = await this.#folders.reopen(file.path)
    try {
      await requireUnchanged(handle, file)
      return handle
    } catch (error) {
      await handle.close()
      throw error
    }
  }
}
wire(InPlaceBlobStore, wrapped(BlobStore), DocumentStore, ListedFolders)
