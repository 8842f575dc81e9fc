import { NoSpace, Problem, Unavailable } from 'pounce/sdk'

/** The fields used here of an error of the SDK, of Node's sockets or of the file system. */
interface Failure {
  readonly name?: string
  readonly code?: string
  readonly Code?: string
  readonly $metadata?: { readonly httpStatusCode?: number }
}

const asFailure = (error: unknown): Failure => (typeof error === 'object' && error !== null ? error : {})

/** The HTTP status of S3's response, if there was one. */
export const statusOf = (error: unknown): number | undefined => asFailure(error).$metadata?.httpStatusCode

/** The error code of S3 or Node. */
export const codeOf = (error: unknown): string => {
  const { Code, code, name } = asFailure(error)
  return Code ?? code ?? name ?? ''
}

const passing =
  /^(ECONNREFUSED|ECONNRESET|EPIPE|ECONNABORTED|ERR_STREAM_PREMATURE_CLOSE|SlowDown|RequestTimeTooSkewed|RequestTimeout|BadDigest|XAmzContentSHA256Mismatch)$/

/** True when the same call may succeed shortly. */
export const isPassing = (error: unknown): boolean => {
  const status = statusOf(error)
  return passing.test(codeOf(error)) || status === 429 || (status !== undefined && status >= 500 && status !== 507 && !isFull(error))
}

const isFull = (error: unknown): boolean =>
  statusOf(error) === 507 || /^(ENOSPC|EDQUOT)$|quota|storagefull|insufficientstorage|nospace/i.test(codeOf(error))

/** Converts the failure of a call to S3. Our own errors are returned unchanged. */
export function asProblem(error: unknown): unknown {
  if (error instanceof Problem) return error
  const failure = asFailure(error)
  const isOfS3 = failure.$metadata !== undefined || failure.code !== undefined || failure.name === 'TimeoutError'
  if (!isOfS3 || codeOf(error).startsWith('ERR_INVALID')) return error
  if (isFull(error)) return new NoSpace(undefined, { cause: error })
  return new Unavailable('The blob store is unreachable', { cause: error })
}
