import { createHash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { Clock, Conflict, collection, DocumentStore, Ids, type InPlaceFiles, wire } from 'pounce/sdk'
import type { BlobInfo } from 'pounce/sdk/store-kit'
import { ListedFolders } from './listed-folders.ts'

/** A registered file, as of its registration. */
export interface RegisteredFile {
  /** Absolute, with links resolved. */
  readonly path: string
  readonly sizeBytes: number
  readonly sha256: string
  /** Modification time in nanoseconds, as text, since it exceeds a number's precision. */
  readonly modifiedNs: string
  readonly registered: string
}

/** Registered files, which are found by ID only. */
export const registrations = collection<RegisteredFile>()('in-place-files')

const prefix = 'in-place/'

const keyOf = (id: string): string => `${prefix}${id}`

/** The ID in a key of ours; undefined for keys of the underlying store. */
export const idIn = (key: string): string | undefined => (key.startsWith(prefix) ? key.slice(prefix.length) : undefined)

/** Registers files of this machine by path. */
export class RegisteredFiles implements InPlaceFiles {
  readonly #folders: ListedFolders
  readonly #documents: DocumentStore
  readonly #ids: Ids
  readonly #clock: Clock

  constructor(folders: ListedFolders, documents: DocumentStore, ids: Ids, clock: Clock) {
    this.#folders = folders
    this.#documents = documents
    this.#ids = ids
    this.#clock = clock
  }

  async register(path: string, signal?: AbortSignal): Promise<BlobInfo> {
    const { path: real, handle } = await this.#folders.open(path)
    try {
      const { sizeBytes, sha256, modifiedNs } = await readWhole(handle, signal)
      const id = this.#ids.next()
      const registered = this.#clock.now().toISOString()
      await this.#documents.commit({ insert: { id, path: real, sizeBytes, sha256, modifiedNs, registered }, into: registrations })
      return { key: keyOf(id), sizeBytes, sha256 }
    } finally {
      await handle.close()
    }
  }
}
wire(RegisteredFiles, ListedFolders, DocumentStore, Ids, Clock)

const readWhole = async (handle: FileHandle, signal: AbortSignal | undefined) => {
  const before = await handle.stat({ bigint: true })
  const hash = createHash('sha256')
  const buffer = Buffer.allocUnsafe(1024 * 1024)
  let sizeBytes = 0
  for (;;) {
    signal?.throwIfAborted()
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, sizeBytes)
    if (bytesRead === 0) break
    hash.update(buffer.subarray(0, bytesRead))
    sizeBytes += bytesRead
  }
  const after = await handle.stat({ bigint: true })
  if (after.mtimeNs !== before.mtimeNs || after.size !== BigInt(sizeBytes)) {
    throw new Conflict('The file changed while it was read: register it when it is complete')
  }
  return { sizeBytes, sha256: hash.digest('hex'), modifiedNs: String(after.mtimeNs) }
}
