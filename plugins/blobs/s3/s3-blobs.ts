import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { type BlobStore, type ByteRange, Clock, Installation, Log, wire } from 'pounce/sdk'
import type { BlobEntry, BlobInfo, ObjectAddress, PutOptions, TemporaryUrlOptions } from 'pounce/sdk/store-kit'
import { BlobReader } from './blob-reader.ts'
import { BlobWriter } from './blob-writer.ts'
import { BucketObjects } from './bucket-objects.ts'
import { S3Connection } from './connection.ts'
import { parseKey, sumsNameOf } from './layout.ts'
import { MultipartUploads } from './multipart-uploads.ts'
import { signedAddress } from './presign.ts'
import { Config, type S3Config } from './s3-config.ts'

/** Bytes in a bucket. See the README for the layout and its limits. */
export class S3Blobs implements BlobStore {
  readonly #redirectAbove: number | undefined
  readonly #place: Pick<S3Config, 'endpoint' | 'region' | 'bucket' | 'prefix'>
  readonly #connection: S3Connection
  readonly #folder: string
  readonly #objects: BucketObjects
  readonly #reader: BlobReader
  readonly #writer: BlobWriter

  constructor(config: S3Config, connection: S3Connection, installation: Installation, clock: Clock, log: Log) {
    this.#redirectAbove = config.redirectAbove
    this.#place = config
    this.#connection = connection
    this.#folder = join(installation.dataFolder, 's3')
    this.#objects = new BucketObjects(connection)
    this.#reader = new BlobReader(this.#objects)
    this.#writer = new BlobWriter({ objects: this.#objects, uploads: new MultipartUploads(connection), folder: this.#folder, clock, log })
  }

  async start(): Promise<void> {
    await mkdir(this.#folder, { recursive: true })
  }

  async dispose(): Promise<void> {
    await this.#writer.settle()
  }

  put(source: Readable | Uint8Array, options: PutOptions = {}): Promise<BlobInfo> {
    return this.#writer.put(source, options)
  }

  get(key: string, range?: ByteRange): Promise<Readable | undefined> {
    return this.#reader.get(key, range)
  }

  stat(key: string): Promise<BlobInfo | undefined> {
    return this.#reader.stat(key)
  }

  async remove(text: string): Promise<void> {
    const key = parseKey(text)
    if (!key) return
    // an object without its checksums is still listed, so that a sweep finds it; checksums alone would not be
    if (key.shape === 'p') await this.#objects.remove(sumsNameOf(key))
    await this.#objects.remove(text)
  }

  async temporaryUrl(key: string, { sizeBytes, ...answer }: TemporaryUrlOptions): Promise<string | undefined> {
    if (this.#redirectAbove === undefined || sizeBytes <= this.#redirectAbove || !parseKey(key)) return undefined
    return signedAddress(this.#connection, key, answer)
  }

  async objectAddress(key: string): Promise<ObjectAddress | undefined> {
    const { endpoint, region, bucket, prefix } = this.#place
    if (!parseKey(key) || bucket === undefined) return undefined
    return { endpoint: endpoint ?? `https://s3.${region ?? 'us-east-1'}.amazonaws.com`, bucket, key: `${prefix}${key}` }
  }

  async *list(): AsyncGenerator<BlobEntry> {
    for (const shape of ['o/', 'p/'])
      for await (const { name, sizeBytes, modified } of this.#objects.list(shape))
        if (parseKey(name)) yield { key: name, sizeBytes, modified }
  }
}
wire(S3Blobs, Config, S3Connection, Installation, Clock, Log)
