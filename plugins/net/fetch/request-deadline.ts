import { Transform } from 'node:stream'
import { TooLarge } from 'pounce/sdk'
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
