import { Log, type Stored, wire } from 'pounce/sdk'
import type { PartRecord } from './collections.ts'
import { StoredUploads } from './open-uploads.ts'
import { StoredParts } from './parts.ts'

type Part = PartRecord & Stored

const batchSize = 500

/** Deletes uploads without progress for too long, and parts that a crash left without an upload. */
export class UploadExpiry {
  readonly #uploads: StoredUploads
  readonly #parts: StoredParts
  readonly #log: Log

  constructor(uploads: StoredUploads, parts: StoredParts, log: Log) {
    this.#uploads = uploads
    this.#parts = parts
    this.#log = log
  }

  async run(signal: AbortSignal): Promise<void> {
    for (let some = await this.#uploads.expired(); some.length > 0 && !signal.aborted; some = await this.#uploads.expired()) {
      for (const upload of some) {
        if (upload.state === 'open')
          this.#log.info('Upload expired', { upload: upload.id, owner: upload.owner, received: upload.receivedBytes })
        await this.#uploads.abort(upload)
      }
    }
    await this.#dropStrays(signal)
  }

  async #dropStrays(signal: AbortSignal): Promise<void> {
    const some: Part[] = []
    for await (const part of this.#parts.walk()) {
      if (signal.aborted) return
      some.push(part)
      if (some.length === batchSize) await this.#dropStraysAmong(some.splice(0))
    }
    await this.#dropStraysAmong(some)
  }

  async #dropStraysAmong(some: readonly Part[]): Promise<void> {
    const named = [...new Set(some.map(({ upload }) => upload))]
    const known = await this.#uploads.known(named)
    for (const upload of named) if (!known.has(upload)) await this.#parts.dropAll(upload)
  }
}
wire(UploadExpiry, StoredUploads, StoredParts, Log)
