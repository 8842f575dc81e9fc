import { Readable } from 'node:stream'
import { Invalid, Unavailable } from 'pounce/sdk'
import { asBase64, type RequestBody, signDigest } from './blob-writer.ts'
import type { S3Connection } from './connection.ts'
import { codeOf, statusOf } from './s3-problems.ts'

/** An object that is being read. */
export interface OpenObject {
  readonly body: Readable
  /** Of the whole object. */
  readonly totalBytes: number
  readonly metadata: Readonly<Record<string, string>>
}

/** One object in a listing. */
export interface ListedObject {
  readonly name: string
  readonly sizeBytes: number
  readonly modified: Date
}

/** From an offset on, to the one given (inclusive) or to the end. */
export interface OffsetRange {
  readonly begin: number
  readonly last?: number
}

const isAbsent = (error: unknown): boolean => statusOf(error) === 404 && codeOf(error) !== 'NoSuchBucket'

/** Objects of the bucket, by names without the prefix of the installation. */
export class BucketObjects {
  readonly #connection: S3Connection

  constructor(connection: S3Connection) {
    this.#connection = connection
  }

  /** Undefined when absent; `Invalid` when it does not begin within the object. What lies beyond the end is left out. */
  async open(name: string, stretch?: OffsetRange): Promise<OpenObject | undefined> {
    const range = stretch && `bytes=${stretch.begin}-${stretch.last ?? ''}`
    return this.#connection.call(async ({ sdk, client, bucket, prefix }, abortSignal) => {
      try {
        const command = new sdk.GetObjectCommand({ Bucket: bucket, Key: prefix + name, ...(range ? { Range: range } : {}) })
        const { Body, ContentRange, ContentLength, Metadata = {} } = await client.send(command, { abortSignal })
        const total = ContentRange === undefined ? ContentLength : Number(ContentRange.split('/')[1])
        if (!(Body instanceof Readable) || total === undefined || Number.isNaN(total))
          throw new Unavailable('S3 sent a response without a body')
        return { body: Body, totalBytes: total, metadata: Metadata }
      } catch (error) {
        if (isAbsent(error)) return undefined
        if (statusOf(error) === 416) throw new Invalid('The range does not lie within the bytes', { cause: error })
        throw error
      }
    })
  }

  /** A whole small object, or a small part of one. */
  async read(name: string, stretch?: OffsetRange): Promise<Buffer | undefined> {
    return this.#connection.call(async ({ sdk, client, bucket, prefix }, abortSignal) => {
      const range = stretch && `bytes=${stretch.begin}-${stretch.last ?? ''}`
      try {
        const command = new sdk.GetObjectCommand({ Bucket: bucket, Key: prefix + name, ...(range ? { Range: range } : {}) })
        const { Body } = await client.send(command, { abortSignal })
        return Body && Buffer.from(await Body.transformToByteArray())
      } catch (error) {
        if (isAbsent(error) || statusOf(error) === 416) return undefined
        throw error
      }
    })
  }

  /** Size and metadata of an object without its bytes; undefined if absent. */
  async head(name: string): Promise<Pick<OpenObject, 'totalBytes' | 'metadata'> | undefined> {
    return this.#connection.call(async ({ sdk, client, bucket, prefix }, abortSignal) => {
      try {
        const command = new sdk.HeadObjectCommand({ Bucket: bucket, Key: prefix + name })
        const { ContentLength = 0, Metadata = {} } = await client.send(command, { abortSignal })
        return { totalBytes: ContentLength, metadata: Metadata }
      } catch (error) {
        if (!isAbsent(error)) throw error
        // an answer to HEAD does not say whether the object or the whole bucket is gone
        await client.send(new sdk.HeadBucketCommand({ Bucket: bucket }), { abortSignal })
        return undefined
      }
    })
  }

  async put(name: string, payload: RequestBody, metadata: Readonly<Record<string, string>>, signal?: AbortSignal): Promise<void> {
    await this.#connection.call(
      async ({ sdk, client, bucket, prefix }, abortSignal, moved) => {
        const command = new sdk.PutObjectCommand({
          Bucket: bucket,
          Key: prefix + name,
          Body: payload.open(moved),
          ContentLength: payload.sizeBytes,
          ContentType: 'application/octet-stream',
          ChecksumSHA256: asBase64(payload.sha256),
          Metadata: metadata,
        })
        await client.send(signDigest(command, payload.sha256), { abortSignal })
      },
      { signal },
    )
  }

  /** An absent object is not an error. */
  async remove(name: string): Promise<void> {
    await this.#connection.call(async ({ sdk, client, bucket, prefix }, abortSignal) => {
      await client.send(new sdk.DeleteObjectCommand({ Bucket: bucket, Key: prefix + name }), { abortSignal }).catch((error: unknown) => {
        if (!isAbsent(error)) throw error
      })
    })
  }

  /** All objects whose names begin like this. */
  async *list(begin: string): AsyncGenerator<ListedObject> {
    let token: string | undefined
    do {
      const page = await this.#connection.call(({ sdk, client, bucket, prefix }, abortSignal) => {
        const command = new sdk.ListObjectsV2Command({
          Bucket: bucket,
          Prefix: prefix + begin,
          ...(token === undefined ? {} : { ContinuationToken: token }),
        })
        return client.send(command, { abortSignal })
      })
      const { prefix } = this.#connection.wire
      for (const { Key = '', Size = 0, LastModified = new Date(0) } of page.Contents ?? [])
        yield { name: Key.slice(prefix.length), sizeBytes: Size, modified: LastModified }
      token = page.IsTruncated ? page.NextContinuationToken : undefined
    } while (token !== undefined)
  }
}
