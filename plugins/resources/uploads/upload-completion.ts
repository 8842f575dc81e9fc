import { Readable } from 'node:stream'
import { type BlobFacts, BlobStore, type Caller, changedNothing, FileIntake, Invalid, Log, type Stored, wire } from 'pounce/sdk'
import type { UploadRecord } from './collections.ts'
import { targetOf } from './new-upload.ts'
import { StoredUploads } from './open-uploads.ts'
import { StoredParts } from './parts.ts'
import { ChecksumMismatch } from './problems.ts'

type Upload = UploadRecord & Stored

/**
 * Makes the file of an upload whose bytes are all there. May be done twice, also by two kernels at once: the file's id is the upload's, so there is
 * one file, and the bytes of the second try are removed.
 */
export class UploadCompletion {
  readonly #uploads: StoredUploads
  readonly #parts: StoredParts
  readonly #blobs: BlobStore
  readonly #intake: FileIntake
  readonly #log: Log
  readonly #underWay = new Map<string, Promise<Upload>>()

  constructor(uploads: StoredUploads, parts: StoredParts, blobs: BlobStore, intake: FileIntake, log: Log) {
    this.#uploads = uploads
    this.#parts = parts
    this.#blobs = blobs
    this.#intake = intake
    this.#log = log
  }

  /** Resolves when the file is durable. Goes on when the client that waits for it goes away; who asks meanwhile waits for the same. */
  finish(upload: Upload, caller: Caller): Promise<Upload> {
    const running = this.#underWay.get(upload.id)
    if (running) return running
    const work = this.#finish(upload, caller).finally(() => this.#underWay.delete(upload.id))
    this.#underWay.set(upload.id, work)
    return work
  }

  async #finish(upload: Upload, caller: Caller): Promise<Upload> {
    const { id, name, contentType, metadata, extract, showPreviews } = upload
    const target = targetOf(upload)
    // Hours may have passed since the beginning, in which rights and datasets can go.
    await this.#intake.requireTarget(caller, target)
    const { bytes, isNew } = await this.#joined(upload)
    try {
      await this.#intake.admit([{ id, name, contentType, metadata, bytes }], caller, { ...target, extract, showPreviews })
    } catch (error) {
      if (isNew) await this.#forget(bytes.key, error)
      throw error
    }
    return (await this.#uploads.finished(upload)) ?? upload
  }

  /** The bytes as one blob. Those of a single part are it already. */
  async #joined(upload: Upload): Promise<{ readonly bytes: BlobFacts; readonly isNew: boolean }> {
    const chain = await this.#parts.of(upload)
    const [only] = chain
    if (only && chain.length === 1) {
      if (upload.sha256 !== null && only.sha256 !== upload.sha256) throw await this.#damaged(upload)
      return { bytes: { key: only.blob, sizeBytes: only.sizeBytes, sha256: only.sha256 }, isNew: false }
    }
    const whole = Readable.from(this.#parts.bytesOf(chain), { objectMode: false, highWaterMark: 1024 * 1024 })
    const expected = upload.sha256 === null ? {} : { sha256: upload.sha256 }
    try {
      return { bytes: await this.#blobs.put(whole, { sizeBytes: upload.lengthBytes, ...expected }), isNew: true }
    } catch (error) {
      if (error instanceof Invalid) throw await this.#damaged(upload)
      throw error
    }
  }

  /** No byte of it can be trusted, so the client has to start again. */
  async #damaged(upload: Upload): Promise<ChecksumMismatch> {
    await this.#uploads.drop(upload)
    return new ChecksumMismatch('SHA-256 mismatch; the upload is aborted')
  }

  /** When only the answer of a commit was lost, the bytes may be those of a file: then the sweep finds out. */
  async #forget(blob: string, error: unknown): Promise<void> {
    if (!changedNothing(error)) return
    try {
      await this.#blobs.remove(blob)
    } catch (cause) {
      this.#log.warn('failed to delete the bytes of an upload; the next sweep will', { blob, error: cause })
    }
  }
}
wire(UploadCompletion, StoredUploads, StoredParts, BlobStore, FileIntake, Log)
