import { TooLarge } from 'pounce/sdk'
import { endOfJsonValue, type JsonLimits, parseJson } from 'pounce/sdk/kit'
import { BagDates } from './bag-dates.ts'
import type { ReceivedBag } from './received-bag.ts'

/** Limits of `X_info.json`: a few lines, tags and creators. */
export const infoLimits: JsonLimits = { maxBytes: 1024 * 1024, maxDepth: 64, maxMembers: 5000, maxLeaves: 20_000 }
/** Limits of `folder-names.json`, and of a document in `X_metadata.json`. */
export const metadataLimits: JsonLimits = { maxBytes: 4 * 1024 * 1024, maxDepth: 64, maxMembers: 20_000, maxLeaves: 20_000 }

/** `X_metadata.json` as a list. */
const maxListBytes = 16 * 1024 * 1024
const minTotalBytes = 64 * 1024 * 1024
const minDocuments = 10_000
/** The extractors of one file add about four documents of a kilobyte each. */
const perFile = { bytes: 32 * 1024, documents: 25 }

const blanks = /[ \t\r\n]*/y

const afterBlanks = (text: string, from: number): number => {
  blanks.lastIndex = from
  return from + (blanks.exec(text)?.[0].length ?? 0)
}

/** The items of a JSON list, at most one more than `maxItems`; undefined if the text is something else, or malformed between its items. */
const itemsOf = (text: string, maxItems: number): readonly string[] | undefined => {
  let at = afterBlanks(text, 0)
  if (text[at] !== '[') return undefined
  const items: string[] = []
  const first = afterBlanks(text, at + 1)
  if (text[first] === ']') at = first
  else
    do {
      const from = afterBlanks(text, at + 1)
      const end = endOfJsonValue(text, from)
      if (end <= from) return undefined
      if (items.push(text.slice(from, end)) > maxItems) return items
      at = afterBlanks(text, end)
    } while (text[at] === ',')
  return text[at] === ']' && afterBlanks(text, at + 1) === text.length ? items : undefined
}

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

  /** Reads JSON with the limits that apply to request bodies. */
  async json(path: string, limits: JsonLimits): Promise<unknown> {
    return parseJson(await this.#text(path, limits.maxBytes), limits, path)
  }

  /** The metadata documents in a file that contains one document or a list of them, last first. Each is parsed when it is reached. */
  async *documents(path: string): AsyncGenerator<unknown> {
    const text = await this.#text(path, maxListBytes)
    const documents = itemsOf(text, this.#maxDocuments) ?? [text]
    this.#documents += documents.length
    if (this.#documents > this.#maxDocuments)
      throw new TooLarge(`${path}: a bag of this many files must have at most ${this.#maxDocuments} metadata documents`)
    for (const document of documents.toReversed()) yield parseJson(document, metadataLimits, path)
  }

  /** Nothing is decompressed before its size is known to be within the limits. */
  async #text(path: string, maxBytes: number): Promise<string> {
    const sizeBytes = this.#bag.sizeOf(path)
    if (sizeBytes > maxBytes) throw new TooLarge(`${path} must be at most ${maxBytes} bytes of JSON`)
    this.#bytes += sizeBytes
    if (this.#bytes > this.#maxBytes)
      throw new TooLarge(`The descriptions and metadata of a bag must be at most ${this.#maxBytes} bytes of JSON in total`)
    return (await this.#bag.text(path, maxBytes)) ?? 'null'
  }
}
