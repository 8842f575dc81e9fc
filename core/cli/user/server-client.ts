import { setTimeout as pause } from 'node:timers/promises'
import { messageOf, StartupError } from '../../kernel/startup-error.ts'
import { type IncomingResponse, type OutgoingRequest, send, textOf } from './http-client.ts'

/** Clowder v1 only has the v1 routes. */
export type ServerKind = 'pounce' | 'clowder'

/** A server and the credentials for it. */
export interface ServerAccess {
  /** The base URL without a trailing slash; may have a path. */
  readonly url: string
  readonly kind: ServerKind
  readonly key: string | undefined
}

/** A permanent refusal by the server, which is not retried. */
export class RequestRefused extends Error {
  readonly status: number
  readonly code: string
  readonly details: Readonly<Record<string, unknown>>

  constructor(status: number, code: string, message: string, details: Readonly<Record<string, unknown>> = {}) {
    super(message)
    this.status = status
    this.code = code
    this.details = details
  }
}

/** An invalid key fails all files. */
export const isFatal = (error: unknown): boolean => error instanceof RequestRefused && error.status === 401

/** A transient failure: of the network, or of an overloaded server. */
export class TransientFailure extends Error {
  readonly status = 0
  readonly code = 'unreachable'
  readonly retryAfterMs: number | undefined
  /** True if the request was not received, so that any request can be repeated. */
  readonly isUnsent: boolean

  constructor(
    message: string,
    { retryAfterMs, isUnsent = false }: { readonly retryAfterMs?: number | undefined; readonly isUnsent?: boolean },
  ) {
    super(message)
    this.retryAfterMs = retryAfterMs
    this.isUnsent = isUnsent
  }
}

type Query = Readonly<Record<string, string | number | boolean | undefined>>

/** An API call. */
export interface ApiCall {
  readonly query?: Query
  readonly json?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** Whether the call is idempotent; default: all methods except POST. */
  readonly isRepeatable?: boolean
}

const firstDelayMs = 250
const maxDelayMs = 30_000
const maxRetryAfterMs = 300_000

/** Statuses of an overloaded server or proxy. */
const busy: ReadonlySet<number> = new Set([429, 502, 503, 504])

const retryAfterIn = (response: IncomingResponse): number | undefined => {
  const value = response.header('retry-after')
  if (value === undefined) return undefined
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now()
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), maxRetryAfterMs)
}

const neverSent: ReadonlySet<string> = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'])

const certificates = /CERT|SIGNATURE|ERR_TLS/

const networkFailure = (error: unknown, url: string): Error => {
  // Raised while reading the file to send.
  if (error instanceof StartupError) return error
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (certificates.test(code))
    return new StartupError(
      `The certificate of ${url} is not trusted (${messageOf(error)}). If it is self-signed, set NODE_EXTRA_CA_CERTS to a file with the certificate`,
    )
  const reason = error instanceof AggregateError ? messageOf(error.errors[0]) : messageOf(error)
  return new TransientFailure(`${url} is unreachable: ${reason}. Check the address and the network, then repeat the command`, {
    isUnsent: neverSent.has(code),
  })
}

const objectIn = (body: string): Readonly<Record<string, unknown>> | string => {
  try {
    const value: unknown = JSON.parse(body)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : String(value)
  } catch {
    return body.startsWith('<') ? '' : body.slice(0, 500)
  }
}

/** Delay between attempts: exponential with jitter, or the server's Retry-After. */
const retryDelayMs = (attempt: number, retryAfterMs: number | undefined): number =>
  retryAfterMs ?? Math.min(firstDelayMs * 2 ** attempt, maxDelayMs) * (0.5 + Math.random() / 2)

/** A client for the API of one server with one key. Retries transient failures. */
export class ServerClient {
  readonly url: string
  readonly kind: ServerKind
  readonly retries: number
  readonly #key: string | undefined
  readonly #onWait: (message: string) => void

  constructor({ url, kind, key }: ServerAccess, retries: number, onWait: (message: string) => void) {
    this.url = url
    this.kind = kind
    this.retries = retries
    this.#key = key
    this.#onWait = onWait
  }

  /** Makes one attempt. Throws `TransientFailure` or `RequestRefused` unless the status is a success or in `accepted`. */
  async attempt(
    path: string,
    request: Omit<OutgoingRequest, 'headers'> & Pick<ApiCall, 'query' | 'headers'>,
    accepted: readonly number[] = [],
  ): Promise<IncomingResponse> {
    const { query = {}, headers = {}, ...rest } = request
    const url = new URL(this.url + path)
    for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, String(value))
    const key = this.#key === undefined ? {} : { 'x-api-key': this.#key }
    let response: IncomingResponse
    try {
      response = await send(url, { ...rest, headers: { accept: 'application/json', 'user-agent': 'pounce', ...key, ...headers } })
    } catch (error) {
      throw networkFailure(error, this.url)
    }
    if ((response.status >= 200 && response.status < 300) || accepted.includes(response.status)) return response
    throw await this.#refusal(response)
  }

  /** Like `attempt`, with the body as text. */
  async attemptText(
    ...request: Parameters<ServerClient['attempt']>
  ): Promise<{ readonly response: IncomingResponse; readonly text: string }> {
    const response = await this.attempt(...request)
    try {
      return { response, text: await textOf(response) }
    } catch (error) {
      throw networkFailure(error, this.url)
    }
  }

  /** Repeats work until it succeeds, is refused, or has failed `retries` times in a row; `hasAdvanced` resets the count. */
  async retried<T>(work: (attempt: number) => Promise<T>, hasAdvanced: () => boolean = () => false): Promise<T> {
    for (let attempt = 0, count = 0; ; attempt += 1, count += 1) {
      try {
        return await work(attempt)
      } catch (error) {
        if (hasAdvanced()) count = 0
        if (!(error instanceof TransientFailure) || count >= this.retries) throw error
        await this.#wait(count, error)
      }
    }
  }

  async #wait(attempt: number, { message, retryAfterMs }: TransientFailure): Promise<void> {
    const delay = retryDelayMs(attempt, retryAfterMs)
    if (delay >= 1000) this.#onWait(`${message}; next attempt in ${Math.round(delay / 1000)} s`)
    await pause(delay)
  }

  /** Makes a call with a JSON response. */
  async json<T>(method: string, path: string, call: ApiCall = {}): Promise<T> {
    return (await this.#call<T>(method, path, call)).body
  }

  /** The items of a list, paginated by `Link` headers. */
  async *items<T>(path: string, query: Query = {}): AsyncIterable<T> {
    let next: Query | undefined = query
    while (next) {
      const { body, link }: { readonly body: readonly T[]; readonly link: string | undefined } = await this.#call('GET', path, {
        query: next,
      })
      yield* body
      next = nextPage(link)
    }
  }

  /** One page of a response whose items are in a member, with the query of the next page. */
  async page<T>(path: string, query: Query): Promise<{ readonly body: T; readonly next: Query | undefined }> {
    const { body, link } = await this.#call<T>('GET', path, { query })
    return { body, next: nextPage(link) }
  }

  #call<T>(
    method: string,
    path: string,
    { json, query, headers, isRepeatable = method !== 'POST' }: ApiCall,
  ): Promise<{ body: T; link: string | undefined }> {
    const sent = json === undefined ? {} : { body: Buffer.from(JSON.stringify(json)) }
    const type = json === undefined ? {} : { 'content-type': 'application/json' }
    return this.retried(async () => {
      try {
        const { response, text } = await this.attemptText(path, {
          method,
          ...sent,
          ...(query && { query }),
          headers: { ...type, ...headers },
        })
        return { body: (text === '' ? undefined : this.#parsed(text)) as T, link: response.header('link') }
      } catch (error) {
        if (error instanceof TransientFailure && !isRepeatable && !error.isUnsent) throw new StartupError(error.message, { cause: error })
        throw error
      }
    })
  }

  #parsed(text: string): unknown {
    try {
      return JSON.parse(text)
    } catch (error) {
      throw new StartupError(`${this.url} did not return JSON: it is not a Pounce or Clowder server, or the response is from a proxy`, {
        cause: error,
      })
    }
  }

  async #refusal(response: IncomingResponse): Promise<Error> {
    const { status } = response
    const body = objectIn(await textOf(response).catch(() => ''))
    const details = typeof body === 'object' ? body : {}
    const responseText = typeof body === 'string' ? body : String(details['message'] ?? '')
    const message = responseText === '' ? `${this.url} answered ${status}` : responseText
    // A request refused by a rate limit had no effect.
    if (busy.has(status))
      return new TransientFailure(message, { retryAfterMs: retryAfterIn(response), isUnsent: status === 429 || status === 503 })
    const code = String(details['code'] ?? status)
    if (status !== 401 || code === 'second-factor-required') return new RequestRefused(status, code, message, details)
    const hint =
      this.#key === undefined
        ? `Sign in first: pounce login ${this.url}`
        : `The key for ${this.url} is not valid: it has expired or was revoked. Sign in again: pounce login ${this.url}`
    return new RequestRefused(status, code, this.#key === undefined ? `${message}. ${hint}` : hint, details)
  }
}

/** The query of the next page. Host and path are ignored, because they may differ from those in front of a proxy. */
const nextPage = (link: string | undefined): Query | undefined => {
  const address = /<([^<>]*)>\s*;\s*rel="?next"?/.exec(link ?? '')?.[1]
  return address === undefined ? undefined : Object.fromEntries(new URL(address, 'http://localhost').searchParams)
}
