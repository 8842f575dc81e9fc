import type { IncomingMessage } from 'node:http'
import { type Readable, Transform } from 'node:stream'
import { TooLarge, Unreachable } from 'pounce/sdk'
import { youngGeneration } from 'pounce/sdk/kit'

/** The two timeouts of a request: total and idle. */
export class RequestDeadline {
  readonly #whole: NodeJS.Timeout
  readonly #silence: NodeJS.Timeout | undefined

  constructor(untilMs: number, silenceMs: number | undefined, giveUp: () => void) {
    this.#whole = setTimeout(giveUp, Math.max(1, untilMs - Date.now()))
    this.#silence = silenceMs === undefined ? undefined : setTimeout(giveUp, silenceMs)
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

/** The body of a response: it ends with an error above a limit, or when the connection is interrupted. */
export const limited = (source: IncomingMessage, maxBytes: number, deadline: RequestDeadline): Readable => {
  const counter = counting(maxBytes, deadline, `The answer is longer than ${maxBytes} bytes`)
  counter.on('close', () => {
    deadline.end()
    source.destroy()
  })
  source.on('error', error => counter.destroy(new Unreachable(`The answer broke off: ${error.message}`, { cause: error })))
  source.on('aborted', () => counter.destroy(new Unreachable('The response was interrupted')))
  return source.pipe(counter)
}
