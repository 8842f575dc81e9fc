import type { MultipartUploads, SentPart, Upload } from './multipart-uploads.ts'
import type { PartBuffer } from './part-buffer.ts'

/** An object that is sent part by part: the next part may be filled while one is being sent. */
export class MultipartPut {
  readonly #uploads: MultipartUploads
  readonly #upload: Upload
  readonly #failed: (error: unknown) => void
  readonly #controller = new AbortController()
  readonly #parts: SentPart[] = []
  #sending: Promise<void> = Promise.resolve()
  #number = 0

  /** `failed` hears of a part that could not be sent at once, so that nobody goes on waiting for the source. */
  constructor(uploads: MultipartUploads, upload: Upload, failed: (error: unknown) => void) {
    this.#uploads = uploads
    this.#upload = upload
    this.#failed = failed
  }

  /** Waits for the part before, then begins to send this one and disposes of it when the server has it. */
  async send(part: PartBuffer): Promise<void> {
    try {
      await this.#sending
    } catch (error) {
      await part.dispose()
      throw error
    }
    this.#number += 1
    this.#sending = this.#send(part, this.#number)
    this.#sending.catch(this.#failed)
  }

  /** Waits until all parts were sent. */
  async settle(): Promise<void> {
    await this.#sending
  }

  /** All parts become one object. */
  async complete(sizeBytes: number, signal?: AbortSignal): Promise<void> {
    await this.#uploads.complete(this.#upload, this.#parts, sizeBytes, signal)
  }

  /** Stops sending and has what was sent thrown away. */
  async abort(): Promise<void> {
    this.#controller.abort(new Error('the upload was aborted'))
    await this.#sending.catch(() => undefined)
    await this.#uploads.abort(this.#upload)
  }

  async #send(part: PartBuffer, number: number): Promise<void> {
    try {
      this.#parts.push(await this.#uploads.send(this.#upload, number, part, this.#controller.signal))
    } finally {
      await part.dispose()
    }
  }
}
