import { access, constants } from 'node:fs/promises'
import { NoSpace, Unavailable } from 'pounce/sdk'
import { sqliteCodeOf as codeOf, sqliteCodes as codes } from 'pounce/sdk/sqlite'

/** True for an error of the database itself, as opposed to one caused by a caller's change. */
export const isDatabaseError = (error: unknown): boolean => codeOf(error) !== undefined

/** True when the connection's in-memory state is no longer reliable, such as after a failed fsync. */
export const isBroken = (error: unknown): boolean => codeOf(error) === codes.ioError || codeOf(error) === codes.cannotOpen

/** The error for a caller: `NoSpace` for a full disk, `Unavailable` for one that fails or is locked; other errors are returned unchanged. */
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

/** For an error caused by a damaged file: an error with the file's name and advice. Other errors are returned unchanged. */
export const namingDamage = (file: string, error: unknown): unknown =>
  codeOf(error) === codes.corrupt || codeOf(error) === codes.notDatabase
    ? new Error(
        `The database ${file} is damaged (${(error as Error).message}): stop the server, keep a copy of the file, and restore a backup as docs/operations.md says`,
        { cause: error },
      )
    : error

const needsRights = 'the account of the server needs the right to read and write the file and its folder'

/** The same at startup, and for a full disk or a file without read or write permission. */
export const namingFile = (file: string, error: unknown): unknown => {
  const underlying = codeOf(error) === undefined ? (error as { readonly cause?: unknown }).cause : error
  const reasons: Readonly<Record<number, string>> = {
    [codes.full]: 'its disk is full: delete files there',
    [codes.readOnly]: needsRights,
    [codes.cannotOpen]: needsRights,
  }
  const reason = reasons[codeOf(underlying) ?? 0]
  if (reason === undefined) return namingDamage(file, error)
  return new Error(`The database ${file} cannot be opened (${(underlying as Error).message}): ${reason}`, { cause: error })
}

/** Throws for an existing file without write permission: SQLite would open it for reading. */
export const requireWritable = async (file: string): Promise<void> => {
  await access(file, constants.W_OK).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT')
      throw new Error(`The database ${file} cannot be opened (${error.message}): ${needsRights}`, { cause: error })
  })
}
