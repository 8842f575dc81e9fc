import type { Readable } from 'node:stream'
import type { ByteRange } from '../bytes.ts'
import { contributions, port } from '../port.ts'
import type { Collection } from './document-store.ts'

/** What is known of stored bytes. */
export interface BlobFacts {
  /** Opaque, at most 200 characters of `[a-z0-9/._-]`; assigned by the store. */
  readonly key: string
  readonly sizeBytes: number
  /** Hex. */
  readonly sha256: string
}

/** A stored blob as `list` shows it. */
export interface BlobEntry {
  readonly key: string
  readonly sizeBytes: number
  readonly modified: Date
}

/** What the caller expects and the store may verify. */
export interface PutOptions {
  /** `Invalid` if the length of the stream differs; also lets a store choose how to write. */
  readonly sizeBytes?: number
  /** Hex; `Invalid` if the bytes have another digest. */
  readonly sha256?: string
  /** Aborts: nothing is kept, the promise rejects with the signal's reason. */
  readonly signal?: AbortSignal
}

/**
 * Bytes under keys that the store assigns. Nothing incomplete is ever visible, and an acknowledged put survives a power failure.
 *
 * When the store is unavailable calls reject with `Unavailable` within 10 s; when it is full with `NoSpace`, and nothing is kept.
 */
export interface BlobStore {
  /**
   * Stores a stream (or a buffer) of any length, also of unknown length and of 0 bytes; resolves when the bytes are durable, with their
   * length and the SHA-256 taken while writing. A source that fails rejects the put with its error and leaves nothing behind.
   * Never holds more than a few MiB of it in memory.
   */
  put(source: Readable | Uint8Array, options?: PutOptions): Promise<BlobFacts>
  /**
   * Opens bytes, whole or a part, both ends inclusive and inside the blob (else `Invalid`). Absent: undefined.
   * The stream has back-pressure, and fails (never ends early) when the bytes turn out to be damaged (`CorruptContent`) or the store becomes unavailable.
   */
  get(key: string, range?: ByteRange): Promise<Readable | undefined>
  /** Undefined when absent. */
  stat(key: string): Promise<BlobFacts | undefined>
  /** Removes bytes. An absent key is not an error. */
  remove(key: string): Promise<void>
  /** All blobs, in no order, read while you iterate. Blobs put or removed meanwhile may or may not be seen. */
  list(): AsyncIterable<BlobEntry>
  /**
   * Capability `localPath`: where the bytes lie as one readable file of this machine, when they do. Never write to it.
   * Absent method: the store has no files; undefined: this blob has none.
   */
  localPath?(key: string): Promise<string | undefined>
  /**
   * Capability `putGrowing`: a put of which, every so often, what came until then becomes a blob of its own without a copy. `keep` receives it when it is
   * durable, one at a time, while more comes; it is the caller's to remove. A `keep` that rejects fails the put, and a put that fails leaves those blobs only.
   * Absent: the store, or the disk below it, cannot do that.
   */
  readonly putGrowing?:
    | ((
        source: Readable,
        growth: { readonly everyBytes: number; readonly everyMs: number; keep(beginning: BlobFacts): Promise<void> },
      ) => Promise<BlobFacts>)
    | undefined
  /**
   * Capability `crc32`: the CRC-32 of the whole bytes as in ZIP, an unsigned number, without reading them. Absent method: the store does not keep
   * it; undefined: it is not known of this blob, or the blob is absent.
   */
  crc32?(key: string): Promise<number | undefined>
  /**
   * Capability `temporaryUrl`: a URL of another server from which anyone can download the whole bytes until it expires, as an attachment
   * of this name and type. The caller's right is checked before. Absent method, or undefined: send the bytes yourself.
   */
  temporaryUrl?(key: string, options: TemporaryUrlOptions): Promise<string | undefined>
  /**
   * Capability `objectAddress`: where the bytes lie on an S3 server, for programs that may read there directly. Shown to server admins only.
   * Absent method, or undefined: not on such a server.
   */
  objectAddress?(key: string): Promise<ObjectAddress | undefined>
  /** Capability `liesElsewhere`: true for a key whose bytes are not in the store. Migrations to another store keep it. */
  liesElsewhere?(key: string): boolean
}

/** An object of an S3 server. */
export interface ObjectAddress {
  readonly endpoint: string
  readonly bucket: string
  readonly key: string
}

/** The content of a temporary URL. */
export interface TemporaryUrlOptions {
  /** From the record: the store decides by it whether a redirect is worthwhile. */
  readonly sizeBytes: number
  readonly filename: string
  readonly contentType: string
  readonly expiresInMs: number
}

export const BlobStore = port<BlobStore>('blobStore')

/** Files of this machine that stay where they are, and can be read by a `BlobStore` key like stored bytes once they are registered. */
export interface InPlaceFiles {
  /**
   * Reads a file once to its end and records its length, digest and time of change. A file that is changed afterwards is not delivered
   * (`CorruptContent`). Removing the key removes the registration and leaves the file. `Invalid` unless the path leads to a regular file inside one of the
   * folders that the configuration lists, with links resolved.
   */
  register(path: string, signal?: AbortSignal): Promise<BlobFacts>
}
export const InPlaceFiles = contributions<InPlaceFiles>('inPlaceFiles')

/** A field, not below an array, that holds the key of a blob, or null. */
export interface BlobPlace {
  readonly in: Collection<object>
  /** Dotted path. */
  readonly field: string
}

/** Each plugin whose records name blobs contributes one, so that unreferenced blobs can be found and shared ones are kept. */
export interface BlobOwner {
  /** Where its records refer to them, so that they can be migrated to another store under other keys. */
  readonly places: readonly BlobPlace[]
  /** Those of the keys that a record of this plugin refers to. At most 1,000. */
  owned(keys: readonly string[]): Promise<ReadonlySet<string>>
}
/** Plugins whose records refer to blobs. */
export const BlobOwners = contributions<BlobOwner>('blobOwners')

/** Receives reports of damaged blobs, and marks what refers to them. */
export interface DamageReports {
  /** `found`: by a reader, or by the regular verification. Never rejects; repeated reports have no effect. */
  damaged(key: string, found: 'read' | 'scrub'): Promise<void>
  /** Opens bytes and reports when they are missing, or when opening or reading them fails with `CorruptContent`. */
  open(key: string, get: () => Promise<Readable | undefined>): Promise<Readable | undefined>
}
export const DamageReports = port<DamageReports>('damageReports')
