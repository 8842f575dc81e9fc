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

  /** The source is ended and releases its resources before the stream is closed. */
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
 * Pieces as a stream: each is requested when it is wanted, `ahead` of them wait at most. A stream of `Readable.from` lives, with the whole request that it
 * answers, until V8 collects all garbage: some 20 kB a request that every small collection copies.
 */
export const streamed = (pieces: Pieces, ahead = 2): Readable => new Streamed(pieces, ahead)

/** Bytes that are in memory, as a stream. Responses take them as they are, without the events and turns of a stream. */
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
