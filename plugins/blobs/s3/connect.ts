import type { S3Client } from '@aws-sdk/client-s3'
import type { Log } from 'pounce/sdk'
import type { S3Config } from './s3-config.ts'

type Sdk = typeof import('@aws-sdk/client-s3')

/** What the SDK has to say goes where nobody has to read it: each failure of a call is told by who made the call. */
const loggerOn = (log: Log) => {
  const say = (message: unknown): void => log.debug(String(message))
  const ignore = (): void => undefined
  return { trace: ignore, debug: ignore, info: ignore, warn: say, error: say }
}

const connectMs = 3000
/** Slow readers keep a connection each. */
const mostConnections = 5000

/** A client for the configured server. It connects with its first call; calls are tried once, since `patiently` tries again. */
export function connect(sdk: Sdk, config: S3Config, log: Log, endpoint: string | undefined = config.endpoint): S3Client {
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
    // the digests are ours: not every server knows the checksums that the SDK would add
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: {
      connectionTimeout: connectMs,
      httpAgent: { keepAlive: true, maxSockets: mostConnections },
      httpsAgent: { keepAlive: true, maxSockets: mostConnections },
    },
  })
}
