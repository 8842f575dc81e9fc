import type { Clock } from '../ports/kernel.ts'

/** A clock that advances only when set. */
export class FixedClock implements Clock {
  #now: number

  constructor(start = '2026-01-05T10:00:00.000Z') {
    this.#now = Date.parse(start)
  }

  now(): Date {
    return new Date(this.#now)
  }

  advance(ms: number): void {
    this.#now += ms
  }
}
