import { contributions } from '../port.ts'

/** What was copied. Files that the backup already contains are not copied again. */
export interface BackupCopy {
  readonly copied: number
  readonly unchanged: number
  /** Total size of the copied files, in bytes. */
  readonly bytes: number
}

/** A store in files on this machine, for `pounce backup`. Stores on servers have backup tools of their own. */
export interface BackupPart {
  /** The folder in the backup, the same as in the data folder: `documents`. */
  readonly name: string
  /** Records are copied first. */
  readonly holds: 'records' | 'bytes'
  /** The folder that is copied. */
  readonly source: string
  /**
   * Bytes: keeps those that are removed from now on until the returned function is called, because records that were copied before may still refer to them.
   */
  retain?(): () => Promise<void>
  /** Copies a consistent state into a folder while the store is in use. Resolves when the copy is durable. */
  copyTo(folder: string, progress: (message: string) => void): Promise<BackupCopy>
}
/** Stores that `pounce backup` copies. */
export const BackupParts = contributions<BackupPart>('backupParts')
