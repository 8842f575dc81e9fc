import { Clock, Log, wire } from 'pounce/sdk'
import { Connection, type S3Connection } from './connection.ts'
import { parseKey, sumsNameOf } from './object-names.ts'
import { Objects } from './objects.ts'
import { Uploads } from './uploads.ts'

/** An upload that is under way sends parts all the time. */
const abandonedMs = 24 * 60 * 60 * 1000

/** Aborts multipart uploads that a crash left, which S3 keeps, and bills, for ever. Only those of this installation's names. */
export class AbandonedUploads {
  readonly #objects: Objects
  readonly #uploads: Uploads
  readonly #clock: Clock
  readonly #log: Log

  constructor(connection: S3Connection, clock: Clock, log: Log) {
    this.#objects = new Objects(connection)
    this.#uploads = new Uploads(connection)
    this.#clock = clock
    this.#log = log
  }

  async run(signal: AbortSignal): Promise<void> {
    const aborted = await this.sweep(signal)
    if (aborted > 0) this.#log.info('uploads to S3 that were never finished were removed', { aborted })
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
wire(AbandonedUploads, Connection, Clock, Log)
