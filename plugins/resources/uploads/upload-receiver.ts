import { createHash } from 'node:crypto'
import type { Readable } from 'node:stream'
import {
  and,
  Conflict,
  type Contributions,
  eq,
  FileIngest,
  Ids,
  ProgressListeners,
  type SentBytes,
  type Stored,
  TooLarge,
  wire,
} from 'pounce/sdk'
import type { ProgressListener } from 'pounce/sdk/kit'
import type { BlobInfo } from 'pounce/sdk/store-kit'
import type { PartRecord, UploadRecord } from './collections.ts'
import { Config, type Settings } from './config.ts'
import { reportUpload, StoredUploads } from './open-uploads.ts'
import { StoredParts } from './parts.ts'
import { ChecksumMismatch } from './problems.ts'
import { maxPieceMs, StreamSplitter } from './stream-splitter.ts'
import type { Checksum } from './tus-headers.ts'

type Upload = UploadRecord & Stored
type Part = PartRecord & Stored

/** More parts than this would make completion slow; a client that sends such small parts gets an error. */
const maxParts = 50_000

/**
 * Appends bytes to uploads. Bytes are durable before they count, and count as soon as they are durable, regardless of the outcome of the
 * rest.
 */
export class UploadReceiver {
  readonly #partBytes: number
  readonly #uploads: StoredUploads
  readonly #parts: StoredParts
  readonly #ingest: FileIngest
  readonly #ids: Ids
  readonly #progress: Contributions<ProgressListener>

  constructor(
    { partBytes }: Settings,
    uploads: StoredUploads,
    parts: StoredParts,
    ingest: FileIngest,
    ids: Ids,
    progress: Contributions<ProgressListener>,
  ) {
    this.#partBytes = partBytes
    this.#uploads = uploads
    this.#parts = parts
    this.#ingest = ingest
    this.#ids = ids
    this.#progress = progress
  }

  /**
   * Resolves to the upload with all bytes of the body. Rejects when some did not arrive (those that did count), and keeps none when they do
   * not match an announced checksum. Of two concurrent requests the later one continues, and the other ends with `UploadLocked`; throws
   * `NotFound` when the upload is deleted meanwhile.
   */
  async append(upload: Upload, offset: number, body: SentBytes, checksum: Checksum | undefined): Promise<Upload> {
    if (offset !== upload.receivedBytes || upload.state !== 'open') {
      throw new Conflict(`This upload has ${upload.receivedBytes} of ${upload.lengthBytes} bytes: continue from there`, {
        details: { offset: upload.receivedBytes },
      })
    }
    const room = upload.lengthBytes - offset
    if ((body.sizeBytes ?? 0) > room) throw tooLong(upload)
    if (upload.partCount >= maxParts) throw new TooLarge(`An upload must have at most ${maxParts} parts: send larger parts`)
    const writer = this.#ids.next()
    const mine = await this.#uploads.change(upload.id, eq('receivedBytes', offset), { set: { writer } })
    if (!mine) throw await this.#uploads.conflictOf(upload)
    const source = body.open()
    try {
      return checksum ? await this.#takeChecked(mine, source, checksum) : await this.#take(mine, source)
    } finally {
      source.destroy()
    }
  }

  #take(upload: Upload, source: Readable): Promise<Upload> {
    const putGrowing = this.#parts.putGrowing
    return putGrowing ? this.#takeWhole(upload, source, putGrowing) : this.#takeInParts(upload, source)
  }

  /** As one growing part, so that nothing has to be joined when no other request appends to the upload. */
  async #takeWhole(upload: Upload, source: Readable, putGrowing: NonNullable<StoredParts['putGrowing']>): Promise<Upload> {
    const { POSITIVE_INFINITY: unbounded } = Number
    const pieces = new StreamSplitter(source, unbounded, counting(upload), unbounded)
    let now = upload
    let before: Part | undefined
    const grow = async (bytes: BlobInfo): Promise<void> => {
      const part = await this.#keep(now, bytes, upload.receivedBytes, upload.tail)
      now = await this.#count(now, [part], before ? 0 : 1)
      if (before) await this.#parts.drop(before)
      before = part
    }
    // The complete part counts only under its own key: a prefix that completed the upload would become the file, and then be deleted in
    // favour of the complete part.
    const keep = async (beginning: BlobInfo): Promise<void> => {
      if (upload.receivedBytes + beginning.sizeBytes < upload.lengthBytes) return await grow(beginning)
      await using _ = this.#ingest.stage(beginning)
    }
    // While a prefix becomes durable, as much again may arrive: together they are at most one part.
    const growth = { everyBytes: this.#partBytes / 2, everyMs: maxPieceMs, keep }
    const piece = await pieces.next()
    if (piece) await grow(await putGrowing(piece, growth))
    if (pieces.fault) throw pieces.fault
    return now
  }

  async #takeInParts(upload: Upload, source: Readable): Promise<Upload> {
    const pieces = new StreamSplitter(source, this.#partBytes, counting(upload))
    let now = upload
    for (let piece = await pieces.next(); piece; piece = await pieces.next()) {
      const part = await this.#store(now, piece, now.receivedBytes, now.tail)
      now = await this.#count(now, [part])
    }
    if (pieces.fault) throw pieces.fault
    return now
  }

  /** Nothing counts before all of it was verified. */
  async #takeChecked(upload: Upload, source: Readable, { algorithm, value }: Checksum): Promise<Upload> {
    const hash = createHash(algorithm)
    const count = counting(upload)
    const pieces = new StreamSplitter(source, this.#partBytes, chunk => {
      count(chunk)
      hash.update(chunk)
    })
    const added: Part[] = []
    try {
      for (let piece = await pieces.next(); piece; piece = await pieces.next()) {
        const last = added.at(-1)
        const start = last ? last.startByte + last.sizeBytes : upload.receivedBytes
        added.push(await this.#store(upload, piece, start, last?.id ?? upload.tail))
      }
      if (pieces.fault) throw pieces.fault
      if (hash.digest('base64') !== value) throw new ChecksumMismatch()
    } catch (error) {
      for (const part of added) await this.#parts.drop(part)
      throw error
    }
    return added.length === 0 ? upload : this.#count(upload, added)
  }

  async #store(upload: Upload, piece: Readable, startByte: number, previous: string | null): Promise<Part> {
    await using staged = await this.#ingest.receive(piece)
    return await staged.commit(() => this.#parts.add(upload.id, startByte, staged.bytes, previous))
  }

  async #keep(upload: Upload, bytes: BlobInfo, startByte: number, previous: string | null): Promise<Part> {
    await using staged = this.#ingest.stage(bytes)
    return await staged.commit(() => this.#parts.add(upload.id, startByte, bytes, previous))
  }

  async #count(upload: Upload, added: readonly Part[], newParts = added.length): Promise<Upload> {
    const last = added.at(-1)
    if (!last) return upload
    const stillMine = and(eq('writer', upload.writer), eq('receivedBytes', upload.receivedBytes))
    const counted = await this.#uploads.change(upload.id, stillMine, {
      set: { receivedBytes: last.startByte + last.sizeBytes, tail: last.id, expires: this.#uploads.nextExpiry },
      inc: { partCount: newParts },
    })
    if (counted) {
      reportUpload(this.#progress, counted, 'running')
      return counted
    }
    for (const part of added) await this.#parts.drop(part)
    throw await this.#uploads.conflictOf(upload)
  }
}
wire(UploadReceiver, Config, StoredUploads, StoredParts, FileIngest, Ids, ProgressListeners)

const tooLong = ({ lengthBytes }: Upload): TooLarge => new TooLarge(`The upload exceeds the ${lengthBytes} bytes of Upload-Length`)

/** Fails when more bytes arrive than the upload has left, so that nothing of their piece is kept. */
const counting = (upload: Upload): ((chunk: Buffer) => void) => {
  let left = upload.lengthBytes - upload.receivedBytes
  return chunk => {
    left -= chunk.length
    if (left < 0) throw tooLong(upload)
  }
}
