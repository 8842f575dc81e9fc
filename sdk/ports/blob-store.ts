import type { Readable } from 'node:stream'
import type { ByteRange } from '../bytes.ts'
import { contributions, port } from '../port.ts'
import type { Collection } from './document-store.ts'

/** Key, size and checksum of stored bytes. */
export interface BlobInfo {
  /** Opaque, at most 200 characters of `[a-z0-9/._-]`; assigned by the store. */
  readonly key: string
  readonly sizeBytes: number
  /** Hex. */
  readonly sha256: string
}

/** A stored blob as returned by `list`. */
export interface BlobEntry {
  readonly key: string
  readonly sizeBytes: number
  readonly modified: Date
}

/** Expectations that the store verifies, and a signal. */
export interface PutOptions {
  /** `Invalid` if the actual length differs; the store may also choose a write strategy by it. */
  readonly sizeBytes?: number
  /** Hex; `Invalid` if the actual digest differs. */
  readonly sha256?: string
  /** On abort nothing is stored, and the promise rejects with the signal's reason. */
  readonly signal?: AbortSignal
}

/**
 * Immutable bytes under keys assigned by the store. Incomplete blobs are never visible, and an acknowledged put survives a power failure.
 *
 * While the store is unavailable, calls reject with `Unavailable` within 10 s; when it is full, with `NoSpace`, and nothing is stored.
 */
export interface BlobStore {
  /**
   * Stores a stream or buffer of any length, including 0 bytes and unknown length; resolves when the bytes are durable, with their length and the SHA-256
   * computed while writing. If the source fails, the put rejects with its error and nothing is stored. Never buffers more than a few MiB.
   */
  put(source: Readable | Uint8Array, options?: PutOptions): Promise<BlobInfo>
  /**
   * Opens all bytes or a range (both ends inclusive and inside the blob, otherwise `Invalid`). Undefined if the key is absent. The stream has back-pressure,
   * and fails rather than ends early when the bytes are damaged (`CorruptContent`) or the store becomes unavailable.
   */
  get(key: string, range?: ByteRange): Promise<Readable | undefined>
  /** Undefined if the key is absent. */
  stat(key: string): Promise<BlobInfo | undefined>
  /** Removes bytes. An absent key is not an error. */
  remove(key: string): Promise<void>
  /** All blobs, unordered, read lazily. Blobs added or removed during the iteration may or may not be included. */
  list(): AsyncIterable<BlobEntry>
  /**
   * Capability `localPath`: the path of the bytes as a single readable file on this machine. Never write to it. Absent method: the store has no files;
   * undefined: this blob has none.
   */
  localPath?(key: string): Promise<string | undefined>
  /**
   * Capability `putGrowing`: a put that periodically makes the bytes received so far available as a separate blob, without copying. `keep` is called for each
   * such blob once it is durable, one at a time, while the upload continues; the caller has to remove these blobs. If `keep` rejects, the put fails; a failed
   * put leaves only these blobs. Absent if the store or its disk does not support this.
   */
  readonly putGrowing?:
    | ((
        source: Readable,
        growth: { readonly everyBytes: number; readonly everyMs: number; keep(beginning: BlobInfo): Promise<void> },
      ) => Promise<BlobInfo>)
    | undefined
  /**
   * Capability `crc32`: the CRC-32 of all bytes as in ZIP, as an unsigned number, without reading them. Absent method: not supported by the store; undefined:
   * unknown for this blob, or the blob is absent.
   */
  crc32?(key: string): Promise<number | undefined>
  /**
   * Capability `temporaryUrl`: a URL on another server where anyone can download all bytes until it expires, as an attachment with the given name and type. The
   * caller must check permissions first. Absent method, or undefined: the bytes must be sent by this server.
   */
  temporaryUrl?(key: string, options: TemporaryUrlOptions): Promise<string | undefined>
  /**
   * Capability `objectAddress`: the location of the bytes on an S3 server, for programs with direct access to it. Shown to server admins only. Absent method,
   * or undefined: not on such a server.
   */
  objectAddress?(key: string): Promise<ObjectAddress | undefined>
  /** Capability `liesElsewhere`: true for a key whose bytes are not in the store. Migrations to another store keep such keys. */
  liesElsewhere?(key: string): boolean
}

/** An object on an S3 server. */
export interface ObjectAddress {
  readonly endpoint: string
  readonly bucket: string
  readonly key: string
}

/** The content of a temporary URL. */
export interface TemporaryUrlOptions {
  /** From the record; lets the store decide whether a redirect is worthwhile. */
  readonly sizeBytes: number
  readonly filename: string
  readonly contentType: string
  readonly expiresInMs: number
}

export const BlobStore = port<BlobStore>('blobStore')

/** Files on this machine that stay in place and, once registered, are read through a `BlobStore` key like stored bytes. */
export interface InPlaceFiles {
  /**
   * Reads a file once and records its length, digest and modification time. A file modified later is not delivered (`CorruptContent`). Removing the key removes
   * the registration but not the file. `Invalid` unless the path, with symbolic links resolved, is a regular file inside one of the configured folders.
   */
  register(path: string, signal?: AbortSignal): Promise<BlobInfo>
}
export const InPlaceFiles = contributions<InPlaceFiles>('inPlaceFiles')

/** A field, outside of arrays, that contains a blob key or null. */
export interface BlobPlace {
  readonly in: Collection<object>
  /** Dotted path. */
  readonly field: string
  /** The field with the number of bytes, a dotted path; absent if the records do not have it. */
  readonly sizeField?: string
}

/**
 * Contributed by each plugin whose records refer to blobs, so that unreferenced blobs can be found and shared ones are kept. While a plugin that contributed one
 * is not loaded, no unreferenced blobs are deleted: it is recognized by the collections in `places`.
 */
export interface BlobOwner {
  /** The fields with blob keys, for migration to another store with other keys. */
  readonly places: readonly BlobPlace[]
  /** The subset of keys that records of this plugin refer to. At most 1,000 keys. */
  owned(keys: readonly string[]): Promise<ReadonlySet<string>>
}
/** Plugins whose records refer to blobs. */
export const BlobOwners = contributions<BlobOwner>('blobOwners')

/** Receives reports of damaged blobs and marks the records that refer to them. */
export interface DamageReports {
  /** `found`: by a reader or by the periodic verification. Never rejects; repeated reports have no effect. */
  damaged(key: string, found: 'read' | 'scrub'): Promise<void>
  /** Opens bytes, and reports them if they are missing or if opening or reading fails with `CorruptContent`. */
  open(key: string, get: () => Promise<Readable | undefined>): Promise<Readable | undefined>
}
export const DamageReports = port<DamageReports>('damageReports')
