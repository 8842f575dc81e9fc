import { Invalid, Problem, Unavailable } from 'pounce/sdk'

interface ServerError {
  readonly type?: string
  readonly reason?: string
  readonly root_cause?: readonly ServerError[]
  readonly caused_by?: ServerError
}

interface ClientError {
  readonly name?: string
  readonly message?: string
  readonly statusCode?: number
  readonly body?: { readonly error?: ServerError | string }
}

/** Errors of the client when it got no response. */
const silent = new Set(['ConnectionError', 'TimeoutError', 'NoLivingConnectionsError', 'RequestAbortedError'])
/** Rejected credentials or rights, too many requests, and server errors. */
const awayStatus = new Set([401, 403, 408, 429, 502, 503, 504])
const tooMuch = /too_many|too many|maxClauseCount|determinize|too large|too complex/i

/** HTTP status of an error response. */
export const statusOf = (error: unknown): number | undefined =>
  error instanceof Error && 'statusCode' in error ? (error as ClientError).statusCode : undefined

/** True when no server responded. */
const isNoAnswer = (error: unknown): boolean => error instanceof Error && silent.has(error.name)

/** The server's error messages, innermost first. */
export function reasonOf(error: unknown): string {
  const { body, message } = error as ClientError
  const failure = body?.error
  if (!failure || typeof failure === 'string') return failure ?? message ?? String(error)
  const { root_cause: roots, caused_by: cause } = failure
  return [innermost(cause), roots?.[0], failure].map(each => each && `${each.type}: ${each.reason}`).find(Boolean) ?? String(message)
}

function innermost(error: ServerError | undefined): ServerError | undefined {
  return error?.caused_by ? innermost(error.caused_by) : error
}

/** The error for callers for an error of the client; other errors are returned unchanged. */
export function asProblem(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof Problem) return error
  if (isNoAnswer(error)) return new Unavailable('The search server does not respond', { cause: error })
  if (error.name === 'ProductNotSupportedError') return new Unavailable('The search server is not Elasticsearch', { cause: error })
  const status = statusOf(error)
  if (status === undefined) return error
  const reason = reasonOf(error)
  if (/nested depth/.test(reason)) return new Invalid('The query is nested too deeply; use fewer parentheses', { cause: error })
  if (tooMuch.test(reason)) return new Invalid('The search matches too many words; use a longer prefix', { cause: error })
  if (reason.startsWith('index_closed_exception'))
    return new Unavailable('The search index is closed on the search server', { cause: error })
  if (awayStatus.has(status)) return new Unavailable('The search server rejected the request', { cause: error })
  return new Error(`Elasticsearch rejected a request: ${reason}`.slice(0, 1000), { cause: error })
}

/** The setting to check when the server cannot be used at all; undefined when it may just be unavailable. */
export function wrongSetting(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  const status = statusOf(error)
  if (status === 401)
    return 'search.elasticsearch.password: the server does not accept these credentials (username and password, or apiKey)'
  if (status === 403) return `search.elasticsearch.username: the account lacks a right: ${reasonOf(error)}`
  if (error.name === 'ProductNotSupportedError') return 'search.elasticsearch.nodes: what answers there is not Elasticsearch'
  if (/certificate|self.signed|unable to (get|verify)|altnames/i.test(error.message))
    return `search.elasticsearch.caFile: the certificate of the server is not trusted: ${error.message}`
  if ('code' in error && 'path' in error) return `search.elasticsearch.caFile: ${error.message}`
  return undefined
}
