import type { FileHandle } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { crc32 } from 'node:zlib'
import { type ByteRange, CorruptContent, Invalid } from 'pounce/sdk'
import { asProblem, readFully } from './disk.ts'
import { blockBytes } from './disk-block-checksums.ts'
import { maxBytes, type Transfers } from './transfers.ts'

/** What a stream reads, and the expected checksums. */
export interface CheckedSource {
  readonly key: string
  readonly file: FileHandle
  readonly sizeBytes: number
  readonly sums: Uint32Array
  readonly range: ByteRange
}

/** Bytes of a file in whole blocks, each verified before any of it is passed on. Closes the file in any case. */
export class CheckedStream extends Readable {
  readonly #source: CheckedSource
  readonly #transfers: Transfers
  #position: number
  /** Small first reads, for callers that stop after the first bytes. */
  #growing = blockBytes

  constructor(source: CheckedSource, transfers: Transfers) {
    super({ highWaterMark: blockBytes })
    this.#source = source
    this.#transfers = transfers
    this.#position = Math.floor(source.range.start / blockBytes) * blockBytes
    transfers.begin()
  }

  override _read(): void {
    this.#next().then(
      piece => this.push(piece),
      error => this.destroy(asProblem(error) as Error),
    )
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#transfers.end()
    this.#source.file.close().then(
      () => done(error),
      failure => done(error ?? failure),
    )
  }

  async #next(): Promise<Buffer | null> {
    const { file, range, sizeBytes } = this.#source
    const begin = this.#position
    if (begin > range.end) return null
    const blocksEnd = Math.min(Math.ceil((range.end + 1) / blockBytes) * blockBytes, sizeBytes)
    const bytes = Buffer.allocUnsafeSlow(Math.min(this.#transfers.windowBytes(), this.#growing, blocksEnd - begin))
    this.#growing = Math.min(this.#growing * 2, maxBytes)
    const got = await readFully(file, bytes, begin)
    this.#check(bytes.subarray(0, got), begin, got === bytes.length)
    this.#position += bytes.length
    return bytes.subarray(Math.max(range.start - begin, 0), Math.min(range.end + 1 - begin, bytes.length))
  }

  #check(bytes: Buffer, begin: number, isWhole: boolean): void {
    for (let at = 0; at < bytes.length; at += blockBytes) {
      const block = (begin + at) / blockBytes
      if (crc32(bytes.subarray(at, at + blockBytes)) !== this.#source.sums[block]) throw this.#damaged(begin + at)
    }
    if (!isWhole) throw this.#damaged(begin + bytes.length)
  }

  #damaged(offset: number): CorruptContent {
    return new CorruptContent(undefined, { details: { key: this.#source.key, offset } })
  }
}

/** Throws `Invalid` for a range that is not entirely within that many bytes. */
export function checkRange({ start, end }: ByteRange, sizeBytes: number): void {
  const isInside = Number.isSafeInteger(start) && Number.isSafeInteger(end) && start >= 0 && start <= end && end < sizeBytes
  if (!isInside) throw new Invalid(`The range ${start}-${end} is not inside these ${sizeBytes} bytes`)
}
