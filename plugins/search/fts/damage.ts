/** SQLite reports that the file is damaged or is not a database. */
export class DamagedIndex extends Error {
  override readonly name = 'DamagedIndex'
}

/** The index was written by another version of this program. */
export class OtherIndexVersion extends Error {
  override readonly name = 'OtherIndexVersion'
  readonly version: unknown

  constructor(version: unknown) {
    super(`The index has version ${version}`)
    this.version = version
  }
}

const corrupt = 11
const full = 13
/** No space for the memory that connections share (`SQLITE_IOERR_SHMSIZE`), which SQLite calls an I/O error. */
const noSharedMemory = 4874
const notADatabase = 26

/** The SQLite result code of an error; undefined for errors of other origin. */
export const sqliteCode = (error: unknown): number | undefined =>
  error instanceof Error && 'errcode' in error && typeof error.errcode === 'number' ? error.errcode : undefined

/** True for result codes that mean a damaged file. */
export const isDamage = (code: number | undefined): boolean => code !== undefined && [corrupt, notADatabase].includes(code & 0xff)

/** True for an error of SQLite or the file system that means a full disk. */
export const isFull = (error: unknown): boolean => {
  const code = sqliteCode(error)
  if (code !== undefined) return (code & 0xff) === full || code === noSharedMemory
  return error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT')
}
