import { isUtf8 } from 'node:buffer'
import { youngGeneration } from 'pounce/sdk/kit'
import type { Refused } from './datapoint-json.ts'
import { dayOf } from './point-json.ts'

/** Minimum size of a chunk; shorter ones are held back and joined with the next. */
const worthSending = 16 * 1024

/** Most responses are short: buffers begin small and grow, to leave little garbage. */
const [firstBytes, pieceBytes] = [8 * 1024, 128 * 1024]

/** Maximum length of a UTF-16 unit in UTF-8. */
const maxBytesEach = 3

/** Longer texts are encoded by the runtime. */
const writtenByHand = 64

const [zero, colon, point, letterZ, dash] = [0x30, 0x3a, 0x2e, 0x5a, 0x2d]

const dayMs = 86_400_000

const maxDigits = 16

/**
 * Encodes text into chunks of bytes. Tables are written byte by byte: concatenated strings leave a kilobyte of garbage per line, and V8
 * promotes part of it to the old generation before it is dead.
 */
export class TextPieces {
  #full: Buffer[] = []
  #buffer = Buffer.alloc(0)
  #length = 0
  #next = firstBytes

  add(text: string): void {
    this.#makeRoom(text.length * maxBytesEach)
    if (text.length > writtenByHand) {
      this.#length += this.#buffer.write(text, this.#length)
      return
    }
    let at = this.#length
    for (let index = 0; index < text.length; index += 1) {
      const code = text.charCodeAt(index)
      if (code > 0x7f) {
        this.#length += this.#buffer.write(text, this.#length)
        return
      }
      this.#buffer[at++] = code
    }
    this.#length = at
  }

  addBytes(bytes: Uint8Array): void {
    this.#makeRoom(bytes.length)
    this.#buffer.set(bytes, this.#length)
    this.#length += bytes.length
  }

  /** In the format of `String`. */
  addNumber(number: number): void {
    if (Number.isSafeInteger(number)) {
      this.#makeRoom(maxDigits + 1)
      if (number < 0) this.#buffer[this.#length++] = dash
      this.#digits(Math.abs(number))
      return
    }
    const millionths = Math.round(Math.abs(number) * 1e6)
    // If fifteen digits represent the number, they are its shortest representation. V8 caches numbers that it has printed, which become
    // old-generation garbage.
    if (millionths > 0 && millionths < 1e15 && millionths / 1e6 === Math.abs(number)) this.#decimals(number < 0, millionths)
    else this.add(JSON.stringify(number))
  }

  /** In the format of `printTime`. */
  addTime(ms: number): void {
    const day = Math.floor(ms / dayMs)
    const ofDay = ms - day * dayMs
    this.add(dayOf(day))
    this.#makeRoom(maxDigits)
    const second = Math.floor(ofDay / 1000)
    this.#two(Math.floor(second / 3600), colon)
    this.#two(Math.floor(second / 60) % 60, colon)
    const thousandths = ofDay % 1000
    this.#two(second % 60, thousandths === 0 ? letterZ : point)
    if (thousandths === 0) return
    this.#buffer[this.#length++] = zero + Math.floor(thousandths / 100)
    this.#two(thousandths % 100, letterZ)
  }

  /** The pending bytes, if they are long enough to send or the last. */
  take(isLast = false): readonly Buffer[] {
    if (isLast || this.#length >= worthSending) this.#close()
    const full = this.#full
    this.#full = []
    return full
  }

  #two(number: number, next: number): void {
    const buffer = this.#buffer
    const tens = Math.floor(number / 10)
    buffer[this.#length++] = zero + tens
    buffer[this.#length++] = zero + number - tens * 10
    buffer[this.#length++] = next
  }

  #decimals(isNegative: boolean, millionths: number): void {
    this.#makeRoom(maxDigits + 3)
    if (isNegative) this.#buffer[this.#length++] = dash
    const whole = Math.floor(millionths / 1e6)
    this.#digits(whole)
    this.#buffer[this.#length++] = point
    let left = millionths - whole * 1e6
    for (let unit = 1e5; left > 0; unit /= 10) {
      const digit = Math.floor(left / unit)
      this.#buffer[this.#length++] = zero + digit
      left -= digit * unit
    }
  }

  #digits(number: number): void {
    let [count, below] = [1, 10]
    while (below <= number) {
      count += 1
      below *= 10
    }
    let left = number
    for (let at = this.#length + count - 1; at >= this.#length; at -= 1) {
      const tenth = Math.floor(left / 10)
      this.#buffer[at] = zero + (left - tenth * 10)
      left = tenth
    }
    this.#length += count
  }

  #makeRoom(bytes: number): void {
    if (this.#length + bytes <= this.#buffer.length) return
    this.#close()
    this.#buffer = Buffer.allocUnsafeSlow(Math.max(bytes, this.#next))
    this.#next = Math.min(pieceBytes, 2 * this.#next)
  }

  #close(): void {
    if (this.#length === 0) return
    youngGeneration.passed(this.#buffer.length)
    this.#full.push(this.#buffer.subarray(0, this.#length))
    this.#buffer = Buffer.alloc(0)
    this.#length = 0
  }
}

/** Collects chunks of any size in one buffer. */
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

  /** All bytes, valid until more are added; the buffer is then empty. */
  take(): Buffer {
    const all = this.#buffer.subarray(0, this.#length)
    this.#length = 0
    return all
  }
}

/** The text of one datapoint, and its line number, from 1. */
export type SentPoint = { readonly line: number } & ({ readonly text: string } | { readonly refused: Refused })

const newline = 0x0a

const maxLineBytes = 1024 * 1024

const tooLong: Refused = { message: `A line has at most ${maxLineBytes} bytes` }

const notUtf8: Refused = { message: 'It is not UTF-8' }

function* linesIn(bytes: Buffer): Generator<Buffer> {
  let from = 0
  for (let at = bytes.indexOf(newline); at !== -1; at = bytes.indexOf(newline, from)) {
    yield bytes.subarray(from, at)
    from = at + 1
  }
  yield bytes.subarray(from)
}

const textOf = (bytes: Buffer): string | Refused =>
  bytes.length > maxLineBytes ? tooLong : isUtf8(bytes) ? bytes.toString('utf8') : notUtf8

/** Decodes all lines at once if none is faulty. */
const textsOf = (bytes: Buffer): readonly (string | Refused)[] =>
  bytes.length <= maxLineBytes && isUtf8(bytes) ? bytes.toString('utf8').split('\n') : [...linesIn(bytes)].map(textOf)

/**
 * The lines of a body as they arrive, in batches; blank ones are skipped, but counted. Only the current line, at most 1 MiB, is buffered
 * besides the last chunk. An interrupted body fails after its complete lines have been returned; text after the last newline counts as a
 * line only at the end of the body.
 */
export async function* pointLines(body: AsyncIterable<Buffer>): AsyncGenerator<readonly SentPoint[]> {
  const carry = new ByteBuffer()
  let line = 0
  let isTooLong = false
  const given = (bytes: Buffer): readonly SentPoint[] =>
    textsOf(bytes).flatMap((text, at): readonly SentPoint[] => {
      line += 1
      if (at === 0 && isTooLong) {
        isTooLong = false
        return [{ line, refused: tooLong }]
      }
      if (typeof text !== 'string') return [{ line, refused: text }]
      const bare = line === 1 && text.startsWith('\ufeff') ? text.slice(1) : text
      return bare.trim() === '' ? [] : [{ line, text: bare }]
    })
  for await (const chunk of body) {
    const end = chunk.lastIndexOf(newline)
    if (end !== -1) {
      carry.add(chunk.subarray(0, end))
      yield given(carry.take())
    }
    carry.add(chunk.subarray(end + 1))
    if (carry.length <= maxLineBytes) continue
    isTooLong = true
    carry.take()
  }
  if (carry.length > 0 || isTooLong) yield given(carry.take())
}
