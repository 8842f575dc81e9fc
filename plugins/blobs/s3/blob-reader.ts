import type { Readable } from 'node:stream'
import { type ByteRange, CorruptContent, Invalid, Unavailable } from 'pounce/sdk'
import type { BlobInfo } from 'pounce/sdk/store-kit'
import type { BucketObjects, OffsetRange, OpenObject } from './bucket-objects.ts'
import { CheckedBody } from './checked-body.ts'
import { blockAt, type ParsedKey, parseKey, sumsNameOf } from './layout.ts'
import { decodeSumsHeader, EmbeddedChecksums, headerBytes, SidecarChecksums, type SumsSource } from './object-checksums.ts'
import { decodeSums } from './s3-block-checksums.ts'

/** Reads blobs, and delivers only verified bytes. */
export class BlobReader {
  readonly #objects: BucketObjects

  constructor(objects: BucketObjects) {
    this.#objects = objects
  }

  async get(text: string, range?: ByteRange): Promise<Readable | undefined> {
    const key = parseKey(text)
    if (!key) return undefined
    const stretch = range && wholeBlocks(range)
    const stored = key.shape === 'p' ? new SidecarChecksums(this.#objects, sumsNameOf(key), text) : undefined
    stored?.prepare(blockAt(range?.start ?? 0).index)
    const object = await this.#objects.open(text, stretch)
    if (!object) return undefined
    try {
      return this.#check(text, object, stored ?? sumsOf(text, object.metadata), range)
    } catch (error) {
      object.body.destroy()
      throw error
    }
  }

  async stat(text: string): Promise<BlobInfo | undefined> {
    const key = parseKey(text)
    if (!key) return undefined
    const [object, header] = await Promise.all([this.#objects.head(text), key.shape === 'p' ? this.#header(key) : undefined])
    if (!object) return undefined
    const sha256 = header ? header.sha256 : object.metadata['sha256']
    const isRight = /^[0-9a-f]{64}$/.test(sha256 ?? '') && (header === undefined || header.sizeBytes === object.totalBytes)
    if (sha256 === undefined || !isRight || (key.shape === 'p' && !header)) throw damaged(text)
    return { key: text, sizeBytes: object.totalBytes, sha256 }
  }

  #check(key: string, object: OpenObject, sums: SumsSource, range?: ByteRange): Readable {
    const { totalBytes, body } = object
    if (range && range.end >= totalBytes) throw new Invalid(`The range must lie within the ${totalBytes} bytes`)
    const { start, end } = range ?? { start: 0, end: totalBytes - 1 }
    const reopen = async (begin: number): Promise<Readable> => {
      const again = await this.#objects.open(key, { begin, ...(range ? { last: lastOf(range) } : {}) })
      if (!again) throw new Unavailable('The bytes were deleted while they were read')
      return again.body
    }
    return new CheckedBody({ key, body, reopen, sums, totalBytes, start, end })
  }

  async #header(key: ParsedKey) {
    const bytes = await this.#objects.read(sumsNameOf(key), { begin: 0, last: headerBytes - 1 })
    return bytes && decodeSumsHeader(bytes)
  }
}

const lastOf = ({ end }: ByteRange): number => blockAt(end).end - 1

function wholeBlocks(range: ByteRange): OffsetRange {
  const { start, end } = range
  if (!Number.isSafeInteger(start) || !Number.isSafeInteger(end) || start < 0 || end < start)
    throw new Invalid('A range has a first and a last byte, the last not before the first')
  return { begin: blockAt(start).begin, last: lastOf(range) }
}

function sumsOf(key: string, { sums, sha256 }: OpenObject['metadata']): SumsSource {
  if (sums === undefined && sha256 === undefined) throw damaged(key)
  return new EmbeddedChecksums(decodeSums(Buffer.from(sums ?? '', 'base64')), key)
}

const damaged = (key: string): CorruptContent => new CorruptContent('The metadata of the stored bytes is damaged', { details: { key } })
