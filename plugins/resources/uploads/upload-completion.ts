import { Readable } from 'node:stream'
import { type Caller, type Contributions, FileIngest, Invalid, ProgressListeners, type StagedBlob, type Stored, wire } from 'pounce/sdk'
import type { ProgressListener } from 'pounce/sdk/kit'
import type { PartRecord, UploadRecord } from './collections.ts'
import { targetOf } from './new-upload.ts'
import { reportUpload, StoredUploads } from './open-uploads.ts'
import { StoredParts } from './parts.ts'
import { ChecksumMismatch } from './problems.ts'

type Upload = UploadRecord & Stored

/**
 * Creates the file of a complete upload. May run twice, even on two kernels concurrently: the file has the id of the upload, so there is
 * one file, and the bytes of the second attempt are deleted.
 */
export class UploadCompletion {
  readonly #uploads: StoredUploads
  readonly #parts: StoredParts
  readonly #ingest: FileIngest
  readonly #progress: Contributions<ProgressListener>
  readonly #underWay = new Map<string, Promise<Upload>>()

  constructor(uploads: StoredUploads, parts: StoredParts, ingest: FileIngest, progress: Contributions<ProgressListener>) {
    this.#progress = progress
    this.#uploads = uploads
    this.#parts = parts
    this.#ingest = ingest
  }

  /** Resolves when the file is durable. Continues when the client disconnects; concurrent requests wait for the same result. */
  finish(upload: Upload, caller: Caller): Promise<Upload> {
    const running = this.#underWay.get(upload.id)
    if (running) return running
    const work = this.#finish(upload, caller).finally(() => this.#underWay.delete(upload.id))
    this.#underWay.set(upload.id, work)
    return work
  }

  async #finish(upload: Upload, caller: Caller): Promise<Upload> {
    const chain = await this.#parts.of(upload)
    const [only] = chain
    if (only && chain.length === 1) {
      if (upload.sha256 !== null && only.sha256 !== upload.sha256) throw await this.#damaged(upload)
      // The part refers to these bytes: they are not abandoned if the file cannot be created now.
      await this.#record(upload, this.#ingest.stage({ key: only.blob, sizeBytes: only.sizeBytes, sha256: only.sha256 }), caller)
    } else {
      // Joining reads and writes all bytes again: check first that the caller may still add the file.
      await this.#ingest.admit(caller, targetOf(upload))
      await using joined = await this.#joined(upload, chain)
      await this.#record(upload, joined, caller)
    }
    const finished = (await this.#uploads.finished(upload)) ?? upload
    reportUpload(this.#progress, finished, 'finished')
    return finished
  }

  async #record(upload: Upload, blob: StagedBlob, caller: Caller): Promise<void> {
    const { id, name, contentType, metadata, extract, showPreviews, batch } = upload
    await this.#ingest.record([{ id, name, contentType, metadata, blob }], caller, { ...targetOf(upload), extract, showPreviews, batch })
  }

  /** The bytes as one blob. */
  async #joined(upload: Upload, chain: readonly PartRecord[]): Promise<StagedBlob> {
    const whole = Readable.from(this.#parts.bytesOf(chain), { objectMode: false, highWaterMark: 1024 * 1024 })
    const expected = upload.sha256 === null ? {} : { sha256: upload.sha256 }
    try {
      return await this.#ingest.receive(whole, { sizeBytes: upload.lengthBytes, ...expected })
    } catch (error) {
      if (error instanceof Invalid) throw await this.#damaged(upload)
      throw error
    }
  }

  /** None of the bytes can be trusted, so the client has to start again. */
  async #damaged(upload: Upload): Promise<ChecksumMismatch> {
    await this.#uploads.abort(upload)
    return new ChecksumMismatch('SHA-256 mismatch; the upload is aborted')
  }
}
wire(UploadCompletion, StoredUploads, StoredParts, FileIngest, ProgressListeners)
