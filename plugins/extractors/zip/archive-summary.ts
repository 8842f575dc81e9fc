import { hash } from 'node:crypto'
import type { Entry } from 'yauzl'
import { getFileNameLowLevel, validateFileName } from 'yauzl'

const maxProblems = 20
const maxKinds = 20
const maxNameLength = 500
const bombRatio = 100
const bombBytes = 100 << 20
const unixTypes = { link: 0o120000, mask: 0o170000 }

/** One line of a listing. */
export interface ListedEntry {
  /** Without control and direction characters; at most 500 characters. */
  readonly name: string
  readonly sizeBytes: number
  readonly modified: Date
}

/** Summarizes the directory of an archive, entry by entry, with memory for one short key per entry. All sizes are as declared by the archive. */
export class ArchiveSummary {
  #files = 0
  #folders = 0
  #uncompressedBytes = 0
  #compressedBytes = 0
  #encrypted = 0
  #newest = 0
  #kinds = new Map<string, number>()
  #seen = new Set<string>()
  #problems: string[] = []
  #problemCount = 0

  add(entry: Entry): ListedEntry {
    const raw = getFileNameLowLevel(entry.generalPurposeBitFlag, entry.fileNameRaw, entry.extraFields, false)
    const listed = { name: printable(raw), sizeBytes: entry.uncompressedSize, modified: entry.getLastModDate({ timezone: 'UTC' }) }
    if (raw.endsWith('/')) this.#folders++
    else this.#addFile(listed.name)
    this.#uncompressedBytes += entry.uncompressedSize
    this.#compressedBytes += entry.compressedSize
    this.#newest = Math.max(this.#newest, listed.modified.getTime() || 0)
    if (entry.isEncrypted()) this.#encrypted++
    this.#check(entry, raw, listed.name)
    return listed
  }

  #addFile(name: string): void {
    this.#files++
    const kind = /\.([A-Za-z0-9_-]{1,15})$/.exec(name)?.[1]?.toLowerCase() ?? 'none'
    if (this.#kinds.size < 10_000 || this.#kinds.has(kind)) this.#kinds.set(kind, (this.#kinds.get(kind) ?? 0) + 1)
  }

  #check(entry: Entry, raw: string, name: string): void {
    const key = hash('md5', entry.fileNameRaw, 'base64')
    if (this.#seen.has(key)) this.#warn(`${name}: several entries have this name`)
    this.#seen.add(key)
    if (validateFileName(raw) !== null) this.#warn(`${name}: the path leads outside the target folder`)
    else if (printable(raw) !== raw) this.#warn(`${name}: the name contains invisible characters or is very long`)
    if (((entry.externalFileAttributes >>> 16) & unixTypes.mask) === unixTypes.link) this.#warn(`${name}: the entry is a symbolic link`)
    if (entry.uncompressedSize > bombBytes && entry.uncompressedSize > entry.compressedSize * bombRatio) {
      this.#warn(`${name}: declares an unpacked size of more than ${bombRatio} times its packed size`)
    }
  }

  #warn(problem: string): void {
    this.#problemCount++
    if (this.#problems.length < maxProblems) this.#problems.push(problem)
  }

  /** The summary as metadata; `fileBytes` is the archive's actual size. */
  metadata(fileBytes: number): Record<string, unknown> {
    if (this.#compressedBytes > fileBytes) this.#warn('the entries declare more compressed bytes than the archive contains')
    const kinds = [...this.#kinds].sort(([, a], [, b]) => b - a).slice(0, maxKinds)
    return {
      files: this.#files,
      folders: this.#folders,
      uncompressedBytes: this.#uncompressedBytes,
      compressedBytes: this.#compressedBytes,
      ...(this.#compressedBytes > 0 && { compressionRatio: Math.round((100 * this.#uncompressedBytes) / this.#compressedBytes) / 100 }),
      ...(this.#newest > 0 && { newestEntry: new Date(this.#newest).toISOString() }),
      ...(kinds.length > 0 && { kinds: kinds.map(([extension, files]) => ({ extension, files })) }),
      ...(this.#encrypted > 0 && { encryptedEntries: this.#encrypted }),
      ...(this.#problemCount > 0 && { problemCount: this.#problemCount, problems: this.#problems }),
    }
  }
}

/** Text from an archive, safe for display: control characters, and those that change the text direction, become U+FFFD. */
export const printable = (text: string): string =>
  text
    .slice(0, maxNameLength)
    .replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, '\ufffd')
    .toWellFormed()
