import { BlobStore, type Bytes, NotFound, wire } from 'pounce/sdk'

interface Shown {
  readonly id: string
  readonly blob: string
  readonly sizeBytes: number
  readonly contentType: string
  readonly filename: string
  readonly created: string
}

/** Returns the bytes of previews and thumbnails, inline if their type is safe. */
export class DerivedBytes {
  #blobs: BlobStore

  constructor(blobs: BlobStore) {
    this.#blobs = blobs
  }

  show({ id, blob, sizeBytes, contentType, filename, created }: Shown): Bytes {
    return {
      open: async range => {
        const stream = await this.#blobs.get(blob, range)
        if (!stream) throw new NotFound('preview', { cause: new Error(`the bytes ${blob} are missing`) })
        return stream
      },
      sizeBytes,
      contentType,
      inline: true,
      lastModified: new Date(created),
      // The bytes of a record never change, but its URL may refer to another record: a tile that is replaced.
      etag: id,
      ...(filename === '' ? {} : { filename }),
    }
  }
}
wire(DerivedBytes, BlobStore)
