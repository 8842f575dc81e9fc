interface ProblemMembers {
  readonly type?: unknown
  readonly title?: unknown
  readonly status?: unknown
  readonly detail?: unknown
  readonly message?: unknown
  readonly code?: unknown
  readonly requestId?: unknown
}

const textOf = (value: unknown, otherwise = ''): string => (typeof value === 'string' ? value : otherwise)

/** An error response of the server (RFC 9457), or status 0 if it is unreachable. The message is `detail`. */
export class PounceProblem extends Error {
  readonly type: string
  readonly title: string
  /** The HTTP status. */
  readonly status: number
  readonly detail: string
  /** For programs: `not-found`, `permission-denied`, `unreachable`, `timeout` … */
  readonly code: string
  /** The request id in the server's log. */
  readonly requestId: string
  /** From `Retry-After`. */
  readonly retryAfterSeconds: number | undefined
  /** The whole response body, if it was JSON. */
  readonly body: unknown

  constructor(
    body: ProblemMembers,
    { cause, retryAfterSeconds }: { readonly cause?: unknown; readonly retryAfterSeconds?: number | undefined } = {},
  ) {
    const detail = textOf(body.detail, textOf(body.message, textOf(body.title, 'The server refused the request')))
    super(detail, { cause })
    this.name = 'PounceProblem'
    this.type = textOf(body.type, 'about:blank')
    this.title = textOf(body.title)
    this.status = typeof body.status === 'number' ? body.status : 0
    this.detail = detail
    this.code = textOf(body.code)
    this.requestId = textOf(body.requestId)
    this.retryAfterSeconds = retryAfterSeconds
    this.body = body
  }
}

/** The members of an error response: none if it is not a JSON object. */
const membersIn = (text: string): ProblemMembers => {
  try {
    const body: unknown = JSON.parse(text)
    return typeof body === 'object' && body !== null && !Array.isArray(body) ? body : {}
  } catch {
    return {}
  }
}

/** The problem in an error response. Proxies may respond with pages of their own. */
export const problemOf = async (response: Response): Promise<PounceProblem> => {
  const { status, statusText: title, headers } = response
  const text = await response.text()
  const wait = Number(headers.get('retry-after') ?? Number.NaN)
  const retryAfterSeconds = Number.isFinite(wait) ? wait : undefined
  const body = headers.get('content-type')?.includes('json') ? membersIn(text) : {}
  return new PounceProblem({ title, detail: title, ...body, status }, { retryAfterSeconds })
}

/** Resolves after `ms`, or as soon as the signal is aborted. */
export const pause = (ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise(resolve => {
    const end = (): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    signal?.addEventListener('abort', end)
    if (signal?.aborted) end()
  })
