import type { Bytes } from '../bytes.ts'
import type { FileRecord } from '../model/records.ts'
import { port } from '../port.ts'
import type { Stored } from './document-store.ts'

/** A file and where it is to lie in an archive. */
export interface FileInArchive {
  readonly file: FileRecord & Stored
  /** Names of folders from the top down; the same names are one folder. */
  readonly folders: readonly string[]
}

/** An archive that is written while it is sent, and what it holds. */
export interface Archive {
  /** With a length, an ETag and ranges: a download that broke off can be resumed. */
  readonly bytes: Bytes
  readonly files: number
  readonly folders: number
  /** Of all files together. */
  readonly fileBytes: number
}

/** A small generated member of an archive. */
export interface ArchiveMember {
  /** Relative, with `/` between its parts. */
  readonly path: string
  readonly bytes: Buffer
}

/**
 * Many files as one ZIP: stored, ZIP64 where needed, names kept but safe and unique in their folder. Anyone who calls has checked the right to
 * download. A file whose bytes are missing or damaged breaks the download off; it is never left out.
 */
export interface Archives {
  /** Whole datasets, a folder for each; those that are gone or in the trash are left out. */
  ofDatasets(ids: readonly string[], filename: string): Promise<Archive>
  /** Files at places of the caller's choice. */
  ofFiles(files: Iterable<FileInArchive> | AsyncIterable<FileInArchive>, filename: string): Promise<Archive>
  /** Generated members, each made when it is written: of unknown length, without ranges. */
  ofMembers(members: AsyncIterable<ArchiveMember>, filename: string): Bytes
}
export const Archives = port<Archives>('archives')
