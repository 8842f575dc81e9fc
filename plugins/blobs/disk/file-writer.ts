import { createHash } from 'node:crypto'
import { type FileHandle, open, rm } from 'node:fs/promises'
import { type Disk, writeAll } from './disk.ts'
import { blockBytes, DiskBlockChecksums } from './disk-block-checksums.ts'
import type { Transfers } from './transfers.ts'

/** What was written. */
export interface WrittenFile {
  readonly sizeBytes: number
  /** Hex. */
  readonly sha256: string
  readonly sums: Uint32Array
}

/** Writes one temporary file. During a write, further pieces are collected, so that a fast source causes few, large writes. */
export class FileWriter {
  readonly path: string
  readonly #file: FileHandle
  readonly #disk: Disk
  readonly #transfers: Transfers
  readonly #hash = createHash('sha256')
  readonly #sums = new DiskBlockChecksums()
  #gathered: Uint8Array[] = []
  #gatheredBytes = 0
  #position = 0
  #writtenBytes = 0
  #sizeBytes = 0
  #writing: Promise<void> | undefined
  #failure: unknown

  static async open(path: string, disk: Disk, transfers: Transfers): Promise<FileWriter> {
    return new FileWriter(path, await open(path, 'wx'), disk, transfers)
  }

  constructor(path: string, file: FileHandle, disk: Disk, transfers: Transfers) {
    this.path = path
    this.#file = file
    this.#disk = disk
    this.#transfers = transfers
    transfers.begin()
  }

  /** Resolves when more data is accepted. */
  async write(piece: Uint8Array): Promise<void> {
    this.#hash.update(piece)
    this.#sums.update(piece)
    this.#sizeBytes += piece.length
    this.#gathered.push(piece)
    this.#gatheredBytes += piece.length
    if (this.#gatheredBytes >= this.#transfers.windowBytes()) await this.#writing
    if (this.#failure !== undefined) throw this.#failure
    if (!this.#writing && this.#gatheredBytes >= blockBytes) this.#flush()
  }

  get sizeBytes(): number {
    return this.#sizeBytes
  }

  /** Makes the data so far durable; more may be written meanwhile, but the file must not be finished. */
  async syncBeginning(): Promise<Pick<WrittenFile, 'sizeBytes' | 'sha256'>> {
    const sizeBytes = this.#sizeBytes
    const sha256 = this.#hash.copy().digest('hex')
    while (this.#writtenBytes < sizeBytes && this.#failure === undefined) {
      if (!this.#writing) this.#flush()
      await this.#writing
    }
    if (this.#failure !== undefined) throw this.#failure
    await this.#disk.sync(this.#file)
    return { sizeBytes, sha256 }
  }

  /** Writes the rest and makes the file durable. A failed sync is not retried. */
  async finish(): Promise<WrittenFile> {
    await this.#writing
    this.#flush()
    await this.#writing
    if (this.#failure !== undefined) throw this.#failure
    await this.#disk.sync(this.#file)
    await this.#close()
    return { sizeBytes: this.#sizeBytes, sha256: this.#hash.digest('hex'), sums: this.#sums.finish() }
  }

  /** Deletes the file. */
  async discard(): Promise<void> {
    await this.#writing
    await this.#close()
    await rm(this.path, { force: true })
  }

  #flush(): void {
    const pieces = this.#gathered
    const position = this.#position
    const end = position + this.#gatheredBytes
    this.#position = end
    this.#gathered = []
    this.#gatheredBytes = 0
    this.#writing = writeAll(this.#disk, this.#file, pieces, position)
      .then(() => {
        this.#writtenBytes = end
      })
      .catch(error => {
        this.#failure = error
      })
      .finally(() => {
        this.#writing = undefined
      })
  }

  #isClosed = false

  async #close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#transfers.end()
    await this.#file.close()
  }
}
