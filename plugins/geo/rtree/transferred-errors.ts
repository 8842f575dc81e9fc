import { sqliteCodeOf as codeOf, sqliteCodes as codes } from 'pounce/sdk/sqlite'

const away = new Set<unknown>([codes.busy, codes.locked, codes.readOnly, codes.ioError, codes.cannotOpen])
const damaged = new Set<unknown>([codes.corrupt, codes.notDatabase])

/** True when the in-memory state of the connection is no longer reliable, such as after a failed fsync. */
export const isBroken = (error: unknown): boolean => {
  const code = codeOf(error)
  return code === codes.ioError || code === codes.cannotOpen || damaged.has(code)
}

/** An error in transferable form: messages between threads lose classes. */
export interface TransferredError {
  readonly problem: 'invalid' | 'no-space' | 'unavailable' | undefined
  readonly message: string
  readonly stack: string | undefined
}

const messages = {
  'no-space': 'No storage space left; nothing was stored',
  away: 'The datapoint store is unavailable',
  damaged: 'The file of datapoints is damaged',
}

/** Classifies an error for callers: a full disk; an unavailable, locked or damaged file; an invalid argument. Other errors are unchanged. */
export const toTransferred = (error: unknown): TransferredError => {
  const { message, stack } = error instanceof Error ? error : new Error(String(error))
  const code = codeOf(error)
  if (code === codes.full) return { problem: 'no-space', message: messages['no-space'], stack }
  if (away.has(code)) return { problem: 'unavailable', message: messages.away, stack }
  if (damaged.has(code)) return { problem: 'unavailable', message: messages.damaged, stack }
  const isInvalid = error instanceof Error && 'code' in error && error.code === 'invalid'
  return { problem: isInvalid ? 'invalid' : undefined, message, stack }
}
