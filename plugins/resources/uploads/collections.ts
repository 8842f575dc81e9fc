import { collection, type FileRecord, type Json, type Time } from 'pounce/sdk'

/** A file on its way. Its id becomes the file's. */
export interface UploadRecord {
  readonly owner: string
  readonly name: string
  readonly contentType: string
  readonly lengthBytes: number
  readonly dataset: string | null
  readonly folder: string | null
  /** Names of folders below these, which are created with the file. */
  readonly path?: readonly string[]
  /** Which uploads it belongs to. */
  readonly batch?: string
  readonly extract: boolean
  readonly showPreviews: FileRecord['showPreviews']
  /** JSON-LD documents for the file. */
  readonly metadata: readonly { readonly context?: Json; readonly content: Json }[]
  /** Of the whole, as the client announced it. */
  readonly sha256: string | null
  /** The header as it was sent, for HEAD. */
  readonly sentMetadata: string
  readonly started: Time
  readonly expires: Time
  readonly state: 'open' | 'finished'
  /** So many bytes are durable and count. */
  readonly receivedBytes: number
  /** Id of the last part that counts; each part names the one before it. */
  readonly tail: string | null
  readonly partCount: number
  /** Names the request that may add to it. */
  readonly writer: string
}

/** Uploads under way and just finished. */
export const uploads = collection<UploadRecord>()('uploads', {
  byOwner: { on: ['owner', 'state', 'started'] },
  byExpiry: { on: ['expires'] },
})

/** Bytes of an upload that are durable. They count once the upload's `tail` leads to them. */
export interface PartRecord {
  readonly upload: string
  readonly startByte: number
  readonly sizeBytes: number
  readonly sha256: string
  readonly blob: string
  readonly previous: string | null
}

export const parts = collection<PartRecord>()('upload-parts', {
  byUpload: { on: ['upload', 'startByte'] },
  byBlob: { on: ['blob'] },
})
