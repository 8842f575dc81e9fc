import { Readable } from 'node:stream'

export const maxPieceMs = 15_000

/**
 * Splits a stream into pieces, each a stream with an end: after `maxBytes`, or by default after 15 s, so that little is lost by an
 * interruption. A failing source ends its piece normally, because the bytes until then are valid; `fault` has the error.
 */
export class StreamSplitter {
  readonly #source: AsyncIterator<Buffer>
  readonly #maxBytes: number
  readonly #maxMs: number
  readonly #look: (chunk: Buffer) => void
  #next: Buffer | undefined
  #isOver = false
  /** Why the source ended prematurely. */
  fault: unknown

  /** `look` is called with each chunk, and may throw: then its piece fails. */
  constructor(source: Readable, maxBytes: number, look: (chunk: Buffer) => void, maxMs = maxPieceMs) {
    this.#source = source[Symbol.asyncIterator]()
    this.#maxBytes = maxBytes
    this.#look = look
    this.#maxMs = maxMs
  }

  /** The next piece, of at least one byte; undefined when there is none. The previous piece must have been read to its end. */
  async next(): Promise<Readable | undefined> {
    this.#next ??= await this.#take()
    return this.#next && Readable.from(this.#piece(), { objectMode: false, highWaterMark: 64 * 1024 })
  }

  async *#piece(): AsyncGenerator<Buffer> {
    const endMs = performance.now() + this.#maxMs
    let left = this.#maxBytes
    while (left > 0 && performance.now() < endMs) {
      const chunk = this.#next ?? (await this.#take())
      this.#next = undefined
      if (!chunk) return
      if (chunk.length > left) this.#next = chunk.subarray(left)
      const piece = this.#next ? chunk.subarray(0, left) : chunk
      this.#look(piece)
      yield piece
      left -= piece.length
    }
  }

  async #take(): Promise<Buffer | undefined> {
    if (this.#isOver) return undefined
    try {
      const { done, value } = await this.#source.next()
      this.#isOver = done ?? false
      return done ? undefined : value
    } catch (error) {
      this.#isOver = true
      this.fault = error
      return undefined
    }
  }
}
