import type { Socket } from 'node:net'
import type { Log, Metrics } from 'pounce/sdk'
import type { HttpConfig } from './config.ts'
import type { Exchange } from './exchange.ts'

/** Knows the requests that are under way, and logs and counts each when it is over. */
export class Traffic {
  readonly #config: HttpConfig
  readonly #log: Log
  readonly #metrics: Metrics
  readonly #running = new Set<Exchange>()
  #onEmpty: (() => void) | undefined

  constructor(config: HttpConfig, log: Log, metrics: Metrics) {
    this.#config = config
    this.#log = log
    this.#metrics = metrics
  }

  enter(exchange: Exchange): void {
    this.#running.add(exchange)
    exchange.res.on('close', () => this.#leave(exchange))
  }

  /** The request that a connection is busy with. */
  on(socket: Socket): Exchange | undefined {
    for (const exchange of this.#running) if (exchange.req.socket === socket) return exchange
    return undefined
  }

  /** Resolves when no request is under way. */
  async empty(): Promise<void> {
    if (this.#running.size === 0) return
    await new Promise<void>(resolve => {
      this.#onEmpty = resolve
    })
  }

  /** Resolves when the requests that are under way now have ended. */
  async ofNow(): Promise<void> {
    await Promise.all([...this.#running].map(({ res }) => new Promise<void>(resolve => res.on('close', resolve))))
  }

  /** Tells every handler that its client will get no answer. */
  abortAll(): void {
    for (const exchange of this.#running) exchange.abort()
  }

  #leave(exchange: Exchange): void {
    this.#running.delete(exchange)
    const isComplete = exchange.res.writableFinished
    if (!isComplete) exchange.abort()
    const ms = performance.now() - exchange.startedMs
    const fields = this.#fields(exchange, ms, isComplete)
    if (ms > this.#config.slowRequestMs && !isTransfer(exchange)) this.#log.warn('slow request', fields)
    else this.#log.debug('request', fields)
    if (this.#config.metrics) this.#measure(exchange, ms)
    if (this.#running.size === 0) this.#onEmpty?.()
  }

  /** The path is logged without its query: that is where keys and search words are. */
  #fields({ id, req, res, line, mount, caller }: Exchange, ms: number, isComplete: boolean): Readonly<Record<string, unknown>> {
    return {
      requestId: id,
      method: req.method,
      path: line.path,
      status: res.statusCode,
      ms: Math.round(ms * 10) / 10,
      route: mount?.name,
      user: caller.user?.id,
      isComplete,
    }
  }

  #measure({ req, res, mount }: Exchange, ms: number): void {
    const labels = { method: req.method ?? '', route: mount?.name ?? 'none', status: String(res.statusCode) }
    this.#metrics.count('http_requests_total', labels)
    this.#metrics.observe('http_request_duration_seconds', ms / 1000, labels)
  }
}

/** Uploads and downloads take as long as the line to the client does. */
const isTransfer = ({ mount }: Exchange): boolean => {
  const body: unknown = mount?.declaration.body
  const isUpload = typeof body === 'object' && body !== null && ('multipart' in body || 'byteBody' in body)
  return (
    isUpload ||
    Object.values(mount?.declaration.responses ?? {}).some(schema =>
      ['bytes', 'rows'].includes((schema as { 'x-body'?: string })['x-body'] ?? ''),
    )
  )
}
