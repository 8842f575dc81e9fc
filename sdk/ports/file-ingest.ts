import type { Readable } from 'node:stream'
import type { Caller } from '../model/caller.ts'
import type { FileRecord } from '../model/records.ts'
import { port } from '../port.ts'
import type { StagedBlob } from '../staged-blob.ts'
import type { BlobInfo, PutOptions } from './blob-store.ts'
import type { Json, Stored } from './document-store.ts'

/** Received bytes that are to become a file, with accompanying data. */
export interface IncomingFile {
  /** As returned by `FileIngest.nameOf`. */
  readonly name: string
  /** As declared; if absent or `application/octet-stream`, derived from the name. */
  readonly contentType?: string
  /** Disposed by the caller. */
  readonly blob: StagedBlob
  /** JSON-LD documents, validated by the caller; their agent is the uploader. */
  readonly metadata?: readonly { readonly context?: Json; readonly content: Json }[]
  /** The file's id; makes repeated calls idempotent. */
  readonly id?: string
  /** A digest of the upload, instead of `id`: repeated calls create one file, and another one once that is deleted. */
  readonly key?: string
}

/** Where to add files: to no dataset, to the root of a dataset, or to one of its folders. */
export interface IngestTarget {
  readonly dataset?: string | undefined
  readonly folder?: string | undefined
  /** Display names of nested folders below; missing ones are created once the files are recorded. */
  readonly path?: readonly string[] | undefined
}

/** Options for adding the files of one upload. */
export interface IngestOptions extends IngestTarget {
  readonly extract: boolean
  readonly showPreviews?: FileRecord['showPreviews']
  /** The client adds the feed lines itself (`addFileEvent`). */
  readonly isToldApart?: boolean
  /** Chosen by the client: a user's uploads to a dataset with the same batch are reported together by `dataset.files-added`. */
  readonly batch?: string | undefined
}

/**
 * Turns received bytes into files, for all upload routes. Stages: receive (store the bytes durably as staged blobs), admit (check rights, target and quotas
 * before the bytes), record (check again, then commit each file; all files or none) and annotate (store accompanying metadata; part of `record`).
 */
export interface FileIngest {
  /** The stored form of a file name. `Invalid` for a name that is not allowed in a path. */
  nameOf(sent: string): string
  /** Splits a relative path such as `a/b/c.txt` into folders and the name, as `nameOf` returns it. `Invalid` for a malformed path. */
  pathOf(sent: string): { readonly folders: readonly string[]; readonly name: string }
  /** Validates a batch id; `Invalid` if malformed. */
  batchOf(sent: string): string
  /** Stores bytes, as `BlobStore.put` does. */
  receive(source: Readable | Uint8Array, options?: PutOptions): Promise<StagedBlob>
  /** Registers a file on the server's disks without copying it. `Invalid` if no plugin supports that, or not for this path. */
  receiveInPlace(path: string, signal?: AbortSignal): Promise<IncomingFile>
  /** Wraps stored bytes that no record refers to, now or soon. */
  stage(bytes: BlobInfo): StagedBlob
  /**
   * Before the bytes are received: throws `NotFound`, `Forbidden` or `Conflict` (trash) unless the caller may add files there, and checks the quotas against
   * current usage. Without a target, which is determined after the bytes, only the caller's own quota is checked; without an amount none is. `isAuthorized`:
   * the route has checked the permission, so the dataset is not read again.
   */
  admit(
    caller: Caller,
    target: IngestTarget | undefined,
    amount?: { readonly bytes: number; readonly files: number },
    options?: { readonly isAuthorized?: boolean },
  ): Promise<void>
  /**
   * After the bytes were received: repeats the checks of `admit`, since uploads can take hours. Makes files of all of them, in the given order, or of none.
   * Blobs that did not become files stay staged, except when it is unknown whether a record refers to them.
   */
  record(files: readonly IncomingFile[], caller: Caller, options: IngestOptions): Promise<readonly (FileRecord & Stored)[]>
}
export const FileIngest = port<FileIngest>('fileIngest')
