import { createHash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import { readFully } from './disk.ts'

/** Block size of the checksums: a range or a slow reader needs no more than this in memory. */
export const blockBytes = 64 * 1024

/** Number of blocks for a length in bytes. */
export const blocksOf = (sizeBytes: number): number => Math.ceil(sizeBytes / blockBytes)

/** CRC-32 of each block of a byte stream in pieces of any length. */
export class DiskBlockChecksums {
  readonly #sums: number[] = []
  #current = 0
  #filled = 0

  update(piece: Uint8Array): void {
    let rest = piece
    while (rest.length > 0) {
      const part = rest.subarray(0, blockBytes - this.#filled)
      this.#current = crc32(part, this.#current)
      this.#filled += part.length
      rest = rest.subarray(part.length)
      if (this.#filled === blockBytes) this.#endBlock()
    }
  }

  /** The sums of all blocks, the last of which may be short. */
  finish(): Uint32Array {
    if (this.#filled > 0) this.#endBlock()
    return Uint32Array.from(this.#sums)
  }

  #endBlock(): void {
    this.#sums.push(this.#current)
    this.#current = 0
    this.#filled = 0
  }
}

/** The checksums as a file: four bytes each, little endian, then the CRC-32 of all of them. */
export function encodeSums(sums: Uint32Array): Buffer {
  const bytes = Buffer.alloc(sums.length * 4 + 4)
  sums.forEach((sum, at) => {
    bytes.writeUInt32LE(sum, at * 4)
  })
  bytes.writeUInt32LE(crc32(bytes.subarray(0, -4)), sums.length * 4)
  return bytes
}

/** Undefined when this is not an intact file with that many checksums. */
export function decodeSums(bytes: Buffer, count: number): Uint32Array | undefined {
  if (bytes.length !== count * 4 + 4 || crc32(bytes.subarray(0, -4)) !== bytes.readUInt32LE(count * 4)) return undefined
  return Uint32Array.from({ length: count }, (_, at) => bytes.readUInt32LE(at * 4))
}

/** Computes the checksums of a file from its bytes; undefined when these do not match the SHA-256. */
export async function recomputeSums(file: FileHandle, sizeBytes: number, sha256: string): Promise<Uint32Array | undefined> {
  const whole = createHash('sha256')
  const sums = new DiskBlockChecksums()
  const buffer = Buffer.allocUnsafe(16 * blockBytes)
  let position = 0
  for (;;) {
    const left = Math.min(buffer.length, sizeBytes - position)
    const piece = buffer.subarray(0, await readFully(file, buffer.subarray(0, left), position))
    if (piece.length === 0) break
    whole.update(piece)
    sums.update(piece)
    position += piece.length
  }
  return whole.digest('hex') === sha256 ? sums.finish() : undefined
}

/** The CRC-32 polynomial, bit-reversed, as in `zlib.crc32`. */
const polynomial = 0xedb88320

const one = 0x80000000

/** The product of two polynomials, modulo that of the CRC. */
const times = (a: number, b: number): number => {
  let product = 0
  let factor = b
  for (let bit = one; bit !== 0; bit >>>= 1) {
    if ((a & bit) !== 0) product ^= factor
    factor = (factor & 1) === 0 ? factor >>> 1 : (factor >>> 1) ^ polynomial
  }
  return product >>> 0
}

/** The factor of a CRC that is followed by this many bytes: x to the power of 8 for each of them. */
const shiftOf = (bytes: number): number => {
  let shift = one
  // x itself, then its powers of 2, 4, 8 …; there are eight bits to a byte.
  let power = 0x40000000
  for (let left = bytes * 8; left > 0; left = Math.floor(left / 2)) {
    if (left % 2 === 1) shift = times(power, shift)
    power = times(power, power)
  }
  return shift
}

const wholeBlock = shiftOf(blockBytes)

/** The CRC-32 of the whole, combined from those of its blocks: equals `zlib.crc32` of all bytes. */
export const combinedCrc = (sums: Uint32Array, sizeBytes: number): number => {
  let crc = 0
  for (const [at, sum] of sums.entries()) {
    const isLast = at === sums.length - 1
    crc = (times(isLast ? shiftOf(sizeBytes - at * blockBytes) : wholeBlock, crc) ^ sum) >>> 0
  }
  return crc
}
