import { createHash, randomBytes } from 'node:crypto'
import { pipeline, Readable, Transform, type TransformCallback } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { BlobStore, type ByteRange, CorruptContent, Invalid, wire, wrapped } from 'pounce/sdk'
import type { BlobEntry, BlobInfo, ObjectAddress, PutOptions, TemporaryUrlOptions } from 'pounce/sdk/store-kit'
import {
  chunkBytes,
  chunksOf,
  contentBytes,
  digestPartBytes,
  type Header,
  headerBytes,
  openChunk,
  openDigest,
  readHeader,
  saltBytes,
  sealChunk,
  sealDigest,
  storedBytes,
  storedChunkBytes,
  writeHeader,
} from './encrypted-format.ts'
import { EncryptionKeys } from './encryption-keys.ts'

/** What is known of a blob in the underlying store; without a key it is not encrypted. */
interface EncryptedBlobInfo {
  readonly key: Buffer
  readonly sizeBytes: number
}

/** Blobs never change, so cached headers stay valid. */
const maxCached = 2000

/**
 * Encrypts what it puts into the underlying store. Existing blobs, and those stored elsewhere, are read unencrypted, so that it can be
 * enabled on an installation with data.
 */
export class EncryptedBlobStore implements BlobStore {
  readonly #blobs: BlobStore
  readonly #keys: EncryptionKeys
  readonly #cached = new Map<string, EncryptedBlobInfo | 'plain'>()

  constructor(blobs: BlobStore, keys: EncryptionKeys) {
    this.#blobs = blobs
    this.#keys = keys
  }

  async put(source: Readable | Uint8Array, options: PutOptions = {}): Promise<BlobInfo> {
    const { signal, sizeBytes } = options
    const keyId = this.#keys.currentId
    const salt = randomBytes(saltBytes)
    const encryption = new Encryption(this.#keys.derive(keyId, salt), writeHeader({ keyId, salt }), options)
    const input = source instanceof Uint8Array ? Readable.from([source], { objectMode: false }) : source
    // An error of the source ends the stream that the store reads, with the same error.
    pipeline(input, encryption, () => undefined)
    const { key } = await this.#blobs.put(encryption, {
      ...(sizeBytes === undefined ? {} : { sizeBytes: storedBytes(sizeBytes) }),
      ...(signal && { signal }),
    })
    return { key, ...encryption.info }
  }

  async get(key: string, range?: ByteRange): Promise<Readable | undefined> {
    const opened = await this.#open(key)
    if (opened === 'plain') return this.#blobs.get(key, range)
    if (!opened) return undefined
    const { sizeBytes } = opened
    const { start, end } = range ?? { start: 0, end: sizeBytes - 1 }
    const isInside = Number.isInteger(start) && Number.isInteger(end) && start >= 0 && start <= end && end < sizeBytes
    if (range && !isInside) throw new Invalid(`The range ${start}-${end} is not within ${sizeBytes} bytes`)
    const first = Math.floor(start / chunkBytes)
    const last = range ? Math.floor(end / chunkBytes) : chunksOf(sizeBytes) - 1
    const storedEnd = Math.min(headerBytes + (last + 1) * storedChunkBytes, storedBytes(sizeBytes) - digestPartBytes) - 1
    const stored = await this.#blobs.get(key, { start: headerBytes + first * storedChunkBytes, end: storedEnd })
    if (!stored) return undefined
    const decryption = new Decryption(opened, { first, last }, { start, end })
    return pipeline(stored, decryption, () => undefined)
  }

  async stat(key: string): Promise<BlobInfo | undefined> {
    const info = await this.#blobs.stat(key)
    const opened = info && (await this.#open(key))
    if (!info || !opened || opened === 'plain') return opened && info
    const digest = await this.#read(key, info.sizeBytes - digestPartBytes, info.sizeBytes)
    return digest && { key, sizeBytes: opened.sizeBytes, sha256: openDigest(opened.key, digest).toString('hex') }
  }

  async remove(key: string): Promise<void> {
    this.#cached.delete(key)
    await this.#blobs.remove(key)
  }

  /** Unencrypted blobs are listed with the length that they would have if encrypted, as no header is read. */
  async *list(): AsyncGenerator<BlobEntry> {
    for await (const entry of this.#blobs.list()) yield { ...entry, sizeBytes: contentBytes(entry.sizeBytes) ?? entry.sizeBytes }
  }

  async localPath(key: string): Promise<string | undefined> {
    return (await this.#open(key)) === 'plain' ? this.#blobs.localPath?.(key) : undefined
  }

  async crc32(key: string): Promise<number | undefined> {
    return (await this.#open(key)) === 'plain' ? this.#blobs.crc32?.(key) : undefined
  }

  async temporaryUrl(key: string, options: TemporaryUrlOptions): Promise<string | undefined> {
    return (await this.#open(key)) === 'plain' ? this.#blobs.temporaryUrl?.(key, options) : undefined
  }

  async objectAddress(key: string): Promise<ObjectAddress | undefined> {
    return (await this.#open(key)) === 'plain' ? this.#blobs.objectAddress?.(key) : undefined
  }

  liesElsewhere(key: string): boolean {
    return this.#blobs.liesElsewhere?.(key) ?? false
  }

  /** Undefined when the blob is absent. */
  async #open(key: string): Promise<EncryptedBlobInfo | 'plain' | undefined> {
    if (this.liesElsewhere(key)) return 'plain'
    const known = this.#cached.get(key)
    if (known) return known
    const info = await this.#blobs.stat(key)
    if (!info) return undefined
    const bytes = info.sizeBytes < headerBytes ? undefined : await this.#read(key, 0, headerBytes)
    const header = bytes && readHeader(bytes)
    const opened = header ? this.#opened(header, info.sizeBytes) : 'plain'
    this.#cache(key, opened)
    return opened
  }

  #opened({ keyId, salt }: Header, stored: number): EncryptedBlobInfo {
    const sizeBytes = contentBytes(stored)
    if (sizeBytes === undefined) throw new CorruptContent()
    return { key: this.#keys.derive(keyId, salt), sizeBytes }
  }

  #cache(key: string, opened: EncryptedBlobInfo | 'plain'): void {
    this.#cached.set(key, opened)
    for (const oldest of this.#cached.keys()) {
      if (this.#cached.size <= maxCached) return
      this.#cached.delete(oldest)
    }
  }

  async #read(key: string, start: number, end: number): Promise<Buffer | undefined> {
    const stream = await this.#blobs.get(key, { start, end: end - 1 })
    return stream && buffer(stream)
  }
}
wire(EncryptedBlobStore, wrapped(BlobStore), EncryptionKeys)

/** Collects pieces of any length into chunks of equal length. */
class Chunks {
  readonly #length: number
  #pieces: Buffer[] = []
  #collected = 0

  constructor(length: number) {
    this.#length = length
  }

  /** The complete chunks except the last one: at least one byte is kept. */
  *add(piece: Buffer): Generator<Buffer> {
    let at = 0
    while (this.#collected + piece.length - at > this.#length) {
      const end = at + this.#length - this.#collected
      this.#pieces.push(piece.subarray(at, end))
      yield this.rest()
      at = end
    }
    this.#pieces.push(piece.subarray(at))
    this.#collected += piece.length - at
  }

  /** The rest. */
  rest(): Buffer {
    const [only, ...more] = this.#pieces
    const all = only && more.length === 0 ? only : Buffer.concat(this.#pieces)
    this.#pieces = []
    this.#collected = 0
    return all
  }
}

const failure = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)))

class Encryption extends Transform {
  readonly #key: Buffer
  readonly #expected: PutOptions
  readonly #hash = createHash('sha256')
  readonly #chunks = new Chunks(chunkBytes)
  #number = 0
  #sizeBytes = 0
  #sha256 = ''

  constructor(key: Buffer, header: Buffer, expected: PutOptions) {
    super()
    this.#key = key
    this.#expected = expected
    this.push(header)
  }

  /** Length and digest of the content, once all of it has been read. */
  get info(): Pick<BlobInfo, 'sizeBytes' | 'sha256'> {
    return { sizeBytes: this.#sizeBytes, sha256: this.#sha256 }
  }

  override _transform(piece: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    try {
      this.#sizeBytes += piece.length
      this.#requireSize(this.#sizeBytes > (this.#expected.sizeBytes ?? Number.POSITIVE_INFINITY))
      this.#hash.update(piece)
      for (const chunk of this.#chunks.add(piece)) this.#seal(chunk, false)
      done()
    } catch (error) {
      done(failure(error))
    }
  }

  override _flush(done: TransformCallback): void {
    try {
      const digest = this.#hash.digest()
      this.#sha256 = digest.toString('hex')
      this.#requireSize(this.#sizeBytes !== (this.#expected.sizeBytes ?? this.#sizeBytes))
      const { sha256 = this.#sha256 } = this.#expected
      if (this.#sha256 !== sha256) throw new Invalid(`The bytes have the SHA-256 ${this.#sha256}, not ${sha256}`)
      this.#seal(this.#chunks.rest(), true)
      for (const part of sealDigest(this.#key, digest)) this.push(part)
      done()
    } catch (error) {
      done(failure(error))
    }
  }

  #seal(chunk: Buffer, isLast: boolean): void {
    for (const part of sealChunk(this.#key, this.#number++, isLast, chunk)) this.push(part)
  }

  #requireSize(isWrong: boolean): void {
    if (isWrong) throw new Invalid(`Expected ${this.#expected.sizeBytes} bytes, but there were ${this.#sizeBytes}`)
  }
}

/** Decrypts stored chunks, and passes on the requested range of the content. */
class Decryption extends Transform {
  readonly #opened: EncryptedBlobInfo
  readonly #part: ByteRange
  readonly #chunks = new Chunks(storedChunkBytes)
  readonly #last: number
  #number: number

  constructor(opened: EncryptedBlobInfo, { first, last }: { readonly first: number; readonly last: number }, part: ByteRange) {
    super()
    this.#opened = opened
    this.#number = first
    this.#last = last
    this.#part = part
  }

  override _transform(piece: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    try {
      for (const chunk of this.#chunks.add(piece)) this.#decrypt(chunk)
      done()
    } catch (error) {
      done(failure(error))
    }
  }

  override _flush(done: TransformCallback): void {
    try {
      this.#decrypt(this.#chunks.rest())
      done(this.#number > this.#last ? undefined : new CorruptContent())
    } catch (error) {
      done(failure(error))
    }
  }

  #decrypt(sealed: Buffer): void {
    const { key, sizeBytes } = this.#opened
    const plain = openChunk(key, this.#number, this.#number === chunksOf(sizeBytes) - 1, sealed)
    const before = this.#number * chunkBytes
    const part = plain.subarray(Math.max(0, this.#part.start - before), Math.max(0, this.#part.end + 1 - before))
    if (part.length > 0) this.push(part)
    this.#number += 1
  }
}
