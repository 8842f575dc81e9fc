import { Clock, Log, wire } from 'pounce/sdk'
import { BucketObjects } from './bucket-objects.ts'
import { S3Connection } from './connection.ts'
import { MultipartUploads } from './multipart-uploads.ts'
import { parseKey, sumsNameOf } from './object-names.ts'

/** An upload that is under way sends parts all the time. */
const abandonedMs = 24 * 60 * 60 * 1000

/** Aborts multipart uploads that a crash left, which S3 keeps, and bills, for ever. Only those of this installation's names. */
export class AbandonedUploads {
  readonly #objects: BucketObjects
  readonly #uploads: MultipartUploads
  readonly #clock: Clock
  readonly #log: Log

  constructor(connection: S3Connection, clock: Clock, log: Log) {
    this.#objects = new BucketObjects(connection)
    this.#uploads = new MultipartUploads(connection)
    this.#clock = clock
    this.#log = log
  }

  async run(signal: AbortSignal): Promise<void> {
    const aborted = await this.sweep(signal)
    if (aborted > 0) this.#log.info('abandoned multipart uploads deleted from S3', { aborted })
  }

  /** How many it aborted. */
  async sweep(signal?: AbortSignal): Promise<number> {
    const bound = new Date(this.#clock.now().getTime() - abandonedMs)
    let aborted = 0
    for await (const upload of this.#uploads.list('p/')) {
      if (signal?.aborted) break
      const key = parseKey(upload.name)
      if (!key || upload.begun > bound || (await this.#uploads.lastMoved(upload)) > bound) continue
      // in this order, so that another run finds both when this one is killed
      await this.#objects.remove(sumsNameOf(key))
      await this.#uploads.abort(upload)
      aborted += 1
    }
    return aborted
  }
}
wire(AbandonedUploads, S3Connection, Clock, Log)
