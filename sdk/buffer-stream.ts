import { Readable } from 'node:stream'

type Piece = Uint8Array | string
type Pieces = AsyncIterable<Piece> | Iterable<Piece>

const iterate = (pieces: Pieces): AsyncIterator<Piece> | Iterator<Piece> =>
  Symbol.asyncIterator in pieces ? pieces[Symbol.asyncIterator]() : pieces[Symbol.iterator]()

class Streamed extends Readable {
  readonly #iterator: AsyncIterator<Piece> | Iterator<Piece>

  constructor(pieces: Pieces, ahead: number) {
    super({ objectMode: true, highWaterMark: ahead })
    this.#iterator = iterate(pieces)
  }

  override _read(): void {
    this.#next().catch(error => this.destroy(error as Error))
  }

  async #next(): Promise<void> {
    const { done, value } = await this.#iterator.next()
    this.push(done ? null : value)
  }

  /** Ends the source, which releases its resources, before the stream closes. */
  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#leave().then(
      () => callback(error),
      (cause: Error) => callback(error ?? cause),
    )
  }

  async #leave(): Promise<void> {
    await this.#iterator.return?.()
  }
}

/**
 * A stream of the pieces: each is requested on demand, with at most `ahead` buffered. A stream from `Readable.from` stays in memory, along with the whole
 * request it serves, until V8's next full garbage collection: about 20 kB per request that every minor collection copies.
 */
export const streamed = (pieces: Pieces, ahead = 2): Readable => new Streamed(pieces, ahead)

/** A stream of in-memory bytes. Responses use the bytes directly, without the overhead of stream events. */
export class BufferStream extends Readable {
  readonly bytes: Buffer

  constructor(bytes: Buffer) {
    super()
    this.bytes = bytes
  }

  override _read(): void {
    if (this.bytes.length > 0) this.push(this.bytes)
    this.push(null)
  }
}
