import type { S3Client } from '@aws-sdk/client-s3'
import { Invalid, Log, type StatusPart, wire } from 'pounce/sdk'
import { maskedUri } from 'pounce/sdk/kit'
import { type RequestRetryPolicy, withRetry } from './retry.ts'
import { Config, type S3Config } from './s3-config.ts'
import { checkBucket } from './start-checks.ts'

/** Discards log lines of the AWS SDK: each failed call is reported by its caller. */
const loggerOn = (log: Log) => {
  const say = (message: unknown): void => log.debug(String(message))
  const ignore = (): void => undefined
  return { trace: ignore, debug: ignore, info: ignore, warn: say, error: say }
}

const connectMs = 3000

/** Slow readers occupy a connection each. */
const maxConnections = 5000

/** A client for the configured server. It connects with its first call; calls are tried once, since `withRetry` tries again. */
function connect(sdk: Sdk, config: S3Config, log: Log, endpoint: string | undefined = config.endpoint): S3Client {
  const { accessKeyId, secretAccessKey, sessionToken } = config
  const region = config.region ?? (endpoint && !process.env['AWS_REGION'] ? 'us-east-1' : undefined)
  return new sdk.S3Client({
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(region === undefined ? {} : { region }),
    ...(accessKeyId && secretAccessKey ? { credentials: { accessKeyId, secretAccessKey, ...(sessionToken ? { sessionToken } : {}) } } : {}),
    forcePathStyle: config.pathStyle ?? endpoint !== undefined,
    maxAttempts: 1,
    logger: loggerOn(log),
    expectContinueHeader: false,
    // the digests are ours: not every server supports the checksums that the SDK would add
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: {
      connectionTimeout: connectMs,
      httpAgent: { keepAlive: true, maxSockets: maxConnections },
      httpsAgent: { keepAlive: true, maxSockets: maxConnections },
    },
  })
}

type Sdk = typeof import('@aws-sdk/client-s3')

/** The context of a call to the bucket. */
export interface Wire {
  readonly sdk: Sdk
  readonly client: S3Client
  readonly bucket: string
  /** The prefix of all object names. */
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

  /** Loads the SDK and checks that the bucket is usable; otherwise rejects with a message that names the setting. */
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
    const retryPolicy = { idleMs: healthMs, tries: 1 }
    await this.call(
      ({ sdk, client, bucket }, abortSignal) => client.send(new sdk.HeadBucketCommand({ Bucket: bucket }), { abortSignal }),
      retryPolicy,
    )
  }

  dispose(): void {
    this.#wire?.client.destroy()
    this.#publicClient?.destroy()
  }

  /** Makes a call with the timeouts and retries of `withRetry`. */
  call<T>(make: (wire: Wire, signal: AbortSignal, moved: () => void) => Promise<T>, retryPolicy?: RequestRetryPolicy): Promise<T> {
    return withRetry((signal, moved) => make(this.wire, signal, moved), retryPolicy)
  }

  /** Only after the start. */
  get wire(): Wire {
    if (!this.#wire) throw new Error('blobs.s3 was not started')
    return this.#wire
  }

  /** The client for URLs that browsers can reach. */
  get publicClient(): S3Client {
    return this.#publicClient ?? this.wire.client
  }
}
wire(S3Connection, Config, Log)

/** The storage location, for the status page. */
export class S3Status implements StatusPart {
  readonly name = 'storage'
  readonly publicDetails = { location: 's3' }
  readonly details: Readonly<Record<string, string>>
  readonly #connection: S3Connection

  constructor({ endpoint, region, bucket = '' }: S3Config, connection: S3Connection) {
    this.#connection = connection
    this.details = { endpoint: maskedUri(endpoint ?? 'https://s3.amazonaws.com'), ...(region === undefined ? {} : { region }), bucket }
  }

  async check(): Promise<Readonly<Record<string, unknown>>> {
    await this.#connection.health()
    return { region: await this.#connection.wire.client.config.region() }
  }
}
wire(S3Status, Config, S3Connection)
