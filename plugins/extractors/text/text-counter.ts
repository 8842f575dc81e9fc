/** Counts of a text. */
export interface TextCounts {
  /** Terminated lines, plus an unterminated last one. */
  readonly lines: number
  /** Runs of anything between white space, as `wc -w` counts them. */
  readonly words: number
  /** Unicode code points. */
  readonly characters: number
  readonly lineEndings: 'LF' | 'CRLF' | 'CR' | 'mixed' | 'none'
}

const [lineFeed, carriageReturn] = [10, 13]

/** Counts a text in pieces of any length. */
export class TextCounter {
  #words = 0
  #characters = 0
  #lf = 0
  #crlf = 0
  #cr = 0
  #last = -1
  #isInWord = false

  add(piece: string): void {
    for (let at = 0; at < piece.length; at++) {
      const code = piece.charCodeAt(at)
      const isLowSurrogate = code >= 0xdc00 && code <= 0xdfff
      if (!isLowSurrogate) this.#characters++
      const isSpace = isWhiteSpace(code)
      if (!isSpace && !this.#isInWord) this.#words++
      this.#isInWord = !isSpace
      if (code === lineFeed && this.#last === carriageReturn) this.#crlf++
      else if (code === lineFeed) this.#lf++
      else if (this.#last === carriageReturn) this.#cr++
      this.#last = code
    }
  }

  /** The counts, once the whole text has been added. */
  counts(): TextCounts {
    const cr = this.#cr + (this.#last === carriageReturn ? 1 : 0)
    const hasRest = this.#last !== -1 && this.#last !== lineFeed && this.#last !== carriageReturn
    const used = [this.#lf && 'LF', this.#crlf && 'CRLF', cr && 'CR'].filter(name => name !== 0) as ('LF' | 'CRLF' | 'CR')[]
    return {
      lines: this.#lf + this.#crlf + cr + (hasRest ? 1 : 0),
      words: this.#words,
      characters: this.#characters,
      lineEndings: used.length > 1 ? 'mixed' : (used[0] ?? 'none'),
    }
  }
}

function isWhiteSpace(code: number): boolean {
  if (code <= 32) return code === 32 || (code >= 9 && code <= 13)
  if (code < 0x1680) return code === 0xa0 || code === 0x85
  return code === 0x1680 || (code >= 0x2000 && code <= 0x200a) || [0x2028, 0x2029, 0x202f, 0x205f, 0x3000].includes(code)
}
