import { defaultJsonLimits, Invalid, NotJson, parseJson, TooLarge } from 'pounce/sdk'
import { endOfString } from './point-json.ts'

/** What a body of JSON holds: the text of each datapoint, and the stream of all that name none. */
export interface BulkJson {
  readonly points: readonly string[]
  /** As it was sent. */
  readonly stream?: unknown
}

const maxPoints = 20_000
const blank = /[ \t\r\n]*/y
const bareValue = /[^,\]}\s]+/y

/** Finds the ends of values without reading what is in them, so that each can be refused by itself. */
class BulkText {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  read(): BulkJson {
    const bulk = this.#isNext('[') ? { points: this.#points() } : this.#members()
    this.#skipBlanks()
    if (this.#at < this.#text.length) throw this.#broken()
    return bulk
  }

  #members(): BulkJson {
    this.#require('{')
    let points: readonly string[] | undefined
    let stream: unknown
    if (!this.#isNext('}')) {
      do {
        const name = this.#parsed()
        this.#require(':')
        if (name === 'datapoints') {
          if (points) throw new Invalid('The body names datapoints twice')
          if (!this.#isNext('[')) throw new Invalid('datapoints must be an array of datapoints')
          points = this.#points()
        } else if (name === 'stream_id') stream = this.#parsed()
        else this.#parsed()
      } while (this.#isComma())
    }
    this.#require('}')
    if (!points) throw new Invalid('datapoints is missing: send {"datapoints":[…],"stream_id":"5"}, or an array of datapoints')
    return stream === undefined ? { points } : { points, stream }
  }

  #points(): readonly string[] {
    const points: string[] = []
    this.#require('[')
    if (!this.#isNext(']')) {
      do {
        if (points.length === maxPoints)
          throw new TooLarge(`At most ${maxPoints} datapoints in a JSON body: send more as newline-delimited JSON (application/x-ndjson)`)
        points.push(this.#value())
      } while (this.#isComma())
    }
    this.#require(']')
    return points
  }

  #parsed(): unknown {
    try {
      return parseJson(this.#value(), defaultJsonLimits, 'The body')
    } catch (error) {
      throw error instanceof NotJson ? this.#broken(error) : error
    }
  }

  #value(): string {
    this.#skipBlanks()
    const from = this.#at
    this.#at = this.#endOfValue()
    if (this.#at === from) throw this.#broken()
    return this.#text.slice(from, this.#at)
  }

  #endOfValue(): number {
    const text = this.#text
    let depth = 0
    for (let at = this.#at; at < text.length; at += 1) {
      const char = text[at]
      if (char === '"') {
        at = endOfString(text, at)
        if (at === -1) throw this.#broken()
      } else if (char === '{' || char === '[') depth += 1
      else if (char === '}' || char === ']') depth -= 1
      else if (depth === 0) {
        bareValue.lastIndex = at
        return at + (bareValue.exec(text)?.[0].length ?? 0)
      }
      if (depth === 0) return at + 1
      if (depth < 0) return at
    }
    throw this.#broken()
  }

  #skipBlanks(): void {
    blank.lastIndex = this.#at
    this.#at += blank.exec(this.#text)?.[0].length ?? 0
  }

  #isNext(char: string): boolean {
    this.#skipBlanks()
    return this.#text[this.#at] === char
  }

  #require(char: string): void {
    if (!this.#isNext(char)) throw this.#broken()
    this.#at += 1
  }

  #isComma(): boolean {
    if (!this.#isNext(',')) return false
    this.#at += 1
    return true
  }

  #broken(cause?: unknown): Invalid {
    const isShort = this.#at >= this.#text.length
    return new Invalid(`The body is not valid JSON: ${isShort ? 'unexpected end' : `unexpected token at character ${this.#at + 1}`}`, {
      cause,
    })
  }
}

/** Takes apart `{"datapoints":[…],"stream_id":"5"}`, or an array of datapoints. Throws `Invalid`, or `TooLarge` beyond 20,000 of them. */
export const readBulkJson = (text: string): BulkJson => new BulkText(text).read()
