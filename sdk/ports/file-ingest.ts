import type { Readable } from 'node:stream'
import type { Caller } from '../model/caller.ts'
import type { FileRecord } from '../model/records.ts'
import { port } from '../port.ts'
import type { StagedBlob } from '../staged-blob.ts'
import type { BlobFacts, PutOptions } from './blob-store.ts'
import type { Json, Stored } from './document-store.ts'

/** Received bytes that are to become a file, with what was sent about them. */
export interface IncomingFile {
  /** As `FileIngest.nameOf` gave it. */
  readonly name: string
  /** As declared; absent or `application/octet-stream`: derived from the name. */
  readonly contentType?: string
  /** Disposed by the caller. */
  readonly blob: StagedBlob
  /** JSON-LD documents about it, checked by the caller; their agent is the uploader. */
  readonly metadata?: readonly { readonly context?: Json; readonly content: Json }[]
  /** Makes a repeat harmless: the file's id. */
  readonly id?: string
}

/** Where files are added: to no dataset, to the root of one, or to one of its folders. */
export interface IngestTarget {
  readonly dataset?: string | undefined
  readonly folder?: string | undefined
  /** Display names of folders below these, which are created where they are missing once the files are recorded. */
  readonly path?: readonly string[] | undefined
}

/** How the files of one upload are added. */
export interface IngestOptions extends IngestTarget {
  readonly extract: boolean
  readonly showPreviews?: FileRecord['showPreviews']
  /** The client reports the files to the feed itself (`addFileEvent`). */
  readonly isToldApart?: boolean
  /** Chosen by the client: uploads of a user to a dataset with the same batch are reported together, by `dataset.files-added`. */
  readonly batch?: string | undefined
}

/**
 * How sent bytes become files, whatever way they came. Stages: receive (bytes become durable, staged blobs), admit (rights, place and quotas, before the
 * bytes), record (admit again, then one commit per file, all files or none) and annotate (the metadata sent along, part of `record`).
 */
export interface FileIngest {
  /** A name as sent, in the form in which it is stored. `Invalid` for one that cannot stand in a path. */
  nameOf(sent: string): string
  /** A relative path as sent, such as `a/b/c.txt`: the folders on the way, and the name as `nameOf` gives it. `Invalid` for one that cannot be followed. */
  pathOf(sent: string): { readonly folders: readonly string[]; readonly name: string }
  /** The id of a batch as sent; `Invalid` for one that is no id. */
  batchOf(sent: string): string
  /** Stores bytes, as `BlobStore.put` does. */
  receive(source: Readable | Uint8Array, options?: PutOptions): Promise<StagedBlob>
  /** Registers a file of the server's disks where it lies. `Invalid` when no plugin does that, or not for this path. */
  receiveInPlace(path: string, signal?: AbortSignal): Promise<IncomingFile>
  /** Bytes that are stored already and that no record refers to, or soon will not. */
  stage(bytes: BlobFacts): StagedBlob
  /**
   * Before the bytes: `NotFound`, `Forbidden`, `Conflict` (in the trash) unless the caller may add files there, and refuses what exceeds a quota as resources
   * are now. Without a target, which is named after the bytes, only the caller's own quota counts; without an amount none. `isAuthorized`: the route has
   * checked the right, so the dataset is not read again.
   */
  admit(
    caller: Caller,
    target: IngestTarget | undefined,
    amount?: { readonly bytes: number; readonly files: number },
    options?: { readonly isAuthorized?: boolean },
  ): Promise<void>
  /**
   * After the bytes: checks again what `admit` does, for the caller as of now, since bytes can take hours. Makes all of them files, in the order given, or none;
   * blobs that did not become files stay staged, save those of which it is not known whether a record refers to them.
   */
  record(files: readonly IncomingFile[], caller: Caller, options: IngestOptions): Promise<readonly (FileRecord & Stored)[]>
}
export const FileIngest = port<FileIngest>('fileIngest')
