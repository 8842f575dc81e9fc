import type { ViewerHost } from '../host.ts'
import { type Encoding, encodingOf } from '../lib/encoding.ts'

export const firstBytes = 5_000_000
const moreBytes = 5_000_000
/** Maximum number of bytes shown. Browsers become slow with more. */
export const maxBytes = 50_000_000
/** Longer lines are truncated, since they would block the browser. */
const maxLine = 20_000

/** The part of a text file that has been read. */
export interface LoadedText {
  readonly text: string
  /** The same text with long lines truncated. */
  readonly shown: string
  readonly cutLines: number
  readonly readBytes: number
  readonly isWhole: boolean
  /** Whether it is the end of the file rather than its beginning. */
  readonly isEnd: boolean
}

const withShortLines = (text: string): { readonly shown: string; readonly cutLines: number } => {
  let cutLines = 0
  if (text.length <= maxLine) return { shown: text, cutLines }
  const shown = text
    .split('\n')
    .map(line => {
      if (line.length <= maxLine) return line
      cutLines++
      return `${line.slice(0, maxLine)} …`
    })
    .join('\n')
  return { shown: cutLines === 0 ? text : shown, cutLines }
}

/** Reads a text incrementally from its beginning, or its end. */
export class TextSource {
  #host: ViewerHost
  #pieces: Uint8Array[] = []
  #readBytes = 0
  #encoding: Encoding = 'utf-8'

  constructor(host: ViewerHost) {
    this.#host = host
  }

  get sizeBytes(): number {
    return this.#host.thing.sizeBytes
  }

  /** Reads the next part, and returns all from the beginning. */
  async more(): Promise<LoadedText> {
    const end = Math.min(this.sizeBytes, this.#readBytes === 0 ? firstBytes : this.#readBytes + moreBytes)
    if (end > this.#readBytes) {
      const piece = await this.#host.read(this.#readBytes, end)
      if (this.#readBytes === 0) this.#encoding = encodingOf(piece.subarray(0, 65_536))
      this.#pieces.push(piece)
      this.#readBytes += piece.length
    }
    const decoder = new TextDecoder(this.#encoding)
    const isWhole = this.#readBytes >= this.sizeBytes
    const parts = this.#pieces.map((piece, at) => decoder.decode(piece, { stream: !isWhole || at < this.#pieces.length - 1 }))
    return this.#loaded(parts.join(''), this.#readBytes, isWhole, false)
  }

  /** Reads the last part of the file. */
  async end(): Promise<LoadedText> {
    const length = Math.min(this.sizeBytes, firstBytes)
    // UTF-16 characters start at even offsets.
    const start = (this.sizeBytes - length) & ~1
    const text = new TextDecoder(this.#encoding).decode(await this.#host.read(this.sizeBytes <= length ? 0 : start, this.sizeBytes))
    const first = text.indexOf('\n')
    return this.#loaded(first < 0 ? text : text.slice(first + 1), length, false, true)
  }

  #loaded(raw: string, readBytes: number, isWhole: boolean, isEnd: boolean): LoadedText {
    const text = raw.includes('\r') ? raw.replace(/\r\n?/g, '\n') : raw
    return { text, ...withShortLines(text), readBytes, isWhole, isEnd }
  }
}
