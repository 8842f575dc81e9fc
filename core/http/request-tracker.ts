import type { Socket } from 'node:net'
import type { Log, Metrics } from 'pounce/sdk'
import type { HttpConfig } from './config.ts'
import type { Middleware, RequestContext } from './request-context.ts'

/** Knows the running requests, and logs and counts each when it is over. */
export class RequestTracker {
  readonly #config: HttpConfig
  readonly #log: Log
  readonly #metrics: Metrics
  readonly #running = new Set<RequestContext>()
  #onIdle: (() => void) | undefined

  constructor(config: HttpConfig, log: Log, metrics: Metrics) {
    this.#config = config
    this.#log = log
    this.#metrics = metrics
  }

  track(request: RequestContext): void {
    this.#running.add(request)
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
    if (this.#running.size === 0) return
    await new Promise<void>(resolve => {
      this.#onIdle = resolve
    })
  }

  /** Resolves when the requests that are under way now have ended. */
  async runningNow(): Promise<void> {
    await Promise.all([...this.#running].map(({ res }) => new Promise<void>(resolve => res.on('close', resolve))))
  }

  /** Tells every handler that its client will get no answer. */
  abortAll(): void {
    for (const request of this.#running) request.abort()
  }

  #leave(request: RequestContext): void {
    this.#running.delete(request)
    const isComplete = request.res.writableFinished
    if (!isComplete) request.abort()
    const ms = performance.now() - request.startedMs
    const fields = this.#fields(request, ms, isComplete)
    if (ms > this.#config.slowRequestMs && !isTransfer(request)) this.#log.warn('slow request', fields)
    else this.#log.debug('request', fields)
    if (this.#config.metrics) this.#measure(request, ms)
    if (this.#running.size === 0) this.#onIdle?.()
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

/** Uploads and downloads take as long as the line to the client does. */
const isTransfer = ({ route }: RequestContext): boolean => {
  const body: unknown = route?.declaration.body
  const isUpload = typeof body === 'object' && body !== null && ('multipart' in body || 'byteBody' in body)
  return (
    isUpload ||
    Object.values(route?.declaration.responses ?? {}).some(schema =>
      ['bytes', 'rows'].includes((schema as { 'x-body'?: string })['x-body'] ?? ''),
    )
  )
}

/** Requests that begin in one turn of the event loop. */
const perTurn = 16

/**
 * Begins so many requests per turn of the event loop, the others in the next ones, in their order. A crowd that comes at once is otherwise begun as one piece of
 * work, half a second in which nobody else is answered.
 */
export class RequestPacer {
  #begun = 0
  #isTurnDue = false
  #waiting: (() => void)[] = []

  /** Undefined when the request may begin at once, else resolves when it may. */
  enter(): Promise<void> | undefined {
    this.#awaitTurn()
    if (this.#begun < perTurn && this.#waiting.length === 0) {
      this.#begun += 1
      return undefined
    }
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#waiting.push(resolve)
    return promise
  }

  #awaitTurn(): void {
    if (this.#isTurnDue) return
    this.#isTurnDue = true
    setImmediate(() => this.#turn())
  }

  #turn(): void {
    this.#isTurnDue = false
    const next = this.#waiting.splice(0, perTurn)
    this.#begun = next.length
    if (next.length > 0) this.#awaitTurn()
    for (const begin of next) begin()
  }
}

/** Requests for this path do not wait for their turn. */
export const pace =
  (pacer: RequestPacer, exempt: string): Middleware =>
  (context, next) => {
    const turn = context.state.request.target.path === exempt ? undefined : pacer.enter()
    return turn ? turn.then(next) : next()
  }
