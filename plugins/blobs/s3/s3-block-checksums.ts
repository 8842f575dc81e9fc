import { crc32 } from 'node:zlib'
import { type Block, blockAt } from './layout.ts'

/** CRC-32 of each block of bytes that come in pieces of any length. */
export class S3BlockChecksums {
  readonly #sums: number[] = []
  #block: Block = blockAt(0)
  #offset = 0
  #current = 0

  update(piece: Uint8Array): void {
    let rest = piece
    while (rest.length > 0) {
      const part = rest.subarray(0, this.#block.end - this.#offset)
      this.#current = crc32(part, this.#current)
      this.#offset += part.length
      rest = rest.subarray(part.length)
      if (this.#offset === this.#block.end) this.#endBlock()
    }
  }

  /** The sums of all blocks, the last of which may be short. */
  finish(): Uint32Array {
    if (this.#offset > this.#block.begin) this.#endBlock()
    return Uint32Array.from(this.#sums)
  }

  #endBlock(): void {
    this.#sums.push(this.#current)
    this.#current = 0
    this.#block = blockAt(this.#offset)
  }
}

/** Four bytes each, little end first. */
export function encodeSums(sums: Uint32Array): Buffer {
  const bytes = Buffer.allocUnsafe(sums.length * 4)
  sums.forEach((sum, at) => {
    bytes.writeUInt32LE(sum, at * 4)
  })
  return bytes
}

export const decodeSums = (bytes: Buffer): Uint32Array =>
  Uint32Array.from({ length: Math.floor(bytes.length / 4) }, (_, at) => bytes.readUInt32LE(at * 4))
