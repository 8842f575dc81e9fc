import { channel } from 'node:diagnostics_channel'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { parse } from 'node:querystring'
import type { Middleware as KoaMiddleware } from 'koa'
import { anonymous, type Caller, type Ids, type Log, type Metrics, type Problem } from 'pounce/sdk'
import { hidden } from '../services/redact.ts'
import type { HttpConfig } from './config.ts'
import type { Admission } from './rate-limits.ts'
import type { AnyReply } from './respond.ts'
import type { RegisteredRoute } from './router.ts'
import type { TrustedProxies } from './trusted-proxies.ts'

/** An unvalidated query. */
export type RawQuery = Readonly<Record<string, string | readonly string[] | undefined>>

/** Validated parameters, by name. */
export type Values = Readonly<Record<string, unknown>>

const none: Readonly<Record<string, never>> = Object.freeze({})

/** Publishes each request as it begins, for external observers. */
export const requestChannel = channel('pounce.http.request')

/** Koa middleware whose state is a `RequestContext`. */
export type Middleware = KoaMiddleware<{ request: RequestContext }>

/** The state of one request and its response; each middleware adds its results. */
export class RequestContext {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  /** Identifies this request in the response and the log. */
  readonly id: string
  readonly target: RequestTarget
  readonly startedMs = performance.now()
  /** The matched route, once found. */
  route: RegisteredRoute | undefined
  /** The path parameters as text. */
  pathParams: Readonly<Record<string, string>> = none
  caller: Caller = anonymous
  params: Values = none
  query: Values = none
  /** Path and query parameters, which rights are checked on. */
  input: Values = none
  /** Set for a request with a budget. */
  admission: Admission | undefined
  body: unknown
  /** The handler's reply. */
  reply: AnyReply | undefined
  /** True if plugin middleware produced the response. */
  isPluginAnswer = false
  /** True while the client waits for `100 Continue` before sending its body. */
  isContinueDue: boolean
  /** The response headers, once sent. */
  head: Readonly<Record<string, string | number>> | undefined
  /** The time when they were sent. */
  headMs: number | undefined
  /** Why the credentials are invalid: the response if an anonymous caller would be refused. */
  wrongCredentials: Problem | undefined
  /** The name of an invalid session cookie, which a 401 response deletes. */
  staleCookie: string | undefined
  /** Its index among the running requests. */
  runningAt = 0
  readonly #proxies: TrustedProxies
  #address: string | undefined
  #controller: AbortController | undefined
  #isAborted = false

  constructor(req: IncomingMessage, res: ServerResponse, id: string, { below, proxies }: RequestContextOptions) {
    this.req = req
    this.res = res
    this.id = id
    this.target = requestTarget(req.url ?? '/', below)
    this.#proxies = proxies
    this.isContinueDue = continueDue.delete(req)
    const { redactedPath, search } = this.target
    // From here on keys and tokens are hidden from all code, even from errors of libraries, and middleware sees the path of the route.
    req.url = search ? `${redactedPath}?${search}` : redactedPath
  }

  /** The address of the client, according to trusted proxies. */
  get address(): string {
    this.#address ??= this.#proxies.clientOf(this.req.headers, this.req.socket.remoteAddress)
    return this.#address
  }

  /** True if a listed proxy forwarded the request. */
  get isProxied(): boolean {
    return this.#proxies.lists(this.req.socket.remoteAddress)
  }

  get isHead(): boolean {
    return this.req.method === 'HEAD'
  }

  /** Aborted when the client disconnects before the response is complete, or when the server stops. Created on first use. */
  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController()
      if (this.#isAborted) this.#controller.abort()
    }
    return this.#controller.signal
  }

  /** True once no response can be sent, except perhaps a refusal that was already written. */
  get isAborted(): boolean {
    return this.#isAborted
  }

  abort(): void {
    this.#isAborted = true
    this.#controller?.abort()
  }

  /** True if the request body has not been received completely. */
  get isBodyOpen(): boolean {
    const { headers, complete } = this.req
    return !complete && (headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0')
  }

  /** Sends `100 Continue` to a waiting client. */
  invite(): void {
    if (!this.isContinueDue) return
    this.isContinueDue = false
    this.res.writeContinue()
  }
}

/** State shared by all requests of a server. */
export interface RequestContextOptions {
  /** Maps a request path to a route path. */
  readonly below: (path: string) => string
  readonly proxies: TrustedProxies
}

const continueDue = new WeakSet<IncomingMessage>()

/** Marks a request whose client waits for `100 Continue`. */
export const markContinueDue = (req: IncomingMessage): void => {
  continueDue.add(req)
}

/** A parsed request URL, without the key, so that it cannot be logged or echoed. */
export interface RequestTarget {
  readonly path: string
  /** The path for logs, with possible tokens redacted. */
  readonly redactedPath: string
  /** The query without the question mark and any `key`. */
  readonly search: string
  readonly query: RawQuery
  readonly key: string | undefined
}

/** Parses a request's URL. Drops scheme and host of an absolute URL (as sent to proxies); `below` maps the path to a route path. */
export const requestTarget = (url: string, below = (path: string): string => path): RequestTarget => {
  const target = url.startsWith('/') ? url : url.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?]*/i, '')
  const mark = target.indexOf('?')
  if (mark === -1) return { ...pathOf(below(target)), search: '', query: none, key: undefined }
  const sent = target.slice(mark + 1)
  // No limit, which would silently drop parameters: the length of the request line is limited already.
  const query = parse(sent, '&', '=', { maxKeys: 0 })
  const given = query['key']
  const paths = pathOf(below(target.slice(0, mark)))
  if (given === undefined) return { ...paths, search: sent, query, key: undefined }
  return { ...paths, search: withoutKey(sent), query, key: typeof given === 'string' ? given : oneOf(given) }
}

/** Ids have 24 characters; our tokens and keys have at least 32 in any escaping. */
const shortestToken = 32

const pathOf = (sent: string): Pick<RequestTarget, 'path' | 'redactedPath'> => {
  const path = sent || '/'
  if (path.length <= shortestToken) return { path, redactedPath: path }
  const segments = path.split('/').map(segment => (segment.length < shortestToken ? segment : hidden))
  return { path, redactedPath: segments.join('/') }
}

/** Joins different keys into an invalid one: it is unknown which of them is meant. */
const oneOf = (given: readonly string[]): string => [...new Set(given.filter(Boolean))].join(', ')

const withoutKey = (search: string): string =>
  search
    .split('&')
    .filter(pair => parse(pair)['key'] === undefined)
    .join('&')

/** Dependencies of the first middleware. */
export interface RequestContexts extends RequestContextOptions {
  readonly ids: Ids
  readonly tracker: RequestTracker
  /** Called with each request as it begins. */
  readonly observers: readonly ((req: IncomingMessage) => void)[]
}

/** Creates the context of a request, and removes keys and tokens from its URL before other code can read it. */
export const requestContext =
  (options: RequestContexts): Middleware =>
  (context, next) => {
    const request = new RequestContext(context.req, context.res, options.ids.next(), options)
    context.state.request = request
    context.originalUrl = context.req.url ?? '/'
    context.request.originalUrl = context.originalUrl
    // `ResponseWriter` writes all responses, because it can end a connection early.
    context.respond = false
    requestChannel.publish(request)
    options.tracker.track(request)
    for (const observe of options.observers) observe(request.req)
    return next()
  }

/** Tracks running requests, and logs and counts each when it ends. */
export class RequestTracker {
  readonly #config: HttpConfig
  readonly #log: Log
  readonly #metrics: Metrics
  /**
   * Unordered. Whenever a `Set` or `Map` grows or shrinks, V8 leaves a table behind that references the next one, so that from the first old table on all
   * requests reach the old generation. This took a fifth of the CPU time of a small request.
   */
  readonly #running: RequestContext[] = []
  #onIdle: (() => void) | undefined

  constructor(config: HttpConfig, log: Log, metrics: Metrics) {
    this.#config = config
    this.#log = log
    this.#metrics = metrics
  }

  track(request: RequestContext): void {
    request.runningAt = this.#running.push(request) - 1
    request.res.on('close', () => this.#leave(request))
  }

  /** The running requests. */
  get running(): Iterable<RequestContext> {
    return this.#running
  }

  /** The request that a connection is processing. */
  requestOn(socket: Socket): RequestContext | undefined {
    for (const request of this.#running) if (request.req.socket === socket) return request
    return undefined
  }

  /** Resolves when no request is running. */
  async idle(): Promise<void> {
    if (this.#running.length === 0) return
    await new Promise<void>(resolve => {
      this.#onIdle = resolve
    })
  }

  /** Resolves when all currently running requests have ended. */
  async runningNow(): Promise<void> {
    await Promise.all(this.#running.map(({ res }) => new Promise<void>(resolve => res.on('close', resolve))))
  }

  /** Resolves when the requests to these routes have ended; after `limitMs` the remaining ones are aborted. */
  async endOf(routes: ReadonlySet<unknown>, limitMs: number): Promise<void> {
    const running = this.#running.filter(({ route }) => routes.has(route))
    const ended = Promise.all(running.map(({ res }) => new Promise<void>(resolve => res.on('close', resolve))))
    const cut = setTimeout(() => {
      for (const request of running) {
        request.abort()
        request.req.socket.destroy()
      }
    }, limitMs)
    await ended
    clearTimeout(cut)
  }

  /** Aborts the signals of all handlers: their clients will get no response. */
  abortAll(): void {
    for (const request of [...this.#running]) request.abort()
  }

  #leave(request: RequestContext): void {
    const last = this.#running.pop() as RequestContext
    if (last !== request) this.#running[request.runningAt] = last
    last.runningAt = request.runningAt
    const isComplete = request.res.writableFinished
    if (!isComplete) request.abort()
    const nowMs = performance.now()
    const ms = nowMs - request.startedMs
    const fields = this.#fields(request, ms, isComplete)
    if (ms > this.#config.slowRequestMs && workedMs(request, ms) > this.#config.slowRequestMs) this.#log.warn('Slow request', fields)
    else this.#log.debug('Request', fields)
    if (this.#config.metrics) this.#measure(request, ms)
    if (this.#running.length === 0) this.#onIdle?.()
  }

  /** The path is logged without the query, which may contain keys and search terms. */
  #fields({ id, req, res, target, route, caller }: RequestContext, ms: number, isComplete: boolean): Readonly<Record<string, unknown>> {
    return {
      requestId: id,
      method: req.method,
      path: target.redactedPath,
      status: statusOf(res),
      ms: Math.round(ms * 10) / 10,
      route: route?.name,
      user: caller.user?.id,
      isComplete,
    }
  }

  #measure({ req, res, route }: RequestContext, ms: number): void {
    const labels = { method: req.method ?? '', route: route?.name ?? 'none', status: String(statusOf(res)) }
    this.#metrics.count('http_requests_total', labels)
    this.#metrics.observe('http_request_duration_seconds', ms / 1000, labels)
  }
}

/** The status in log and metrics. Without a response, as if the client left during an upload, it is 499, as in nginx: Node's is a default. */
const statusOf = (res: ServerResponse): number => (res.headersSent ? res.statusCode : 499)

/**
 * The part of the duration that the server determines. That of an upload and of the body of a download depends on the client's connection, and event
 * streams do not end.
 */
const workedMs = ({ route, startedMs, headMs }: RequestContext, ms: number): number => {
  const { body, responses = {} } = route?.declaration ?? {}
  if (typeof body === 'object' && ('multipart' in body || 'byteBody' in body)) return 0
  const isStreamed = Object.values(responses).some(schema =>
    ['bytes', 'rows', 'events'].includes((schema as { 'x-body'?: string })['x-body'] ?? ''),
  )
  return isStreamed && headMs !== undefined ? headMs - startedMs : ms
}
