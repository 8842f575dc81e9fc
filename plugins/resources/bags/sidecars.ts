import { TooLarge } from 'pounce/sdk'
import { type JsonLimits, parseJson } from 'pounce/sdk/kit'
import { BagDates } from './bag-dates.ts'
import type { ReceivedBag } from './received-bag.ts'

/** Limits of `X_info.json`: a few lines, tags and creators. */
export const infoLimits: JsonLimits = { maxBytes: 1024 * 1024, maxDepth: 64, maxMembers: 5000, maxLeaves: 20_000 }
/** Limits of `X_metadata.json`. */
export const metadataLimits: JsonLimits = { maxBytes: 4 * 1024 * 1024, maxDepth: 64, maxMembers: 20_000, maxLeaves: 20_000 }

const minTotalBytes = 64 * 1024 * 1024
const minDocuments = 10_000
/** The extractors of one file add about four documents of a kilobyte each. */
const perFile = { bytes: 32 * 1024, documents: 25 }

/**
 * The descriptions and metadata in one bag, limited in total: they can be compressed a thousandfold, so the size of the archive is no
 * limit.
 */
export class Sidecars {
  readonly dates = new BagDates()
  readonly #bag: ReceivedBag
  readonly #maxBytes: number
  readonly #maxDocuments: number
  #bytes = 0
  #documents = 0

  constructor(bag: ReceivedBag, files: number) {
    this.#bag = bag
    this.#maxBytes = Math.max(minTotalBytes, files * perFile.bytes)
    this.#maxDocuments = Math.max(minDocuments + files, files * perFile.documents)
  }

  /** Reads JSON with the limits that apply to request bodies; nothing is decompressed before its size is known to be within them. */
  async json(path: string, limits: JsonLimits): Promise<unknown> {
    const { maxBytes } = limits
    const sizeBytes = this.#bag.sizeOf(path)
    if (sizeBytes > maxBytes) throw new TooLarge(`${path} must be at most ${maxBytes} bytes of JSON`)
    this.#bytes += sizeBytes
    if (this.#bytes > this.#maxBytes)
      throw new TooLarge(`The descriptions and metadata of a bag must be at most ${this.#maxBytes} bytes of JSON in total`)
    return parseJson((await this.#bag.text(path, maxBytes)) ?? 'null', limits, path)
  }

  takeDocuments(count: number, path: string): void {
    this.#documents += count
    if (this.#documents > this.#maxDocuments)
      throw new TooLarge(`${path}: a bag of this many files must have at most ${this.#maxDocuments} metadata documents`)
  }
}
