/** Bytes that come in pieces, however small, kept in one buffer. */
export class ByteBuffer {
  #buffer = Buffer.alloc(0)
  #length = 0

  get length(): number {
    return this.#length
  }

  add(piece: Uint8Array): void {
    const length = this.#length + piece.length
    if (length > this.#buffer.length) {
      const larger = Buffer.allocUnsafe(Math.max(length, this.#buffer.length * 2))
      this.#buffer.copy(larger, 0, 0, this.#length)
      this.#buffer = larger
    }
    this.#buffer.set(piece, this.#length)
    this.#length = length
  }

  /** All of it, valid until more is added; then it is empty. */
  take(): Buffer {
    const all = this.#buffer.subarray(0, this.#length)
    this.#length = 0
    return all
  }
}
