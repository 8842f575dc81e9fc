import { crc32 } from 'node:zlib'
import { CorruptContent } from 'pounce/sdk'
import type { BucketObjects } from './bucket-objects.ts'
import { decodeSums, encodeSums } from './s3-block-checksums.ts'

const magic = 'pounce-1'

/** Header size in bytes. */
export const headerBytes = 64

/** The header's description of the blob. */
interface SumsHeader {
  readonly sizeBytes: number
  /** Hex. */
  readonly sha256: string
}

/** The object beside a blob made from parts: magic, length, SHA-256 and their CRC-32 in 64 bytes, then the sums of all blocks. */
export function encodeSumsFile({ sizeBytes, sha256 }: SumsHeader, sums: Uint32Array): Buffer {
  const header = Buffer.alloc(headerBytes)
  header.write(magic, 'latin1')
  header.writeBigUInt64LE(BigInt(sizeBytes), 8)
  header.write(sha256, 16, 'hex')
  header.writeUInt32LE(crc32(header.subarray(0, 48)), 48)
  return Buffer.concat([header, encodeSums(sums)])
}

/** Undefined when this is not a valid header. */
export function decodeSumsHeader(bytes: Buffer): SumsHeader | undefined {
  if (bytes.length < headerBytes || bytes.toString('latin1', 0, 8) !== magic) return undefined
  if (crc32(bytes.subarray(0, 48)) !== bytes.readUInt32LE(48)) return undefined
  return { sizeBytes: Number(bytes.readBigUInt64LE(8)), sha256: bytes.toString('hex', 16, 48) }
}

/** Returns the checksum of a block. */
export interface SumsSource {
  sumOf(block: number): Promise<number>
}

/** Checksums stored with the object itself. */
export class EmbeddedChecksums implements SumsSource {
  readonly #sums: Uint32Array
  readonly #key: string

  constructor(sums: Uint32Array, key: string) {
    this.#sums = sums
    this.#key = key
  }

  async sumOf(block: number): Promise<number> {
    return this.#sums[block] ?? noSum(this.#key, block)
  }
}

const sliceSums = 4096

/** Checksums in a separate object, read 4,096 at a time: 256 MiB of the blob and more. */
export class SidecarChecksums implements SumsSource {
  readonly #objects: BucketObjects
  readonly #name: string
  readonly #key: string
  #slice: { readonly first: number; readonly sums: Promise<Uint32Array> } | undefined

  constructor(objects: BucketObjects, name: string, key: string) {
    this.#objects = objects
    this.#name = name
    this.#key = key
  }

  /** Starts to read, so that the checksums are there when the bytes arrive. */
  prepare(block: number): void {
    this.#sliceOf(block).catch(() => undefined)
  }

  async sumOf(block: number): Promise<number> {
    const sums = await this.#sliceOf(block)
    return sums[block % sliceSums] ?? noSum(this.#key, block)
  }

  #sliceOf(block: number): Promise<Uint32Array> {
    const first = block - (block % sliceSums)
    if (this.#slice?.first !== first) this.#slice = { first, sums: this.#read(first) }
    return this.#slice.sums
  }

  async #read(first: number): Promise<Uint32Array> {
    const begin = headerBytes + first * 4
    const bytes = await this.#objects.read(this.#name, { begin, last: begin + sliceSums * 4 - 1 })
    return bytes ? decodeSums(bytes) : noSum(this.#key, first)
  }
}

function noSum(key: string, block: number): never {
  throw new CorruptContent('The checksums of the stored bytes are missing', { details: { key, block } })
}
