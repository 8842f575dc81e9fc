import { mock } from 'node:test'

const now = performance.now.bind(performance)
let laterMs = 0

/** Puts the clock that counts what has passed on in this process, for good: it never goes back. Timers that run are not fired. */
export const later = (ms: number): void => {
  if (laterMs === 0) mock.method(performance, 'now', () => now() + laterMs)
  laterMs += ms
}
