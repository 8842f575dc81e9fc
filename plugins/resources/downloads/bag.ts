import { createHash, hash } from 'node:crypto'
import type { Readable } from 'node:stream'
import { fullNameOf, streamed } from 'pounce/sdk/kit'
import { noteEntry } from './archive-writer.ts'
import type { BagSubject } from './bag-documents.ts'
import type { ZipEntry } from './zip-members.ts'

const inOneLine = (text: string): string => text.replace(/[\s\u0085\u2028\u2029]+/g, ' ').trim()

const units = ['bytes', 'KB', 'MB', 'GB', 'TB', 'PB']

/** Such as `1.5 GB`, in powers of 1,000. */
const humanSize = (bytes: number): string => {
  let size = bytes
  let unit = 0
  for (; size >= 1000 && unit < units.length - 1; unit++) size /= 1000
  return `${unit === 0 ? size : size.toFixed(1)} ${units[unit]}`
}

/** BagIt 0.97, as in v1: later versions require `%` to be written as `%25` in manifests, which widespread validators do not decode. */
const bagitTxt = 'BagIt-Version: 0.97\nTag-File-Character-Encoding: UTF-8\n'

/** The info in `bag-info.txt`. */
interface BagInfo {
  readonly agent: string
  /** `2026-11-21`. */
  readonly day: string
  readonly payloadBytes: number
  readonly payloadFiles: number
}

const bagInfoTxt = ({ record, author, showsEmail }: BagSubject, { agent, day, payloadBytes, payloadFiles }: BagInfo): string => {
  const info: readonly (readonly [string, string])[] = [
    ['Bag-Software-Agent', agent],
    ['Bagging-Date', day],
    ['Bag-Size', humanSize(payloadBytes)],
    ['Payload-Oxum', `${payloadBytes}.${payloadFiles}`],
    ['External-Identifier', record.name],
    ['Internal-Sender-Identifier', record.id],
    ['Internal-Sender-Description', record.description],
    ['Contact-Name', author ? fullNameOf(author) : ''],
    ['Contact-Email', author && showsEmail ? author.email : ''],
  ]
  return info
    .map(([label, value]) => [label, inOneLine(value)])
    .filter(([, value]) => value !== '')
    .map(([label, value]) => `${label}: ${value}\n`)
    .join('')
}

const pieceBytes = 65_536

/** The lines of a BagIt manifest, stored as bytes: a hundred thousand short strings would take several times the memory. */
class Manifest {
  sizeBytes = 0
  readonly #digest = createHash('sha256')
  readonly #pieces: Buffer[] = []
  #lines = ''

  add(path: string, sha256: string): void {
    this.#lines += `${sha256}  ${path}\n`
    if (this.#lines.length >= pieceBytes) this.#keep()
  }

  /** All lines; nothing can be added afterwards. */
  finish(): { readonly sizeBytes: number; readonly sha256: string; open(): Promise<Readable> } {
    this.#keep()
    return { sizeBytes: this.sizeBytes, sha256: this.#digest.digest('hex'), open: async () => streamed(this.#pieces) }
  }

  #keep(): void {
    const piece = Buffer.from(this.#lines)
    this.#lines = ''
    this.#digest.update(piece)
    this.sizeBytes += piece.length
    this.#pieces.push(piece)
  }
}

/** A payload file, whose digest is known before its bytes are read. */
export interface PayloadFile {
  readonly entry: ZipEntry
  /** Hex. */
  readonly sha256: string
}

/** Further tag files, by path. */
export type TagFiles = (payloadBytes: number) => ReadonlyMap<string, string>

export interface BagPlan {
  readonly subject: BagSubject
  readonly info: Pick<BagInfo, 'agent' | 'day'>
  /** The payload in order, in batches; paths begin with `data/`. The entry of a folder has no bytes and a path that ends in a slash. */
  readonly payload: AsyncIterable<readonly (PayloadFile | ZipEntry)[]>
  readonly tagFiles: TagFiles
}

const manifestPath = 'manifest-sha256.txt'

/**
 * The entries of a bag in the order of v1: the payload, `bagit.txt`, `bag-info.txt`, the manifest, further tag files, and the tag manifest.
 * One pass: nothing is read before it is written, because file records contain the SHA-256.
 */
export async function* bagEntries({ subject, info, payload, tagFiles }: BagPlan): AsyncGenerator<readonly ZipEntry[]> {
  const manifest = new Manifest()
  const tagManifest = new Manifest()
  let payloadBytes = 0
  let payloadFiles = 0
  const entryOf = (part: PayloadFile | ZipEntry): ZipEntry => {
    if ('path' in part) return part
    manifest.add(part.entry.path, part.sha256)
    payloadBytes += part.entry.sizeBytes
    payloadFiles += 1
    return part.entry
  }
  for await (const parts of payload) yield parts.map(entryOf)
  const written = new Date()
  const tag = (path: string, bytes: Buffer): ZipEntry => {
    tagManifest.add(path, hash('sha256', bytes))
    return noteEntry(path, bytes, written)
  }
  const bagit = tag('bagit.txt', Buffer.from(bagitTxt))
  const bagInfo = tag('bag-info.txt', Buffer.from(bagInfoTxt(subject, { ...info, payloadBytes, payloadFiles })))
  const { sha256, ...lines } = manifest.finish()
  tagManifest.add(manifestPath, sha256)
  const further = [...tagFiles(payloadBytes)].map(([path, text]) => tag(path, Buffer.from(text)))
  yield [
    bagit,
    bagInfo,
    { path: manifestPath, modified: written, ...lines },
    ...further,
    { path: 'tagmanifest-sha256.txt', modified: written, ...tagManifest.finish() },
  ]
}
