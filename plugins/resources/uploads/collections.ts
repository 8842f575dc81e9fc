import { collection, type FileRecord, type Json, type Time } from 'pounce/sdk'

/** A resumable upload. Its id becomes that of the file. */
export interface UploadRecord {
  readonly owner: string
  readonly name: string
  readonly contentType: string
  readonly lengthBytes: number
  readonly dataset: string | null
  readonly folder: string | null
  /** Names of the folders below the target, which are created with the file. */
  readonly path?: readonly string[]
  /** The batch that it belongs to. */
  readonly batch?: string
  readonly extract: boolean
  readonly showPreviews: FileRecord['showPreviews']
  /** JSON-LD documents for the file. */
  readonly metadata: readonly { readonly context?: Json; readonly content: Json }[]
  /** SHA-256 of the whole file, as announced by the client. */
  readonly sha256: string | null
  /** The header as sent, for HEAD. */
  readonly sentMetadata: string
  readonly started: Time
  readonly expires: Time
  readonly state: 'open' | 'finished'
  /** Number of durable bytes that count. */
  readonly receivedBytes: number
  /** Id of the last part that counts; each part refers to the previous one. */
  readonly tail: string | null
  readonly partCount: number
  /** Identifies the request that may append. */
  readonly writer: string
}

/** Uploads in progress or recently finished. */
export const uploads = collection<UploadRecord>()('uploads', {
  byOwner: { on: ['owner', 'state', 'started'] },
  byExpiry: { on: ['expires'] },
})

/** Durable bytes of an upload. They count once the part is reachable from the upload's `tail`. */
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
