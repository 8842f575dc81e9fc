import { randomBytes } from 'node:crypto'
import type { Clock, Ids } from 'pounce/sdk'

const hex = (value: number, digits: number): string => value.toString(16).padStart(digits, '0')

/** ObjectIds: 4 bytes of seconds, 5 random bytes of this kernel, a counter of 3 bytes. Increasing also when the clock steps back. */
export class ObjectIds implements Ids {
  readonly #clock: Clock
  readonly #kernel = randomBytes(5).toString('hex')
  #second: number
  #counter: number

  /** `first`: where the counter of the first second begins. */
  constructor(clock: Clock, first = 0) {
    this.#clock = clock
    this.#counter = first
    this.#second = Math.floor(clock.now().getTime() / 1000)
  }

  next(): string {
    const now = Math.floor(this.#clock.now().getTime() / 1000)
    if (now > this.#second) {
      this.#second = now
      this.#counter = 0
    } else if (this.#counter > 0xff_ff_ff) {
      this.#second += 1
      this.#counter = 0
    }
    const id = hex(this.#second, 8) + this.#kernel + hex(this.#counter, 6)
    this.#counter += 1
    return id
  }
}
