import { createHash, type Hash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { type ByteRange, CorruptContent } from 'pounce/sdk'
import type { RegisteredFile } from './registered-files.ts'

const pieceBytes = 256 * 1024

/** Throws `CorruptContent` when an open file was changed since its registration. */
export const requireUnchanged = async (handle: FileHandle, { sizeBytes, modifiedNs }: RegisteredFile): Promise<void> => {
  const stats = await handle.stat({ bigint: true })
  if (stats.size !== BigInt(sizeBytes) || String(stats.mtimeNs) !== modifiedNs) {
    throw new CorruptContent('The file was changed after it was registered')
  }
}

/**
 * The bytes of a registered file, or a range of them. Fails with `CorruptContent`, before the last byte is delivered, when the file was changed: what is
 * read to its end without an error is what was registered.
 */
export class VerifiedFileBytes extends Readable {
  readonly #handle: FileHandle
  readonly #file: RegisteredFile
  readonly #end: number
  readonly #hash: Hash | undefined
  #at: number

  /** Takes ownership of the handle. */
  constructor(handle: FileHandle, file: RegisteredFile, range: ByteRange | undefined) {
    super({ highWaterMark: pieceBytes })
    this.#handle = handle
    this.#file = file
    this.#at = range?.start ?? 0
    this.#end = range?.end ?? file.sizeBytes - 1
    this.#hash = range ? undefined : createHash('sha256')
  }

  override _read(): void {
    this.#next().then(
      piece => this.push(piece),
      (error: Error) => this.destroy(error),
    )
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#handle.close().then(
      () => callback(error),
      (closing: Error) => callback(error ?? closing),
    )
  }

  async #next(): Promise<Buffer | null> {
    if (this.#at > this.#end) return null
    const buffer = Buffer.allocUnsafe(Math.min(pieceBytes, this.#end + 1 - this.#at))
    const { bytesRead } = await this.#handle.read(buffer, 0, buffer.length, this.#at)
    if (bytesRead === 0) throw new CorruptContent('The file is shorter than when it was registered')
    const piece = buffer.subarray(0, bytesRead)
    this.#hash?.update(piece)
    this.#at += bytesRead
    if (this.#at > this.#end) {
      await requireUnchanged(this.#handle, this.#file)
      if (this.#hash && this.#hash.digest('hex') !== this.#file.sha256) {
        throw new CorruptContent('The file was changed after it was registered')
      }
    }
    return piece
  }
}
