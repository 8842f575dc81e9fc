import { setTimeout as pause } from 'node:timers/promises'

/**
 * Lets people on one by one, and in groups where too many come: what a group then writes shares the transactions of the store, so that a
 * crowd costs everybody else no more than a few people do. `burst` pass at once, then so many groups a second.
 */
export class SignInBatcher {
  #burst: number
  #perSecond: number
  #left: number
  #countedAt = performance.now()
  #group: Promise<void> | undefined

  constructor(burst: number, perSecond: number) {
    this.#burst = burst
    this.#perSecond = perSecond
    this.#left = burst
  }

  /** Resolves when it is one's turn: for all who wait in the same turn of the event loop. */
  pass(): Promise<void> {
    if (this.#group) return this.#group
    const now = performance.now()
    this.#left = Math.min(this.#burst, this.#left + ((now - this.#countedAt) / 1000) * this.#perSecond)
    this.#countedAt = now
    this.#left -= 1
    if (this.#left >= 0) return Promise.resolve()
    this.#group = pause((-this.#left / this.#perSecond) * 1000).then(() => {
      this.#group = undefined
    })
    return this.#group
  }
}
