import { NoSpace, TooLarge, Unavailable } from 'pounce/sdk'

/** Error codes of MongoDB, from its `error_codes.yml`. */
const codes = {
  noSpace: new Set([14031, 39]),
  tooLarge: new Set([10334, 17280, 17419, 17420]),
  denied: new Set([13, 18, 8000]),
  /** Timeouts, a server that stops or is no longer the primary, a read or write concern that cannot be met. */
  away: new Set([
    6, 7, 50, 63, 64, 79, 89, 91, 100, 112, 133, 134, 189, 202, 262, 290, 317, 358, 9001, 10058, 10107, 11600, 11602, 13388, 13435, 13436,
  ]),
}

/** Names of the driver's errors that mean that the server was unreachable or timed out. */
const awayNames =
  /^(?:Mongo(?:Network|ServerSelection|PoolCleared|PoolClosed|WaitQueueTimeout|NotConnected|TopologyClosed|ClientClosed|ServerClosed|OperationTimeout|WriteConcern|StalePrimary)|PoolClearedOnNetwork)/

/** Node's codes for a broken connection, which the driver passes through unchanged. */
const awayOfSystem = /^E(?:CONN|PIPE|TIMEDOUT|HOST|NET|AI_)/

interface Failure extends Error {
  readonly code?: unknown
  readonly writeErrors?: unknown
}

const isFailure = (error: unknown): error is Failure => error instanceof Error

/** The server's code of an error; undefined for an error of the driver or of ours. */
export const codeOf = (error: unknown): number | undefined => (isFailure(error) && typeof error.code === 'number' ? error.code : undefined)

/** True when the server was unreachable, timed out, or was in no state to answer. */
export const isUnavailable = (error: unknown): boolean => {
  if (!isFailure(error)) return false
  const { code } = error
  if (typeof code === 'number' && codes.away.has(code)) return true
  // A server response to a bulk write has a code; without one, the error is about the connection.
  if (error.name === 'MongoBulkWriteError' && code === undefined) return true
  return awayNames.test(error.name) || (typeof code === 'string' && awayOfSystem.test(code))
}

export const isDenied = (error: unknown): boolean => codes.denied.has(codeOf(error) ?? 0)

/** True for a duplicate key. */
export const isDuplicate = (error: unknown): boolean => codeOf(error) === 11000

/** The error for a caller: `Unavailable` when the server is unavailable or too slow, `NoSpace` for a full disk, `TooLarge` for a document that MongoDB cannot hold. */
export const problemOf = (error: unknown): Error => {
  const cause = isFailure(error) ? error : new Error(String(error))
  const code = codeOf(error) ?? 0
  if (codes.noSpace.has(code) || /no space left|out of disk space/i.test(cause.message)) return new NoSpace(undefined, { cause })
  if (codes.tooLarge.has(code) || /^document is larger than the maximum size|BSONObj(?:ect)?TooLarge|BSONObj size/.test(cause.message)) {
    return new TooLarge('The record exceeds the maximum document size (16 MiB)', { cause })
  }
  if (isUnavailable(error) || isDenied(error)) return new Unavailable('The document store is unavailable', { cause })
  return cause
}
