import { TooLarge } from 'pounce/sdk'
import { type JsonLimits, parseJson } from 'pounce/sdk/kit'
import { BagDates } from './bag-dates.ts'
import type { ReceivedBag } from './received-bag.ts'

/** Limits of `X_info.json`: a few lines, tags and creators. */
export const infoLimits: JsonLimits = { maxBytes: 1024 * 1024, maxDepth: 64, maxMembers: 5000, maxLeaves: 20_000 }
/** Limits of `X_metadata.json`. */
export const metadataLimits: JsonLimits = { maxBytes: 4 * 1024 * 1024, maxDepth: 64, maxMembers: 20_000, maxLeaves: 20_000 }

const maxTotalBytes = 64 * 1024 * 1024
const maxDocuments = 10_000

/**
 * The descriptions and metadata in one bag, limited in total: they can be compressed a thousandfold, so the size of the archive is no
 * limit.
 */
export class Sidecars {
  readonly dates = new BagDates()
  readonly #bag: ReceivedBag
  readonly #maxDocuments: number
  #bytes = 0
  #documents = 0

  /** Each file may have one metadata document in addition. */
  constructor(bag: ReceivedBag, files: number) {
    this.#bag = bag
    this.#maxDocuments = maxDocuments + files
  }

  /** Reads JSON with the limits that apply to request bodies; nothing is decompressed before its size is known to be within them. */
  async json(path: string, limits: JsonLimits): Promise<unknown> {
    const { maxBytes } = limits
    const sizeBytes = this.#bag.sizeOf(path)
    if (sizeBytes > maxBytes) throw new TooLarge(`${path} must be at most ${maxBytes} bytes of JSON`)
    this.#bytes += sizeBytes
    if (this.#bytes > maxTotalBytes)
      throw new TooLarge(`The descriptions and metadata of a bag must be at most ${maxTotalBytes} bytes of JSON in total`)
    return parseJson((await this.#bag.text(path, maxBytes)) ?? 'null', limits, path)
  }

  takeDocuments(count: number, path: string): void {
    this.#documents += count
    if (this.#documents > this.#maxDocuments)
      throw new TooLarge(`${path}: a bag of this many files must have at most ${this.#maxDocuments} metadata documents`)
  }
}
