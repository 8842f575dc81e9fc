import type { Log } from '../ports/kernel.ts'

const nothing = (): void => undefined

/** A log that discards everything. */
export const silent: Log = { debug: nothing, info: nothing, warn: nothing, error: nothing }
