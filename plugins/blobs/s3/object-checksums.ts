import { CorruptContent } from 'pounce/sdk'
import type { BucketObjects } from './bucket-objects.ts'
import { decodeSums } from './s3-block-checksums.ts'
import { headerBytes } from './sums-file.ts'

/** Tells the checksum of a block. */
export interface SumsSource {
  sumOf(block: number): Promise<number>
}

/** Sums that came with the object itself. */
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

/** Sums in the object beside a blob, read 4,096 at a time: 256 MiB of the blob and more. */
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

  /** Begins to read, so that the sums are there when the bytes are. */
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
