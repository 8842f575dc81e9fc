import { randomBytes } from 'node:crypto'

const kernelBytes = 5
/** Hex digits of the time. */
const timeDigits = 14
const [secondBits, millisecondBits] = [24n, 14n]

/**
 * IDs of events: a hybrid logical clock in 24 hex digits. 32 bits of seconds, 10 of milliseconds and 14 of a counter are followed by 40 random bits of the
 * kernel. They rise in a kernel; given the ID of the last event of a document, they rise with its revisions, whichever kernel changes it and whatever its clock says.
 */
export class EventIds {
  readonly #kernel = randomBytes(kernelBytes).toString('hex')
  #last = 0n

  /** The next ID, greater than all before it and than `after`, the ID of an event of any kernel. `now`: milliseconds since 1970. */
  next(now: number, after = ''): string {
    const ms = BigInt(Math.floor(now))
    const time = ((ms / 1000n) << secondBits) | ((ms % 1000n) << millisecondBits)
    const seen = after === '' ? 0n : BigInt(`0x${after.slice(0, timeDigits)}`)
    // An overflow of the counter continues in the milliseconds.
    this.#last = [this.#last + 1n, seen + 1n].reduce((one, other) => (one > other ? one : other), time)
    return this.#last.toString(16).padStart(timeDigits, '0') + this.#kernel
  }
}
