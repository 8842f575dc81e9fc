import type { HttpConfig } from './config.ts'
import type { RequestContext } from './request-context.ts'

type Limits = Pick<HttpConfig, 'bodyRateWindowMs' | 'minBodyRate' | 'jsonBodyTimeoutMs'>

/** How far a body had come when its present window began. */
interface Progress {
  startedMs: number
  seenMs: number
  windowMs: number
  bytesRead: number
  /** Looked too slow at the last look. After a pause of the process timers come before the bytes that waited meanwhile, so one more look decides. */
  isSuspect: boolean
}

const mebibyte = 1024 * 1024

/**
 * Ends requests whose bodies come too slowly: each window must bring bytes at the least rate, and JSON must be complete within its time. What the server
 * itself does not take, because a store is slower than the client, is not held against the client.
 */
export class BodyDeadlines {
  readonly #limits: Limits
  readonly #running: Iterable<RequestContext>
  readonly #refuse: (request: RequestContext, message: string) => void
  readonly #progress = new WeakMap<RequestContext, Progress>()
  #timer: NodeJS.Timeout | undefined

  constructor(limits: Limits, running: Iterable<RequestContext>, refuse: (request: RequestContext, message: string) => void) {
    this.#limits = limits
    this.#running = running
    this.#refuse = refuse
  }

  start(): void {
    const { bodyRateWindowMs, jsonBodyTimeoutMs } = this.#limits
    this.#timer = setInterval(() => this.check(performance.now()), Math.min(1000, bodyRateWindowMs / 4, jsonBodyTimeoutMs / 4)).unref()
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  /** Looks at every request whose body is still coming. */
  check(nowMs: number): void {
    for (const request of this.#running) {
      // An answer that is out already ends its connection in a time of its own.
      if (!request.isBodyOpen || request.isContinueDue || request.res.writableEnded || request.req.destroyed) continue
      const message = this.#fault(request, nowMs)
      if (message !== undefined) this.#refuse(request, message)
    }
  }

  #fault(request: RequestContext, nowMs: number): string | undefined {
    const { bodyRateWindowMs, minBodyRate } = this.#limits
    const { req } = request
    let progress = this.#progress.get(request)
    if (!progress) {
      progress = { startedMs: nowMs, seenMs: nowMs, windowMs: nowMs, bytesRead: req.socket.bytesRead, isSuspect: false }
      this.#progress.set(request, progress)
    }
    const isHeldUp = req.isPaused() || req.readableLength >= req.readableHighWaterMark
    if (isHeldUp) progress.startedMs += nowMs - progress.seenMs
    progress.seenMs = nowMs
    const allMs = jsonTimeMs(request, this.#limits)
    if (nowMs - progress.startedMs > allMs) return `A JSON body of this size must be complete within ${Math.ceil(allMs / 1000)} s`
    const windowMs = nowMs - progress.windowMs
    if (!isHeldUp && windowMs < bodyRateWindowMs) return undefined
    const isSlow = !isHeldUp && ((req.socket.bytesRead - progress.bytesRead) * 1000) / windowMs < minBodyRate
    if (isSlow && progress.isSuspect) return `A body must come with at least ${minBodyRate} bytes a second`
    progress.isSuspect = isSlow
    if (isSlow) return undefined
    progress.windowMs = nowMs
    progress.bytesRead = req.socket.bytesRead
    return undefined
  }
}

/** Infinite for what is no JSON. Every MiB has the time of the first. */
const jsonTimeMs = ({ req: { headers } }: RequestContext, { jsonBodyTimeoutMs }: Limits): number =>
  headers['content-type']?.includes('json')
    ? jsonBodyTimeoutMs * Math.max(1, Math.ceil(Number(headers['content-length'] ?? 0) / mebibyte))
    : Number.POSITIVE_INFINITY
