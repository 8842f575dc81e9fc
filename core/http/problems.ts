import { type Log, Problem } from 'pounce/sdk'
import { sessionCookie } from './credentials.ts'
import type { Exchange } from './exchange.ts'
import { http } from './lean-modules.ts'

/** 404 of an address at which no route answers. */
export class NoSuchAddress extends Problem {
  constructor() {
    super(404, 'no-such-address', 'There is nothing at this address')
  }
}

/** 405: the address is known, with other methods. */
export class MethodNotAllowed extends Problem {
  readonly allow: string

  constructor(allow: readonly string[]) {
    super(405, 'method-not-allowed', `This address takes ${allow.join(', ')}`)
    this.allow = allow.join(', ')
  }
}

const unexpected = new Problem(500, 'internal', 'Something went wrong on the server. The request id names it in the log')

/** An answer made of text. */
export interface TextAnswer {
  readonly status: number
  readonly headers: Record<string, string>
  readonly text: string
}

/**
 * The only place that turns what was thrown into an answer: the shape that existing clients read, or `application/problem+json` when asked for.
 * What is no `Problem` is a bug: logged with its cause, and nothing of it is sent.
 */
export const problemAnswer = (thrown: unknown, exchange: Exchange, log: Log): TextAnswer => {
  const problem = thrown instanceof Problem ? thrown : unexpected
  if (problem.status >= 500 && problem.status !== 503) {
    log.error('request failed', { requestId: exchange.id, method: exchange.req.method, path: exchange.line.path, error: thrown })
  }
  const { status, code, message, details } = problem
  const wantsProblemJson = exchange.req.headers.accept?.includes('application/problem+json') ?? false
  const body = wantsProblemJson
    ? {
        ...details,
        type: 'about:blank',
        title: http.STATUS_CODES[status] ?? 'Error',
        status,
        detail: message,
        code,
        requestId: exchange.id,
      }
    : { status: 'error', message, ...details, code, requestId: exchange.id }
  return {
    status,
    headers: {
      'content-type': wantsProblemJson ? 'application/problem+json' : 'application/json',
      'cache-control': 'no-store',
      ...headersOf(problem, exchange),
    },
    text: JSON.stringify(body),
  }
}

const headersOf = (problem: Problem, exchange: Exchange): Record<string, string> => ({
  ...exchange.mount?.declaration.headers,
  ...(problem.retryAfterSeconds === undefined ? {} : { 'retry-after': String(Math.max(1, Math.ceil(problem.retryAfterSeconds))) }),
  ...(problem instanceof MethodNotAllowed ? { allow: problem.allow } : {}),
  ...(problem.status === 401 && !isBrowser(exchange) ? { 'www-authenticate': 'Basic realm="pounce", charset="UTF-8"' } : {}),
  ...(problem.status === 401 && exchange.hasStaleSession
    ? { 'set-cookie': `${sessionCookie}=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax` }
    : {}),
})

/** Browsers open a password window for `WWW-Authenticate`, also behind a page's own requests. */
const isBrowser = ({ req: { headers } }: Exchange): boolean =>
  headers.cookie !== undefined ||
  headers['sec-fetch-mode'] !== undefined ||
  headers['x-requested-with'] !== undefined ||
  (headers.accept?.includes('text/html') ?? false)
