import { createHash } from 'node:crypto'

/** The same id for the same parts, so that what is made twice is there once. */
export const derivedId = (...parts: readonly string[]): string => createHash('sha256').update(parts.join('\n')).digest('hex').slice(0, 24)
