import { type Log, Problem } from 'pounce/sdk'
import type { Middleware, RequestContext } from './request-context.ts'
import type { ResponseWriter } from './response-writer.ts'

/** Not imported: see `server.ts`. */
const http = process.getBuiltinModule('node:http')

/** 404: no route matches the path. */
export class NoSuchAddress extends Problem {
  constructor() {
    super(404, 'no-such-address', 'No such route')
  }
}

/** 405: the path exists with other methods. */
export class MethodNotAllowed extends Problem {
  readonly allow: string

  constructor(allow: readonly string[]) {
    super(405, 'method-not-allowed', `Method not allowed; allowed: ${allow.join(', ')}`)
    this.allow = allow.join(', ')
  }
}

const outageLogMs = 60_000
/** Of different messages. */
const maxOutages = 100

/** Logs why requests get 503, if a failure of a backend or disk is the cause: the first request of each minute, for each message. */
class OutageLog {
  readonly #log: Log
  readonly #loggedMs = new Map<string, number>()

  constructor(log: Log) {
    this.#log = log
  }

  add({ message, cause }: Problem, request: RequestContext): void {
    const nowMs = performance.now()
    if (cause === undefined || nowMs - (this.#loggedMs.get(message) ?? Number.NEGATIVE_INFINITY) < outageLogMs) return
    if (this.#loggedMs.size >= maxOutages) this.#loggedMs.clear()
    this.#loggedMs.set(message, nowMs)
    this.#log.warn('Backend unavailable; requests fail', {
      requestId: request.id,
      path: request.target.redactedPath,
      reason: message,
      error: cause,
    })
  }
}

const unexpected = new Problem(500, 'internal', 'Internal server error. Find the request id in the server log')

/** A text response. */
interface TextAnswer {
  readonly status: number
  readonly headers: Record<string, string>
  readonly text: string
}

/**
 * The only place that converts thrown values to responses: in the shape that existing clients read, or `application/problem+json` on request.
 * Anything other than a `Problem` is a bug: it is logged with its cause, and no details are sent.
 */
const problemAnswer = (thrown: unknown, request: RequestContext, log: Log, outages: OutageLog): TextAnswer => {
  const refusal =
    thrown instanceof Problem ? thrown : isExposed(thrown) ? new Problem(thrown.status, 'refused', thrown.message) : unexpected
  // A plugin without types may pass any status.
  const problem = Number.isInteger(refusal.status) && refusal.status >= 400 && refusal.status < 600 ? refusal : unexpected
  if (problem.status >= 500 && problem.status !== 503) {
    log.error('Request failed', { requestId: request.id, method: request.req.method, path: request.target.redactedPath, error: thrown })
  } else if (problem.status === 503) outages.add(problem, request)
  const { status, code, message } = problem
  // The details of a 500, such as the location of damaged bytes, are only logged.
  const details = status === 500 ? undefined : problem.details
  const wantsProblemJson = request.req.headers.accept?.includes('application/problem+json') ?? false
  const body = wantsProblemJson
    ? {
        ...details,
        type: 'about:blank',
        title: http.STATUS_CODES[status] ?? 'Error',
        status,
        detail: message,
        code,
        requestId: request.id,
      }
    : { status: 'error', message, ...details, code, requestId: request.id }
  return {
    status,
    headers: {
      'content-type': wantsProblemJson ? 'application/problem+json' : 'application/json',
      'cache-control': 'no-store',
      ...headersOf(problem, request),
      ...(isExposed(thrown) ? thrown.headers : {}),
    },
    text: JSON.stringify(body),
  }
}

/** An error with a public message, thrown by Koa's `ctx.throw` in plugin middleware. */
interface ExposedError extends Error {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
}

const isExposed = (thrown: unknown): thrown is ExposedError =>
  thrown instanceof Error && 'expose' in thrown && thrown.expose === true && 'status' in thrown && Number.isInteger(thrown.status)

const headersOf = (problem: Problem, request: RequestContext): Record<string, string> => ({
  ...request.route?.declaration.headers,
  ...(problem.retryAfterSeconds === undefined ? {} : { 'retry-after': String(Math.max(1, Math.ceil(problem.retryAfterSeconds))) }),
  ...(problem instanceof MethodNotAllowed ? { allow: problem.allow } : {}),
  ...(problem.status === 401 && !isBrowser(request) ? { 'www-authenticate': 'Basic realm="pounce", charset="UTF-8"' } : {}),
  ...(problem.status === 401 && request.staleCookie !== undefined ? { 'set-cookie': withoutCookie(request.staleCookie) } : {}),
})

/** Browsers accept changes of a `__Host-` cookie only with `Secure`. */
const withoutCookie = (name: string): string =>
  `${name}=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax${name.startsWith('__Host-') ? '; Secure' : ''}`

/** Browsers open a password dialog for `WWW-Authenticate`, even for requests by scripts. */
const isBrowser = ({ req: { headers } }: RequestContext): boolean =>
  headers.cookie !== undefined ||
  headers['sec-fetch-mode'] !== undefined ||
  headers['x-requested-with'] !== undefined ||
  (headers.accept?.includes('text/html') ?? false)

/** Converts errors of later middleware to responses. */
export const problems = (writer: ResponseWriter, log: Log): Middleware => {
  const outages = new OutageLog(log)
  return async (context, next) => {
    try {
      await next()
    } catch (error) {
      const { request } = context.state
      if (request.res.destroyed || request.isAborted) {
        // Handlers fail in many ways when a client disconnects; there is no client left for the response.
        log.debug('Client disconnected', { requestId: request.id, path: request.target.redactedPath, error })
        return
      }
      const { status, headers, text } = problemAnswer(error, request, log, outages)
      if (request.res.headersSent) request.res.destroy()
      else writer.send(request, status, headers, text)
    }
  }
}
