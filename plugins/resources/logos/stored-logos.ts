import {
  type After,
  type BlobOwner,
  BlobStore,
  type Bytes,
  Clock,
  CommitConflict,
  collection,
  DocumentStore,
  eq,
  Ids,
  Invalid,
  Log,
  NotFound,
  type Page,
  type Stored,
  s,
  Taken,
  type Time,
  wire,
} from 'pounce/sdk'
import { changedNothing, typeOfBytes } from 'pounce/sdk/kit'

const pictures: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp'])

/**
 * The type of an image according to its bytes, not its sender. Throws `Invalid` for anything but PNG, JPEG, GIF and WebP: SVG can contain
 * scripts.
 */
const typeOfPicture = (bytes: Buffer): string => {
  const found = typeOfBytes(bytes)
  if (found === undefined || !pictures.has(found)) throw new Invalid('image must be a PNG, JPEG, GIF or WebP image')
  return found
}

/** The default image, used where there is no logo. */
export const standIn = Buffer.from(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64"><rect width="64" height="64" rx="12" fill="#2c5f7c"/><path d="M16 44V20h16a9 9 0 0 1 0 18h-9v6z" fill="#fff"/></svg>',
)

/** An image that represents the installation, a space or a user. */
export interface Logo {
  /** `GLOBAL`, `space-<id>` or `user-<id>`. */
  readonly path: string
  readonly name: string
  readonly blob: string
  readonly sizeBytes: number
  readonly sha256: string
  readonly contentType: string
  readonly author: string
  readonly created: Time
  /** Whether the name is shown next to it. */
  readonly showText: boolean
}

export const logos = collection<Logo>()('logos', {
  byPlace: { on: ['path', 'name'], unique: true },
  byName: { on: ['name', 'created'] },
  byCreated: { on: ['created'] },
  byBlob: { on: ['blob'] },
})

type StoredLogo = Logo & Stored

/** A received image. */
export interface NewLogo {
  readonly path: string
  readonly name: string
  readonly picture: Buffer
  readonly showText: boolean
  readonly author: string
}

/** Logos in the document store, their images in the blob store. Names are unique per path. */
export class StoredLogos {
  #documents: DocumentStore
  #blobs: BlobStore
  #ids: Ids
  #clock: Clock
  #log: Log

  constructor(documents: DocumentStore, blobs: BlobStore, ids: Ids, clock: Clock, log: Log) {
    this.#documents = documents
    this.#blobs = blobs
    this.#ids = ids
    this.#clock = clock
    this.#log = log
  }

  get(id: string): Promise<StoredLogo | undefined> {
    return this.#documents.get(logos, id)
  }

  async at(path: string, name: string): Promise<StoredLogo | undefined> {
    const where = { op: 'and', all: [eq('path', path), eq('name', name)] } as const
    return (await this.#documents.find(logos, { using: 'byPlace', where, limit: 1 })).items[0]
  }

  /** Logos with a path, with a name, with both, or all. */
  async page(
    { path, name }: { readonly path?: string | undefined; readonly name?: string | undefined },
    page: { readonly after?: After; readonly limit: number },
  ): Promise<Page<StoredLogo>> {
    if (path !== undefined && name !== undefined) {
      const found = await this.at(path, name)
      return { items: found ? [found] : [] }
    }
    const ascending = <const F extends string>(by: F) => ({ by, order: 'ascending' as const })
    if (path !== undefined)
      return this.#documents.find(logos, { using: 'byPlace', where: eq('path', path), sort: ascending('name'), ...page })
    const oldest = { sort: ascending('created'), ...page }
    if (name !== undefined) return this.#documents.find(logos, { using: 'byName', where: eq('name', name), ...oldest })
    return this.#documents.find(logos, { using: 'byCreated', ...oldest })
  }

  /** Replaces an existing logo; of two concurrent requests the later one wins. */
  async put({ picture, ...given }: NewLogo): Promise<StoredLogo> {
    const contentType = typeOfPicture(picture)
    const { key: blob, sizeBytes, sha256 } = await this.#blobs.put(picture)
    const logo: Logo = { ...given, blob, sizeBytes, sha256, contentType, created: this.#clock.now().toISOString() }
    try {
      return await this.#place(logo)
    } catch (error) {
      if (changedNothing(error)) await this.#dropBytes(blob)
      throw error
    }
  }

  async #place(logo: Logo): Promise<StoredLogo> {
    for (;;) {
      const old = await this.at(logo.path, logo.name)
      try {
        if (!old) return await this.#documents.commit({ insert: { id: this.#ids.next(), ...logo }, into: logos })
        const placed = await this.#documents.commit({ replace: { ...old, ...logo }, in: logos })
        await this.#dropBytes(old.blob)
        return placed
      } catch (error) {
        // Another request added or deleted one concurrently.
        if (!(error instanceof Taken) && !(error instanceof CommitConflict)) throw error
      }
    }
  }

  async setShowText({ id }: StoredLogo, showText: boolean): Promise<void> {
    try {
      await this.#documents.commit({ update: id, in: logos, set: { showText } })
    } catch (error) {
      throw error instanceof CommitConflict ? new NotFound('logo', { cause: error }) : error
    }
  }

  /** A deleted one is not an error. */
  async remove({ id, blob }: StoredLogo): Promise<void> {
    try {
      const removed = await this.#documents.commit({ tombstone: id, in: logos })
      await this.#dropBytes(removed.blob)
    } catch (error) {
      if (!(error instanceof CommitConflict)) throw error
      this.#log.debug('Logo already deleted', { id, blob })
    }
  }

  show({ blob, sizeBytes, sha256, contentType, created }: StoredLogo): Bytes {
    const open: Bytes['open'] = async range => {
      const stream = await this.#blobs.get(blob, range)
      if (!stream) throw new NotFound('logo', { cause: new Error(`the bytes ${blob} are missing`) })
      return stream
    }
    return { open, sizeBytes, sha256, contentType, inline: true, lastModified: new Date(created) }
  }

  async #dropBytes(blob: string): Promise<void> {
    try {
      await this.#blobs.remove(blob)
    } catch (error) {
      this.#log.warn('Failed to delete the bytes of a logo; the next sweep will', { blob, error })
    }
  }
}
wire(StoredLogos, DocumentStore, BlobStore, Ids, Clock, Log)

/** Which stored bytes belong to logos. */
export class LogoBlobs implements BlobOwner {
  readonly places = [{ in: logos, field: 'blob', sizeField: 'sizeBytes' }]
  #documents: DocumentStore

  constructor(documents: DocumentStore) {
    this.#documents = documents
  }

  async owned(keys: readonly string[]): Promise<ReadonlySet<string>> {
    const owned = new Set<string>()
    for (const key of keys) {
      const { items } = await this.#documents.find(logos, { using: 'byBlob', where: eq('blob', key), limit: 1 })
      if (items.length > 0) owned.add(key)
    }
    return owned
  }
}
wire(LogoBlobs, DocumentStore)

export const config = s.Object({
  maxKiB: s.Integer({ default: 2048, minimum: 1, maximum: 65_536, description: 'Maximum size of a logo, in KiB' }),
})
