import type { IncomingMessage } from 'node:http'
import { type Readable, Transform } from 'node:stream'
import { TooLarge, Unreachable } from 'pounce/sdk'
import { youngGeneration } from 'pounce/sdk/kit'

/** The two timeouts of a request: total and idle. */
export class RequestDeadline {
  readonly #whole: NodeJS.Timeout
  readonly #silence: NodeJS.Timeout | undefined
  #isOver = false

  constructor(untilMs: number, silenceMs: number | undefined, giveUp: () => void) {
    const end = (): void => {
      this.#isOver = true
      giveUp()
    }
    this.#whole = setTimeout(end, Math.max(1, untilMs - Date.now()))
    this.#silence = silenceMs === undefined ? undefined : setTimeout(end, silenceMs)
  }

  /** True once one of the timeouts has elapsed. */
  get isOver(): boolean {
    return this.#isOver
  }

  /** Called when data arrives. */
  received(): void {
    this.#silence?.refresh()
  }

  end(): void {
    clearTimeout(this.#whole)
    clearTimeout(this.#silence)
  }
}

/** Counts bytes and fails above a limit. */
export const counting = (maxBytes: number, deadline: RequestDeadline, tooLong: string): Transform => {
  let seen = 0
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      seen += chunk.length
      deadline.received()
      youngGeneration.passed(chunk.length)
      if (seen > maxBytes) done(new TooLarge(tooLong))
      else done(null, chunk)
    },
  })
}

/** How much a compressed response may grow, as an archive may: beyond a size, by a factor. */
const [freeBytes, maxRatio] = [100 * 1024 * 1024, 100]

/** The body of a response, decoded: it ends with an error above a limit, or when the connection is interrupted. */
export const limited = (source: IncomingMessage, maxBytes: number, deadline: RequestDeadline, decoder?: Transform): Readable => {
  const counter = counting(maxBytes, deadline, `The answer is longer than ${maxBytes} bytes`)
  counter.on('close', () => {
    deadline.end()
    source.destroy()
    decoder?.destroy()
  })
  source.on('error', error => counter.destroy(new Unreachable(`The answer broke off: ${error.message}`, { cause: error })))
  source.on('aborted', () => counter.destroy(new Unreachable(deadline.isOver ? 'The response timed out' : 'The response was interrupted')))
  return decoder ? decoded(source, decoder, counter, deadline) : source.pipe(counter)
}

const decoded = (source: IncomingMessage, decoder: Transform, counter: Transform, deadline: RequestDeadline): Readable => {
  let [received, unpacked] = [0, 0]
  source.on('data', (chunk: Buffer) => {
    received += chunk.length
    deadline.received()
  })
  decoder.on('data', (chunk: Buffer) => {
    unpacked += chunk.length
    if (unpacked > freeBytes && unpacked > maxRatio * received)
      counter.destroy(new TooLarge(`The answer unpacks to more than ${maxRatio} times its size`))
  })
  decoder.on('error', error => counter.destroy(new Unreachable(`The answer cannot be decompressed: ${error.message}`, { cause: error })))
  return source.pipe(decoder).pipe(counter)
}
