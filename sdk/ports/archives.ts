import type { Bytes } from '../bytes.ts'
import type { FileRecord } from '../model/records.ts'
import { port } from '../port.ts'
import type { Stored } from './document-store.ts'

/** A file and its path in an archive. */
export interface FileInArchive {
  readonly file: FileRecord & Stored
  /** Folder names from the top down; equal paths are the same folder. */
  readonly folders: readonly string[]
}

/** An archive that is generated while it is sent, and its size. */
export interface Archive {
  /** With length, ETag and range support: interrupted downloads can be resumed. */
  readonly bytes: Bytes
  readonly files: number
  readonly folders: number
  /** Total size of all files. */
  readonly fileBytes: number
}

/** A small generated member of an archive. */
export interface ArchiveMember {
  /** Relative path, separated by `/`. */
  readonly path: string
  readonly bytes: Buffer
}

/**
 * Multiple files as one ZIP: uncompressed, ZIP64 where needed, with names made safe and unique within their folder. The caller must have checked the download
 * permission. If a file's bytes are missing or damaged, the download is aborted; the file is never omitted.
 */
export interface Archives {
  /** Whole datasets, one folder each; deleted and trashed ones are omitted. */
  ofDatasets(ids: readonly string[], filename: string): Promise<Archive>
  /** Files at paths chosen by the caller. */
  ofFiles(files: Iterable<FileInArchive> | AsyncIterable<FileInArchive>, filename: string): Promise<Archive>
  /** Generated members, each created when it is written; the length is unknown, so there are no ranges. */
  ofMembers(members: AsyncIterable<ArchiveMember>, filename: string): Bytes
}
export const Archives = port<Archives>('archives')
