import type { Clock } from 'pounce/sdk'

/** The machine's clock. */
export const systemClock: Clock = { now: () => new Date() }
