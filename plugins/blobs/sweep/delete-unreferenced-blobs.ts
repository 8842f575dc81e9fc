import { type AnyEvent, type BatchHandler, type BlobOwner, BlobOwners, BlobStore, type Contributions, wire } from 'pounce/sdk'

/** Stores that wait for a disk or a server share the wait. */
const atOnce = 50

/** Bytes go last, and only when no other record names them. */
export class DeleteUnreferencedBlobs implements BatchHandler {
  #blobs: BlobStore
  #owners: Contributions<BlobOwner>

  constructor(blobs: BlobStore, owners: Contributions<BlobOwner>) {
    this.#blobs = blobs
    this.#owners = owners
  }

  async handleAll(events: readonly AnyEvent[]): Promise<void> {
    const named = events.flatMap(({ data }) => ('blob' in data && data.blob !== null ? [data.blob] : []))
    let free = [...new Set(named)]
    for (const owner of this.#owners.all()) {
      if (free.length === 0) return
      const owned = await owner.owned(free)
      free = free.filter(key => !owned.has(key))
    }
    for (let at = 0; at < free.length; at += atOnce) await Promise.all(free.slice(at, at + atOnce).map(key => this.#blobs.remove(key)))
  }
}
wire(DeleteUnreferencedBlobs, BlobStore, BlobOwners)
