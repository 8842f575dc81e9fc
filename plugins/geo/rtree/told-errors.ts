import { sqliteCodeOf as codeOf, sqliteCodes as codes } from 'pounce/sdk/sqlite'

const away = new Set<unknown>([codes.busy, codes.locked, codes.readOnly, codes.ioError, codes.cannotOpen])
const damaged = new Set<unknown>([codes.corrupt, codes.notDatabase])

/** True when what the connection holds in memory can no longer be relied on, such as after a failed fsync. */
export const isBroken = (error: unknown): boolean => {
  const code = codeOf(error)
  return code === codes.ioError || code === codes.cannotOpen || damaged.has(code)
}

/** An error as it goes from one thread to another, which keeps no classes. */
export interface ToldError {
  readonly problem: 'invalid' | 'no-space' | 'unavailable' | undefined
  readonly message: string
  readonly stack: string | undefined
}

const messages = {
  'no-space': 'No storage space left; nothing was stored',
  away: 'The datapoint store is unavailable',
  damaged: 'The file of datapoints is damaged',
}

/** The errors that callers receive: a full disk, a file that is unavailable, locked or damaged, an argument that is wrong; other errors as they are. */
export const tell = (error: unknown): ToldError => {
  const { message, stack } = error instanceof Error ? error : new Error(String(error))
  const code = codeOf(error)
  if (code === codes.full) return { problem: 'no-space', message: messages['no-space'], stack }
  if (away.has(code)) return { problem: 'unavailable', message: messages.away, stack }
  if (damaged.has(code)) return { problem: 'unavailable', message: messages.damaged, stack }
  const isInvalid = error instanceof Error && 'code' in error && error.code === 'invalid'
  return { problem: isInvalid ? 'invalid' : undefined, message, stack }
}
