import { isDiskFull } from 'pounce/sdk/kit'
import { sqliteCodeOf, sqliteCodes } from 'pounce/sdk/sqlite'

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

/** True for result codes that mean a damaged file. */
export const isDamage = (code: number | undefined): boolean => code === sqliteCodes.corrupt || code === sqliteCodes.notDatabase

/** True for an error of SQLite or the file system that means a full disk. */
export const isFull = (error: unknown): boolean => sqliteCodeOf(error) === sqliteCodes.full || isDiskFull(error)
