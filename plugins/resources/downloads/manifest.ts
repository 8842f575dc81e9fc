import { createHash } from 'node:crypto'
import type { Readable } from 'node:stream'
import { streamed } from 'pounce/sdk'

const pieceBytes = 65_536

/** The lines of a BagIt manifest, kept as bytes: a hundred thousand short strings would take several times the room. */
export class Manifest {
  sizeBytes = 0
  readonly #digest = createHash('sha256')
  readonly #pieces: Buffer[] = []
  #lines = ''

  add(path: string, sha256: string): void {
    this.#lines += `${sha256}  ${path}\n`
    if (this.#lines.length >= pieceBytes) this.#keep()
  }

  /** All lines; nothing can be added any more. */
  finish(): { readonly sizeBytes: number; readonly sha256: string; open(): Promise<Readable> } {
    this.#keep()
    return { sizeBytes: this.sizeBytes, sha256: this.#digest.digest('hex'), open: async () => streamed(this.#pieces) }
  }

  #keep(): void {
    const piece = Buffer.from(this.#lines)
    this.#lines = ''
    this.#digest.update(piece)
    this.sizeBytes += piece.length
    this.#pieces.push(piece)
  }
}
