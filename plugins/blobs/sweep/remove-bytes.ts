import { type BlobOwner, BlobOwners, BlobStore, type Contributions, type StoredEvent, wire } from 'pounce/sdk'

/** Bytes go last, and only when no other record names them. */
export class RemoveBytes {
  #blobs: BlobStore
  #owners: Contributions<BlobOwner>

  constructor(blobs: BlobStore, owners: Contributions<BlobOwner>) {
    this.#blobs = blobs
    this.#owners = owners
  }

  async handle({ data: { blob } }: StoredEvent<'file.removed' | 'preview.removed'>): Promise<void> {
    if (blob === null) return
    for (const owner of this.#owners.all()) if ((await owner.owned([blob])).has(blob)) return
    await this.#blobs.remove(blob)
  }
}
wire(RemoveBytes, BlobStore, BlobOwners)
