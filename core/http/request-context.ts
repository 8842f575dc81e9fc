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

/** A query as it was sent. */
export type RawQuery = Readonly<Record<string, string | readonly string[] | undefined>>

/** Checked parameters, by name. */
export type Values = Readonly<Record<string, unknown>>

const none: Readonly<Record<string, never>> = Object.freeze({})

/** Where each request is published as it begins, for code that observes the server from outside. */
export const requestChannel = channel('pounce.http.request')

/** Koa's middleware here: all that is known of a request is in its `RequestContext`. */
export type Middleware = KoaMiddleware<{ request: RequestContext }>

/** One request and its response, from the first line to the last byte; each middleware adds what it finds out. */
export class RequestContext {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  /** Names this request in the answer and in the log. */
  readonly id: string
  readonly target: RequestTarget
  readonly startedMs = performance.now()
  /** The route that answers, once it is found. */
  route: RegisteredRoute | undefined
  /** The parameters in the path, as text. */
  pathParams: Readonly<Record<string, string>> = none
  caller: Caller = anonymous
  params: Values = none
  query: Values = none
  /** The input of rights: parameters of path and query together. */
  input: Values = none
  /** Of a request whose cost is limited. */
  admission: Admission | undefined
  body: unknown
  /** What the handler answered. */
  reply: AnyReply | undefined
  /** True when the middleware of a plugin answered. */
  isPluginAnswer = false
  /** Set while the client waits for `100 Continue` before it sends its body. */
  isContinueDue: boolean
  /** The headers of the answer, once they are sent. */
  head: Readonly<Record<string, string | number>> | undefined
  /** When they were sent. */
  headMs: number | undefined
  /** Why none of the credentials that came along is right: the answer where no one in particular is refused. */
  wrongCredentials: Problem | undefined
  /** The name of a session cookie that turned out to be wrong: a 401 takes it away. */
  staleCookie: string | undefined
  /** Its place among the running requests. */
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
    const { path, redactedPath, search, key } = this.target
    // From here on no one sees a key or token, not even in an error of someone else's code.
    if (key !== undefined || redactedPath !== path) req.url = search ? `${redactedPath}?${search}` : redactedPath
  }

  /** The address of the client, as far as our own proxies vouch for it. */
  get address(): string {
    this.#address ??= this.#proxies.clientOf(this.req.headers, this.req.socket.remoteAddress)
    return this.#address
  }

  /** True when a proxy that the configuration lists sent it on. */
  get isProxied(): boolean {
    return this.#proxies.lists(this.req.socket.remoteAddress)
  }

  get isHead(): boolean {
    return this.req.method === 'HEAD'
  }

  /** Aborted when the client disconnects before the answer is complete, or when the server stops. Made when first requested. */
  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController()
      if (this.#isAborted) this.#controller.abort()
    }
    return this.#controller.signal
  }

  /** True once nobody will receive an answer but perhaps the one that refused the connection. */
  get isAborted(): boolean {
    return this.#isAborted
  }

  abort(): void {
    this.#isAborted = true
    this.#controller?.abort()
  }

  /** True when the request has a body of which not all bytes came. */
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

/** What the requests of one server have in common. */
export interface RequestContextOptions {
  /** What a path is to the routes. */
  readonly below: (path: string) => string
  readonly proxies: TrustedProxies
}

const continueDue = new WeakSet<IncomingMessage>()

/** Marks a request whose client waits for `100 Continue`. */
export const markContinueDue = (req: IncomingMessage): void => {
  continueDue.add(req)
}

/** A request's address, with the key taken out so that nothing that is logged or echoed can show it. */
export interface RequestTarget {
  readonly path: string
  /** The path for logs, without what may be a token. */
  readonly redactedPath: string
  /** Without the question mark and without any `key`. */
  readonly search: string
  readonly query: RawQuery
  readonly key: string | undefined
}

/** Takes a request's URL apart. A complete address (as sent to proxies) loses its scheme and host; `below` says what the path is to the routes. */
export const requestTarget = (url: string, below = (path: string): string => path): RequestTarget => {
  const target = url.startsWith('/') ? url : url.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?]*/i, '')
  const mark = target.indexOf('?')
  if (mark === -1) return { ...pathOf(below(target)), search: '', query: none, key: undefined }
  const sent = target.slice(mark + 1)
  // Without a limit of its own, which would drop what is beyond it unseen: the line itself has one.
  const query = parse(sent, '&', '=', { maxKeys: 0 })
  const given = query['key']
  const paths = pathOf(below(target.slice(0, mark)))
  if (given === undefined) return { ...paths, search: sent, query, key: undefined }
  return { ...paths, search: withoutKey(sent), query, key: typeof given === 'string' ? given : oneOf(given) }
}

/** Ids have 24 characters; tokens and keys of ours have 32 or more, however they are escaped. */
const shortestToken = 32

const pathOf = (sent: string): Pick<RequestTarget, 'path' | 'redactedPath'> => {
  const path = sent || '/'
  if (path.length <= shortestToken) return { path, redactedPath: path }
  const segments = path.split('/').map(segment => (segment.length < shortestToken ? segment : hidden))
  return { path, redactedPath: segments.join('/') }
}

/** Two different keys are none: who put the second there, and which counts, cannot be known. */
const oneOf = (given: readonly string[]): string => [...new Set(given.filter(Boolean))].join(', ')

const withoutKey = (search: string): string =>
  search
    .split('&')
    .filter(pair => parse(pair)['key'] === undefined)
    .join('&')

/** What the first middleware needs. */
export interface RequestContexts extends RequestContextOptions {
  readonly ids: Ids
  readonly tracker: RequestTracker
  /** Called with each request as it begins. */
  readonly observers: readonly ((req: IncomingMessage) => void)[]
}

/** Makes the context of a request, and takes keys and tokens out of its address before anyone sees it. */
export const requestContext =
  (options: RequestContexts): Middleware =>
  (context, next) => {
    const request = new RequestContext(context.req, context.res, options.ids.next(), options)
    context.state.request = request
    context.originalUrl = context.req.url ?? '/'
    context.request.originalUrl = context.originalUrl
    // Responses are written by `ResponseWriter`, which can end a connection early.
    context.respond = false
    requestChannel.publish(request)
    options.tracker.track(request)
    for (const observe of options.observers) observe(request.req)
    return next()
  }

/** Tracks the running requests, and logs and counts each when it ends. */
export class RequestTracker {
  readonly #config: HttpConfig
  readonly #log: Log
  readonly #metrics: Metrics
  /**
   * In no order. Each time a `Set` or a `Map` grows or shrinks, V8 leaves a table behind that refers to the next one, so from the first old table on all the
   * requests that were in one reach the old generation. That took a fifth of the processor time of a small request.
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

  /** The requests under way. */
  get running(): Iterable<RequestContext> {
    return this.#running
  }

  /** The request that a connection is busy with. */
  requestOn(socket: Socket): RequestContext | undefined {
    for (const request of this.#running) if (request.req.socket === socket) return request
    return undefined
  }

  /** Resolves when no request is under way. */
  async idle(): Promise<void> {
    if (this.#running.length === 0) return
    await new Promise<void>(resolve => {
      this.#onIdle = resolve
    })
  }

  /** Resolves when the requests that are under way now have ended. */
  async runningNow(): Promise<void> {
    await Promise.all(this.#running.map(({ res }) => new Promise<void>(resolve => res.on('close', resolve))))
  }

  /** Resolves when the requests to these routes have ended; those that have not after `limitMs` are cut off. */
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
    const workedMs = (isStreamed(request) ? (request.headMs ?? nowMs) : nowMs) - request.startedMs
    if (workedMs > this.#config.slowRequestMs && !isUpload(request)) this.#log.warn('slow request', fields)
    else this.#log.debug('request', fields)
    if (this.#config.metrics) this.#measure(request, ms)
    if (this.#running.length === 0) this.#onIdle?.()
  }

  /** The path is logged without its query: that is where keys and search words are. */
  #fields({ id, req, res, target, route, caller }: RequestContext, ms: number, isComplete: boolean): Readonly<Record<string, unknown>> {
    return {
      requestId: id,
      method: req.method,
      path: target.redactedPath,
      status: res.statusCode,
      ms: Math.round(ms * 10) / 10,
      route: route?.name,
      user: caller.user?.id,
      isComplete,
    }
  }

  #measure({ req, res, route }: RequestContext, ms: number): void {
    const labels = { method: req.method ?? '', route: route?.name ?? 'none', status: String(res.statusCode) }
    this.#metrics.count('http_requests_total', labels)
    this.#metrics.observe('http_request_duration_seconds', ms / 1000, labels)
  }
}

/** An upload takes as long as the line to the client does. */
const isUpload = ({ route }: RequestContext): boolean => {
  const body: unknown = route?.declaration.body
  return typeof body === 'object' && body !== null && ('multipart' in body || 'byteBody' in body)
}

/** So does a download once it has begun, and streams of events have no end. */
const isStreamed = ({ route }: RequestContext): boolean =>
  Object.values(route?.declaration.responses ?? {}).some(schema =>
    ['bytes', 'rows', 'events'].includes((schema as { 'x-body'?: string })['x-body'] ?? ''),
  )
