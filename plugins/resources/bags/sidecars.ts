import { TooLarge } from 'pounce/sdk'
import { type JsonLimits, parseJson } from 'pounce/sdk/kit'
import type { ReceivedBag } from './received-bag.ts'

/** Limits of `X_info.json`: a few lines, tags and creators. */
export const infoLimits: JsonLimits = { maxBytes: 1024 * 1024, maxDepth: 64, maxMembers: 5000, maxLeaves: 20_000 }
/** Limits of `X_metadata.json`. */
export const metadataLimits: JsonLimits = { maxBytes: 4 * 1024 * 1024, maxDepth: 64, maxMembers: 20_000, maxLeaves: 20_000 }

const maxTotalBytes = 64 * 1024 * 1024
const maxDocuments = 10_000

/**
 * Limits of all descriptions and metadata of one bag in total: they can be compressed a thousandfold, so the size of the archive is no
 * limit.
 */
export class SidecarBudget {
  readonly #maxDocuments: number
  #bytes = 0
  #documents = 0

  /** Each file may have one metadata document in addition. */
  constructor(files: number) {
    this.#maxDocuments = maxDocuments + files
  }

  takeBytes(count: number): void {
    this.#bytes += count
    if (this.#bytes > maxTotalBytes)
      throw new TooLarge(`The descriptions and metadata of a bag must be at most ${maxTotalBytes} bytes of JSON in total`)
  }

  takeDocuments(count: number, path: string): void {
    this.#documents += count
    if (this.#documents > this.#maxDocuments)
      throw new TooLarge(`${path}: a bag of this many files must have at most ${this.#maxDocuments} metadata documents`)
  }
}

/**
 * Reads JSON from a bag with the limits that apply to request bodies; nothing is decompressed before its size is known to be within them.
 */
export const readJson = async (bag: ReceivedBag, path: string, limits: JsonLimits, budget: SidecarBudget): Promise<unknown> => {
  const { maxBytes } = limits
  if (bag.sizeOf(path) > maxBytes) throw new TooLarge(`${path} must be at most ${maxBytes} bytes of JSON`)
  budget.takeBytes(bag.sizeOf(path))
  return parseJson((await bag.text(path, maxBytes)) ?? 'null', limits, path)
}
