import { Readable } from 'node:stream'

const ignore = (): void => undefined

/**
 * The bytes of a part for a handler. The parser's own stream ends as if all were well when a body is cut short, so a handler never sees it:
 * this one is destroyed with the fault instead.
 */
export class PartBytes extends Readable {
  readonly #source: Readable

  constructor(source: Readable) {
    super({ highWaterMark: 64 * 1024 })
    this.#source = source
    source.on('data', (chunk: Buffer) => {
      if (!this.destroyed && !this.push(chunk)) source.pause()
    })
    source.on('end', () => {
      if (!this.destroyed) this.push(null)
    })
    source.on('error', ignore)
    // A fault may come before anybody listens; who reads gets it all the same.
    this.on('error', ignore)
  }

  override _read(): void {
    this.#source.resume()
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    // The rest of the part must pass so that the body can go on.
    this.#source.resume()
    callback(error)
  }
}
