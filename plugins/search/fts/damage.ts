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
const notADatabase = 26

/** The SQLite result code of an error; undefined for errors of other origin. */
export const sqliteCode = (error: unknown): number | undefined =>
  error instanceof Error && 'errcode' in error && typeof error.errcode === 'number' ? error.errcode : undefined

/** True for result codes that mean a damaged file. */
export const isDamage = (code: number | undefined): boolean => code !== undefined && [corrupt, notADatabase].includes(code & 0xff)
