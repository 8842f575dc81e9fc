import type { S3Client } from '@aws-sdk/client-s3'
import { Invalid, Log, wire } from 'pounce/sdk'
import { connect } from './connect.ts'
import { type Patience, patiently } from './patience.ts'
import { Config, type S3Config } from './s3-config.ts'
import { checkBucket } from './start-checks.ts'

type Sdk = typeof import('@aws-sdk/client-s3')

/** What a call to the bucket is made with. */
export interface Wire {
  readonly sdk: Sdk
  readonly client: S3Client
  readonly bucket: string
  /** What every object's name begins with. */
  readonly prefix: string
}

const healthMs = 1800

/** The way to the bucket. */
export class S3Connection {
  readonly #config: S3Config
  readonly #log: Log
  #wire: Wire | undefined
  #publicClient: S3Client | undefined

  constructor(config: S3Config, log: Log) {
    this.#config = config
    this.#log = log
  }

  /** Loads the SDK and finds out whether bytes can be kept; else rejects with a message that names the setting. */
  async start(): Promise<void> {
    const { bucket, prefix, publicEndpoint, accessKeyId, secretAccessKey } = this.#config
    if (bucket === undefined) throw new Invalid('blobs.s3.bucket is required')
    if ((accessKeyId === undefined) !== (secretAccessKey === undefined))
      throw new Invalid('blobs.s3.accessKeyId and blobs.s3.secretAccessKey must be set together; set neither to use the AWS environment')
    const sdk = await import('@aws-sdk/client-s3')
    this.#wire = { sdk, client: connect(sdk, this.#config, this.#log), bucket, prefix }
    if (publicEndpoint !== undefined) this.#publicClient = connect(sdk, this.#config, this.#log, publicEndpoint)
    await checkBucket(this.#wire, this.#config, this.#log)
  }

  async health(): Promise<void> {
    const patience = { idleMs: healthMs, tries: 1 }
    await this.call(
      ({ sdk, client, bucket }, abortSignal) => client.send(new sdk.HeadBucketCommand({ Bucket: bucket }), { abortSignal }),
      patience,
    )
  }

  dispose(): void {
    this.#wire?.client.destroy()
    this.#publicClient?.destroy()
  }

  /** Makes a call with the time limits and repetitions of `patiently`. */
  call<T>(make: (wire: Wire, signal: AbortSignal, moved: () => void) => Promise<T>, patience?: Patience): Promise<T> {
    return patiently((signal, moved) => make(this.wire, signal, moved), patience)
  }

  /** Only once started. */
  get wire(): Wire {
    if (!this.#wire) throw new Error('blobs.s3 was not started')
    return this.#wire
  }

  /** The client whose addresses are good for browsers. */
  get publicClient(): S3Client {
    return this.#publicClient ?? this.wire.client
  }
}
wire(S3Connection, Config, Log)
