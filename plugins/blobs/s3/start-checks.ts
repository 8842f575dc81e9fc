import { Invalid, type Log, Unavailable } from 'pounce/sdk'
import type { Wire } from './connection.ts'
import { withRetry } from './retry.ts'
import type { S3Config } from './s3-config.ts'
import { codeOf, statusOf } from './s3-problems.ts'

type Send = (signal: AbortSignal) => Promise<unknown>

/** Checks that the bucket exists and that objects can be written and read. Rejects with a message that names the setting to change, never with a secret. */
export async function checkBucket({ sdk, client, bucket, prefix }: Wire, config: S3Config, log: Log): Promise<void> {
  const object = { Bucket: bucket, Key: `${prefix}check/${Date.now().toString(36)}-${Math.random().toString(36).slice(2)}` }
  const trying = async (what: string, send: Send): Promise<void> => {
    try {
      await withRetry(send)
    } catch (error) {
      throw new Invalid(wordsOf(error, what, bucket, config), { cause: error })
    }
  }
  const put: Send = abortSignal => client.send(new sdk.PutObjectCommand({ ...object, Body: 'pounce was here' }), { abortSignal })
  await trying('write to', put).catch(async (error: unknown) => {
    if (!config.createBucket || codeOf(rootOf(error)) !== 'NoSuchBucket') throw error
    const make: Send = abortSignal => client.send(new sdk.CreateBucketCommand({ Bucket: bucket }), { abortSignal })
    await trying('create', make).then(
      () => log.info('Bucket created', { bucket }),
      (failed: unknown) => {
        // Another kernel that starts at the same time was quicker.
        if (codeOf(rootOf(failed)) !== 'BucketAlreadyOwnedByYou') throw failed
      },
    )
    await trying('write to', put)
  })
  await trying('read from', abortSignal => client.send(new sdk.HeadObjectCommand(object), { abortSignal }))
  await trying('delete from', abortSignal => client.send(new sdk.DeleteObjectCommand(object), { abortSignal }))
}

function rootOf(error: unknown): unknown {
  return error instanceof Error && error.cause !== undefined ? rootOf(error.cause) : error
}

const fixed: Readonly<Record<string, string>> = {
  InvalidAccessKeyId: 'blobs.s3.accessKeyId: this access key does not exist on the server',
  SignatureDoesNotMatch: 'blobs.s3.secretAccessKey: it is not the secret of blobs.s3.accessKeyId',
  CredentialsProviderError:
    'blobs.s3.accessKeyId: no credentials found; set it and blobs.s3.secretAccessKey, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY',
  ExpiredToken: 'blobs.s3.sessionToken: it has expired',
  InvalidToken: 'blobs.s3.sessionToken: rejected by the server',
  RequestTimeTooSkewed: 'blobs.s3.endpoint: its clock and the one of this machine differ too much',
  AuthorizationHeaderMalformed: 'blobs.s3.region: it is not the region of the bucket',
  PermanentRedirect: 'blobs.s3.region: it is not the region of the bucket',
  IllegalLocationConstraintException: 'blobs.s3.region: it is not the region of the bucket',
}

function wordsOf(error: unknown, what: string, bucket: string, { endpoint, createBucket }: S3Config): string {
  const root = rootOf(error)
  const code = codeOf(root)
  const words = fixed[code] ?? (/user|accesskey/i.test(code) ? fixed['InvalidAccessKeyId'] : undefined)
  if (words !== undefined) return words
  const name = JSON.stringify(bucket)
  if (code === 'NoSuchBucket' || (statusOf(root) === 404 && !createBucket))
    return `blobs.s3.bucket: bucket ${name} does not exist; create it, or set blobs.s3.createBucket to true`
  if (code === 'InvalidBucketName') return `blobs.s3.bucket: ${name} is not a valid bucket name`
  if (statusOf(root) === 403) return `blobs.s3.bucket: the credentials may not ${what} the bucket ${name}`
  const message = root instanceof Error ? root.message : String(root)
  if (message.startsWith('Region is missing')) return 'blobs.s3.region: set it, or AWS_REGION'
  const where = endpoint === undefined ? 'AWS' : new URL(endpoint).origin
  if (statusOf(root) === undefined && error instanceof Unavailable) return `blobs.s3.endpoint: ${where} is unreachable: ${message}`
  return `blobs.s3.bucket: the server at ${where} refused to ${what} the bucket ${name}: ${code} ${message}`
}
