import { createHash, randomUUID } from 'node:crypto'
import { type FileHandle, open, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import type { RequestBody } from './blob-writer.ts'
import { asProblem } from './s3-problems.ts'

/** Memory limit of all uploads together, in bytes. */
export class MemoryBudget {
  #left: number

  constructor(bytes: number) {
    this.#left = bytes
  }

  /** False when there is no room; nothing is reserved then. */
  take(bytes: number): boolean {
    if (bytes > this.#left) return false
    this.#left -= bytes
    return true
  }

  give(bytes: number): void {
    this.#left += bytes
  }
}

const slabBytes = 64 * 1024

const leastSlabBytes = 4096

/** Parts that become longer are kept in a file even if there is room in memory. */
const maxInMemory = 12 * 1024 * 1024

/**
 * The bytes of one part until the server has them: S3 requires a part's length and digest before its first byte, and the part may have to be sent
 * again. In memory while the budget allows, otherwise in an unlinked file, which disappears with the process.
 */
export class PartBuffer implements RequestBody {
  readonly #budget: MemoryBudget
  readonly #folder: string
  readonly #hash = createHash('sha256')
  #slabs: Buffer[] = []
  #taken = 0
  /** How much of the last slab is in use. */
  #filled = 0
  #file: FileHandle | undefined
  #digest: string | undefined
  sizeBytes = 0

  constructor(budget: MemoryBudget, folder: string) {
    this.#budget = budget
    this.#folder = folder
  }

  /** Adds a copy. `NoSpace` when it has to go into a file and there is no room. */
  async add(bytes: Uint8Array): Promise<void> {
    this.#hash.update(bytes)
    const bufferedBytes = this.#file ? 0 : this.#keep(bytes)
    this.sizeBytes += bytes.length
    if (bufferedBytes === bytes.length) return
    try {
      await this.#spill()
      await this.#file?.appendFile(bytes.subarray(bufferedBytes))
    } catch (error) {
      throw asProblem(error)
    }
  }

  /** Digest of everything added. Nothing can be added afterwards. */
  get sha256(): string {
    this.#digest ??= this.#hash.digest('hex')
    return this.#digest
  }

  open(moved: () => void): Readable {
    const file = this.#file
    const pieces = file
      ? file.createReadStream({ start: 0, end: this.sizeBytes - 1, autoClose: false, highWaterMark: slabBytes })
      : this.#pieces()
    return Readable.from(
      (async function* () {
        for await (const piece of pieces) {
          moved()
          yield piece
        }
      })(),
      { objectMode: false },
    )
  }

  /** Releases the memory or closes the file. */
  async dispose(): Promise<void> {
    this.#forget()
    const file = this.#file
    this.#file = undefined
    await file?.close()
  }

  /** How many of the bytes fit in memory. */
  #keep(bytes: Uint8Array): number {
    let at = 0
    while (at < bytes.length) {
      const last = this.#slabs.at(-1)
      if (!last || this.#filled === last.length) {
        if (!this.#addSlab(bytes.length - at)) return at
        continue
      }
      const piece = bytes.subarray(at, at + last.length - this.#filled)
      last.set(piece, this.#filled)
      this.#filled += piece.length
      at += piece.length
    }
    return at
  }

  #addSlab(wanted: number): boolean {
    const size = Math.min(slabBytes, Math.max(leastSlabBytes, this.#taken, wanted))
    if (this.#taken + size > maxInMemory || !this.#budget.take(size)) return false
    this.#taken += size
    this.#filled = 0
    this.#slabs.push(Buffer.allocUnsafeSlow(size))
    return true
  }

  *#pieces(): Generator<Buffer> {
    for (const [at, slab] of this.#slabs.entries()) yield at === this.#slabs.length - 1 ? slab.subarray(0, this.#filled) : slab
  }

  async #spill(): Promise<void> {
    if (this.#file) return
    const path = join(this.#folder, randomUUID())
    this.#file = await open(path, 'wx+')
    await unlink(path)
    for (const piece of this.#pieces()) await this.#file.appendFile(piece)
    this.#forget()
  }

  #forget(): void {
    this.#budget.give(this.#taken)
    this.#taken = 0
    this.#slabs = []
  }
}
