import { Clock, Log, wire } from 'pounce/sdk'
import { asBase64, type RequestBody, signDigest } from './blob-writer.ts'
import { BucketObjects } from './bucket-objects.ts'
import { S3Connection } from './connection.ts'
import { parseKey, sumsNameOf } from './layout.ts'
import { statusOf } from './s3-problems.ts'

/** A multipart upload that was neither completed nor aborted. */
export interface PendingUpload {
  /** The name of the future object. */
  readonly name: string
  readonly id: string
  readonly begun: Date
}

/** A part that the server has. */
export interface SentPart {
  readonly number: number
  readonly etag: string
  /** Hex. */
  readonly sha256: string
}

const completingBytesPerMs = 20_000

const completingMs = 7000

/** Multipart uploads to the bucket. */
export class MultipartUploads {
  readonly #connection: S3Connection

  constructor(connection: S3Connection) {
    this.#connection = connection
  }

  async begin(name: string, signal?: AbortSignal): Promise<PendingUpload> {
    return this.#connection.call(
      async ({ sdk, client, bucket, prefix }, abortSignal) => {
        const command = new sdk.CreateMultipartUploadCommand({
          Bucket: bucket,
          Key: prefix + name,
          ContentType: 'application/octet-stream',
          ChecksumAlgorithm: 'SHA256',
        })
        const { UploadId = '' } = await client.send(command, { abortSignal })
        return { name, id: UploadId, begun: new Date() }
      },
      { signal },
    )
  }

  async send({ name, id }: PendingUpload, number: number, payload: RequestBody, signal?: AbortSignal): Promise<SentPart> {
    return this.#connection.call(
      async ({ sdk, client, bucket, prefix }, abortSignal, moved) => {
        const command = new sdk.UploadPartCommand({
          Bucket: bucket,
          Key: prefix + name,
          UploadId: id,
          PartNumber: number,
          Body: payload.open(moved),
          ContentLength: payload.sizeBytes,
          ChecksumSHA256: asBase64(payload.sha256),
        })
        const { ETag = '' } = await client.send(signDigest(command, payload.sha256), { abortSignal })
        return { number, etag: ETag, sha256: payload.sha256 }
      },
      { signal },
    )
  }

  /** Completes the upload. Servers that copy the parts together are given time for it. */
  async complete({ name, id }: PendingUpload, parts: readonly SentPart[], sizeBytes: number, signal?: AbortSignal): Promise<void> {
    await this.#connection.call(
      async ({ sdk, client, bucket, prefix }, abortSignal) => {
        const command = new sdk.CompleteMultipartUploadCommand({
          Bucket: bucket,
          Key: prefix + name,
          UploadId: id,
          MultipartUpload: {
            Parts: parts.map(({ number, etag, sha256 }) => ({ PartNumber: number, ETag: etag, ChecksumSHA256: asBase64(sha256) })),
          },
        })
        await client.send(command, { abortSignal })
      },
      { signal, tries: 1, idleMs: completingMs + sizeBytes / completingBytesPerMs },
    )
  }

  /** Aborts an upload. One that is already completed or aborted is not an error. */
  async abort({ name, id }: Pick<PendingUpload, 'name' | 'id'>): Promise<void> {
    await this.#connection.call(async ({ sdk, client, bucket, prefix }, abortSignal) => {
      const command = new sdk.AbortMultipartUploadCommand({ Bucket: bucket, Key: prefix + name, UploadId: id })
      await client.send(command, { abortSignal }).catch((error: unknown) => {
        if (statusOf(error) !== 404) throw error
      })
    })
  }

  /** All uploads in progress or abandoned. */
  async *list(begin: string): AsyncGenerator<PendingUpload> {
    let marker: { readonly KeyMarker: string; readonly UploadIdMarker: string } | undefined
    do {
      const page = await this.#connection.call(({ sdk, client, bucket, prefix }, abortSignal) =>
        client.send(new sdk.ListMultipartUploadsCommand({ Bucket: bucket, Prefix: prefix + begin, ...marker }), { abortSignal }),
      )
      const { prefix } = this.#connection.wire
      for (const { Key = '', UploadId = '', Initiated = new Date() } of page.Uploads ?? [])
        yield { name: Key.slice(prefix.length), id: UploadId, begun: Initiated }
      const { IsTruncated, NextKeyMarker, NextUploadIdMarker } = page
      marker = IsTruncated && NextKeyMarker ? { KeyMarker: NextKeyMarker, UploadIdMarker: NextUploadIdMarker ?? '' } : undefined
    } while (marker !== undefined)
  }

  /** Time of the newest part; the start time when there is none. */
  async lastMoved({ name, id, begun }: PendingUpload): Promise<Date> {
    let newest = begun
    let marker: string | undefined
    do {
      const page = await this.#connection.call(({ sdk, client, bucket, prefix }, abortSignal) => {
        const at = marker === undefined ? {} : { PartNumberMarker: marker }
        return client.send(new sdk.ListPartsCommand({ Bucket: bucket, Key: prefix + name, UploadId: id, ...at }), { abortSignal })
      })
      for (const { LastModified = begun } of page.Parts ?? []) if (LastModified > newest) newest = LastModified
      marker = page.IsTruncated ? page.NextPartNumberMarker : undefined
    } while (marker !== undefined)
    return newest
  }
}

/** An active upload sends parts continuously. */
const abandonedMs = 24 * 60 * 60 * 1000

/** Aborts multipart uploads left by a crash, which S3 keeps, and bills, forever. Only those of this installation's names. */
export class AbandonedUploads {
  readonly #objects: BucketObjects
  readonly #uploads: MultipartUploads
  readonly #clock: Clock
  readonly #log: Log

  constructor(connection: S3Connection, clock: Clock, log: Log) {
    this.#objects = new BucketObjects(connection)
    this.#uploads = new MultipartUploads(connection)
    this.#clock = clock
    this.#log = log
  }

  async run(signal: AbortSignal): Promise<void> {
    const aborted = await this.sweep(signal)
    if (aborted > 0) this.#log.info('Abandoned multipart uploads deleted from S3', { aborted })
  }

  /** Number of aborted uploads. */
  async sweep(signal?: AbortSignal): Promise<number> {
    const bound = new Date(this.#clock.now().getTime() - abandonedMs)
    let aborted = 0
    for await (const upload of this.#uploads.list('p/')) {
      if (signal?.aborted) break
      const key = parseKey(upload.name)
      if (!key || upload.begun > bound || (await this.#uploads.lastMoved(upload)) > bound) continue
      // in this order, so that another run finds both when this one is killed
      await this.#objects.remove(sumsNameOf(key))
      await this.#uploads.abort(upload)
      aborted += 1
    }
    return aborted
  }
}
wire(AbandonedUploads, S3Connection, Clock, Log)
