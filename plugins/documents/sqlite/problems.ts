import { NoSpace, Unavailable } from 'pounce/sdk'
import { sqliteCodeOf as codeOf, sqliteCodes as codes } from 'pounce/sdk/sqlite'

/** True of an error of the database itself, as against one that a caller's change brought about. */
export const isDatabaseError = (error: unknown): boolean => codeOf(error) !== undefined

/** True when what the connection holds in memory can no longer be relied on, such as after a failed fsync. */
export const isBroken = (error: unknown): boolean => codeOf(error) === codes.ioError || codeOf(error) === codes.cannotOpen

/** The error for a caller: `NoSpace` for a full disk, `Unavailable` for one that fails or is locked; other errors as they are. */
export const problemOf = (error: unknown): Error => {
  const cause = error instanceof Error ? error : new Error(String(error))
  switch (codeOf(error)) {
    case codes.full:
      return new NoSpace(undefined, { cause })
    case codes.busy:
    case codes.locked:
    case codes.readOnly:
    case codes.ioError:
    case codes.cannotOpen:
      return new Unavailable('The document store is unavailable', { cause })
    default:
      return cause
  }
}
