import { isUtf8 } from 'node:buffer'
import type { IncomingHttpHeaders } from 'node:http'
import { Invalid, type SentBytes, TooLarge, Unsupported } from 'pounce/sdk'
import { defaultJsonLimits, endOfJsonValue, NotJson, parseJson } from 'pounce/sdk/kit'
import { numberOf } from '../input.ts'
import { ByteBuffer, pointLines, type SentPoint } from './text-pieces.ts'

/** The contents of a JSON body: the text of each datapoint, and the stream of those that name none. */
export interface BulkJson {
  readonly points: readonly string[]
  /** As it was sent. */
  readonly stream?: unknown
}

const maxPoints = 20_000

const blank = /[ \t\r\n]*/y

/** Finds the ends of values without parsing them, so that each can be rejected separately. */
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
    if (!this.#isNext('{')) throw this.#other()
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

  /** The error for a string, number or literal in place of the body. */
  #other(): Invalid {
    this.#parsed()
    this.#skipBlanks()
    return this.#at < this.#text.length
      ? this.#broken()
      : new Invalid('The body must be {"datapoints":[…],"stream_id":"5"}, or an array of datapoints')
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
    const end = endOfJsonValue(this.#text, from)
    if (end <= from) throw this.#broken()
    this.#at = end
    return this.#text.slice(from, end)
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

/** Splits `{"datapoints":[…],"stream_id":"5"}`, or an array of datapoints. Throws `Invalid`, or `TooLarge` beyond 20,000 of them. */
const readBulkJson = (text: string): BulkJson => new BulkText(text).read()

/** The datapoints of a body in batches, and the stream of those that name none. */
export interface BulkBody {
  readonly stream?: number
  readonly points: AsyncIterable<readonly SentPoint[]>
}

const maxJsonBytes = 16 * 1024 * 1024

const jsonTypes = /^(?:application\/json|text\/json|application\/[\w.-]+\+json)$/

const lineTypes = /^application\/(?:x-ndjson|ndjson|jsonl|x-jsonlines)$/

const tooLarge = (): TooLarge =>
  new TooLarge(`At most ${maxJsonBytes} bytes of JSON: send more datapoints as newline-delimited JSON (application/x-ndjson)`)

const jsonText = async (body: SentBytes): Promise<string> => {
  if ((body.sizeBytes ?? 0) > maxJsonBytes) throw tooLarge()
  const carry = new ByteBuffer()
  for await (const chunk of body.open() as AsyncIterable<Buffer>) {
    carry.add(chunk)
    if (carry.length > maxJsonBytes) throw tooLarge()
  }
  const bytes = carry.take()
  if (!isUtf8(bytes)) throw new Invalid('The body is not UTF-8')
  const text = bytes.toString('utf8')
  return text.startsWith('\ufeff') ? text.slice(1) : text
}

async function* numbered(texts: readonly string[]): AsyncGenerator<readonly SentPoint[]> {
  const batchSize = 250
  for (let at = 0; at < texts.length; at += batchSize)
    yield texts.slice(at, at + batchSize).map((text, more) => ({ line: at + more + 1, text }))
}

const typeOf = (header: string | undefined): string => {
  const [type = '', ...parameters] = (header ?? '').toLowerCase().split(';')
  const charset = parameters.map(each => each.trim()).find(each => each.startsWith('charset='))
  if (charset !== undefined && !/^charset="?(?:utf-?8|us-ascii)"?$/.test(charset)) throw new Unsupported('Datapoints must be in UTF-8')
  return type.trim()
}

const streamIn = (sent: unknown): { readonly stream: number } | Record<never, never> => {
  if (sent === undefined || sent === null) return {}
  const stream = typeof sent === 'string' || typeof sent === 'number' ? numberOf(sent) : undefined
  if (stream === undefined) throw new Invalid('stream_id must be the number of a stream, such as "5"')
  return { stream }
}

/** Opens the body of a bulk request. A stream in the query applies to all datapoints that name none; one in the body takes precedence. */
export const openBulk = async (body: SentBytes, headers: IncomingHttpHeaders, inQuery: string | undefined): Promise<BulkBody> => {
  const type = typeOf(headers['content-type'])
  const named = streamIn(inQuery)
  if (lineTypes.test(type)) return { ...named, points: pointLines(body.open() as AsyncIterable<Buffer>) }
  if (!jsonTypes.test(type))
    throw new Unsupported('Expecting text/json or application/json body, or newline-delimited JSON as application/x-ndjson')
  const { points, stream } = readBulkJson(await jsonText(body))
  return { ...named, ...streamIn(stream), points: numbered(points) }
}
