/** SQLite refused to continue because the file is damaged or is no database. */
export class DamagedIndex extends Error {
  override readonly name = 'DamagedIndex'
}

/** The file is an index that another version of this program made. */
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

/** SQLite's number of an error of its own. */
export const sqliteCode = (error: unknown): number | undefined =>
  error instanceof Error && 'errcode' in error && typeof error.errcode === 'number' ? error.errcode : undefined

/** True of SQLite's ways of saying that a file is damaged. */
export const isDamage = (code: number | undefined): boolean => code !== undefined && [corrupt, notADatabase].includes(code & 0xff)
