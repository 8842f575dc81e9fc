import { mock } from 'node:test'

const now = performance.now.bind(performance)
let laterMs = 0

/** Advances the monotonic clock of this process permanently. Pending timers do not fire. */
export const advanceClock = (ms: number): void => {
  if (laterMs === 0) mock.method(performance, 'now', () => now() + laterMs)
  laterMs += ms
}
