import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Ids, Log } from 'pounce/sdk'
import { networkOf } from 'pounce/sdk/kit'
import { rootRoute, systemRoutes } from '../system-routes.ts'
import { createApp, type HttpOptions } from './app.ts'
import type { HttpConfig } from './config.ts'
import { PipelinedRequests } from './pipelined-requests.ts'
import { markContinueDue, type RequestContext, RequestTracker } from './request-context.ts'
import { ResponseWriter } from './response-writer.ts'
import { type Address, Addresses, type PluginRoute, PrefixRouter, type RegisteredRoute, registerRoutes } from './router.ts'
import { TrustedProxies } from './trusted-proxies.ts'

/*
 * An ES import of node:http reads all its members, two of which, WebSocket and CloseEvent, load Node's fetch implementation with HTTP/2:
 * 25 ms of the start and 13 MB that a server does not need. This is the same module without the ES wrapper.
 */
const http = process.getBuiltinModule('node:http')

/** Fits an address with 1,000 ids (`GET /api/files/metadata.jsonld`). */
const maxHeaderBytes = 40 * 1024

/** The HTTP server of a kernel. */
export interface Http {
  /** Starts to accept connections. Rejects with a user-facing message if the address is in use. */
  listen(): Promise<{ readonly host: string; readonly port: number; readonly url: string }>
  /** Makes `/readyz` return 503 and closes connections after their response. */
  setStopping(): void
  /** Waits at most `timeoutMs` for running requests, and accepts new ones meanwhile. Then stops accepting connections and closes the remaining ones. */
  drain(timeoutMs: number): Promise<void>
  /**
   * Replaces the routes of a plugin, possibly with none. Resolves when the requests to the former routes have ended; after `limitMs` the remaining ones
   * are aborted.
   */
  replaceRoutes(plugin: string, routes: readonly PluginRoute[], limitMs: number): Promise<void>
  /** The OpenAPI 3.0.1 document of all routes. */
  openapi(): Promise<object>
}

const isRoot = ({ method, path }: Address): boolean => method === 'GET' && path === '/'

/** Maximum number of connections waiting to be accepted: a thousand clients often start simultaneously. The system has its own limit. */
const backlog = 4096

/**
 * Creates the HTTP server of a kernel, which does not listen before `listen`. Throws one error with all invalid routes
 * (see `registerRoutes`).
 */
export const createHttp = (options: HttpOptions): Http => {
  const { config, log, installation, crossOriginHeaders } = options
  const writer = new ResponseWriter(config, installation.baseUrl.startsWith('https:'), crossOriginHeaders?.response ?? [])
  // Loaded on first use to keep the start fast.
  const openapi = async (): Promise<object> => (await import('../openapi/openapi.ts')).openapiDocument(routes(), installation)
  let openapiText: Promise<string> | undefined
  const own = systemRoutes({
    readiness: options.readiness,
    isStopping: () => writer.isStopping,
    openapi: () => {
      openapiText ??= openapi().then(document => JSON.stringify(document))
      return openapiText
    },
    scrape: config.metrics ? options.scrape : undefined,
    metricsToken: options.metricsToken,
  })
  const register = (given: readonly PluginRoute[]) => registerRoutes(given, options.policy !== undefined, installation.permissions)
  const byPlugin = Map.groupBy(register([...options.routes, ...own]), ({ plugin }) => plugin)
  const root = register([rootRoute(() => addresses.base)])
  const routes = () => {
    const all = [...byPlugin.values()].flat()
    return all.some(({ addresses }) => addresses.some(isRoot)) ? all : [...all, ...root]
  }
  /** The routes of plugins that are switched off: what they answer is 404, also where another plugin has the path with another method. */
  const withdrawn = new Map<string, readonly RegisteredRoute[]>()
  const router = new PrefixRouter(routes())
  const addresses = new Addresses(router, () => installation.baseUrl)
  const tracker = new RequestTracker(config, log, options.metrics)
  const app = createApp(options, { router, addresses, tracker, writer })
  const server = nodeServer(options, app.callback(), socket => tracker.requestOn(socket))
  const deadlines = new BodyDeadlines(config, tracker.running, refuseSlowBody)
  server.on('listening', () => deadlines.start())
  server.on('close', () => deadlines.stop())
  const replaceRoutes: Http['replaceRoutes'] = (plugin, others, limitMs) => {
    const former = byPlugin.get(plugin) ?? []
    byPlugin.set(plugin, [...register(others)])
    if (others.length > 0) withdrawn.delete(plugin)
    else if (former.length > 0) withdrawn.set(plugin, former)
    router.replace(routes(), [...withdrawn.values()].flat())
    openapiText = undefined
    return tracker.endOf(new Set(former), limitMs)
  }
  return new HttpServer(server, options, writer, tracker, { openapi, replaceRoutes })
}

class HttpServer implements Http {
  readonly #server: Server
  readonly #options: HttpOptions
  readonly #writer: ResponseWriter
  readonly #tracker: RequestTracker
  readonly openapi: Http['openapi']
  readonly replaceRoutes: Http['replaceRoutes']

  constructor(
    server: Server,
    options: HttpOptions,
    writer: ResponseWriter,
    tracker: RequestTracker,
    { openapi, replaceRoutes }: Pick<Http, 'openapi' | 'replaceRoutes'>,
  ) {
    this.#server = server
    this.#options = options
    this.#writer = writer
    this.#tracker = tracker
    this.openapi = openapi
    this.replaceRoutes = replaceRoutes
  }

  async listen(): Promise<{ host: string; port: number; url: string }> {
    const { host, port } = this.#options.config
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', (error: NodeJS.ErrnoException) => reject(explained(error, host, port)))
      this.#server.listen({ port, host, backlog }, resolve)
    })
    const bound = this.#server.address() as AddressInfo
    const name = bound.family === 'IPv6' ? `[${bound.address}]` : bound.address
    return { host: bound.address, port: bound.port, url: `http://${name}:${bound.port}` }
  }

  setStopping(): void {
    this.#writer.stop()
  }

  async drain(timeoutMs: number): Promise<void> {
    this.setStopping()
    if (!this.#server.listening) return
    const limit = Promise.withResolvers<void>()
    const timer = setTimeout(limit.resolve, timeoutMs)
    // New requests are still served meanwhile, so that load balancers get 503 from `/readyz`.
    await Promise.race([this.#tracker.runningNow(), limit.promise])
    const closed = new Promise<void>(resolve => this.#server.close(() => resolve()))
    this.#server.closeIdleConnections()
    await Promise.race([this.#tracker.idle(), limit.promise])
    clearTimeout(timer)
    this.#tracker.abortAll()
    this.#server.closeAllConnections()
    await closed
  }
}

const explained = (error: NodeJS.ErrnoException, host: string, port: number): Error => {
  if (error.code === 'EADDRINUSE')
    return new Error(`Port ${port} of ${host} is already in use: stop the other process, or set http.port`, { cause: error })
  if (error.code === 'EACCES')
    return new Error(`Permission denied to listen on port ${port} of ${host}: set http.port to a port above 1023`, { cause: error })
  if (error.code === 'EADDRNOTAVAIL') return new Error(`Address ${host} is not available on this machine: set http.host`, { cause: error })
  if (error.code === 'ENOTFOUND' || error.code === 'EAI_AGAIN')
    return new Error(`http.host: ${host} has no address: set it to an address of this machine, such as 127.0.0.1 or 0.0.0.0`, {
      cause: error,
    })
  return error
}

/** Dependencies of `nodeServer`. */
export interface NodeServerOptions {
  readonly config: HttpConfig
  readonly log: Log
  readonly ids: Ids
}

/** Finds the request that a connection is processing. */
export type Busy = (socket: Socket) => RequestContext | undefined

/**
 * Node's server with our limits: headers of up to 40 kB with a timeout, stalled transfers are closed, malformed requests get 400
 * and a closed connection. There is no total time limit per request: transfers may last hours while they make progress (see
 * `BodyDeadlines`). The number of connections per address is limited.
 */
export const nodeServer = ({ config, log, ids }: NodeServerOptions, listener: RequestListener, busy: Busy): Server => {
  /** Responds on a connection without a parsed request, and closes it. */
  const refuse = (socket: Socket, cause: string | undefined): void => {
    const refusal = refusals[cause ?? ''] ?? notHttp
    const requestId = ids.next()
    log.debug('Connection refused', { requestId, status: refusal[0], code: refusal[1] })
    write(socket, refusal, requestId)
  }
  const pipelined = new PipelinedRequests()
  const listen: RequestListener = (req, res) => {
    if (isAmbiguous(req)) refuseInOrder(res, notHttp, ids.next())
    else pipelined.inTurn(req.socket, res, () => listener(req, res))
  }
  const server = http.createServer(
    {
      maxHeaderSize: maxHeaderBytes,
      headersTimeout: config.headersTimeoutMs,
      requestTimeout: 0,
      keepAliveTimeout: config.keepAliveTimeoutMs,
      connectionsCheckingInterval: Math.min(1000, config.headersTimeoutMs),
      noDelay: true,
      // `AllowedHosts` does this check: Node's response would be empty.
      requireHostHeader: false,
    },
    listen,
  )
  server.maxConnections = config.maxConnections
  server.timeout = config.silentTransferMs
  const proxies = new TrustedProxies(config.trustedProxies)
  const share = new ConnectionShare(config.maxConnectionsPerAddress)
  server.on('connection', (socket: Socket) => {
    if (!proxies.mayForward(socket.remoteAddress) && !share.admit(socket)) refuse(socket, 'TOO_MANY_CONNECTIONS')
  })
  server.on('timeout', (socket: Socket) => {
    const { bytesRead, bytesWritten } = socket
    // After a pause of the process, timers fire before pending bytes are read or written; these restart the timer.
    setImmediate(() => {
      if (socket.bytesRead > bytesRead || socket.bytesWritten > bytesWritten) return
      const request = busy(socket)
      // Not silent: a client whose handler, or whose slower store, takes longer than a transfer may stall.
      const isSilent = request === undefined || (request.isBodyOpen && !isHeldUp(request.req)) || socket.writableLength > 0
      if (isSilent) socket.destroy()
      else socket.setTimeout(config.silentTransferMs)
    })
  })
  server.on('checkContinue', (req: IncomingMessage, res) => {
    markContinueDue(req)
    listen(req, res)
  })
  // For expectations other than `100-continue`, Node would send an empty 417; they may be ignored (RFC 9110, 10.1.1).
  server.on('checkExpectation', listen)
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    const request = busy(socket)
    if (request) log.debug('Connection failed', { error })
    if (!socket.writable || error.code === 'ECONNRESET' || request?.res.headersSent) socket.destroy()
    else refuse(socket, error.code)
    request?.abort()
  })
  return server
}

type Refusal = readonly [status: number, code: string, message: string]

const refusals: Readonly<Record<string, Refusal>> = {
  HPE_HEADER_OVERFLOW: [431, 'headers-too-large', `The headers must be at most ${maxHeaderBytes} bytes`],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'too-slow', 'The request was not received in time'],
  TOO_MANY_CONNECTIONS: [429, 'too-many-connections', 'Too many connections from this address: close or reuse some'],
}

const notHttp: Refusal = [400, 'invalid', 'Malformed HTTP request']

/** True while a body waits for the server, which reads it more slowly than the client sends it. */
const isHeldUp = (req: IncomingMessage): boolean => req.isPaused() || req.readableLength >= req.readableHighWaterMark

/** Ends a request whose body is received too slowly, with 408 if no response was sent yet. */
const refuseSlowBody = (request: RequestContext, message: string): void => {
  const { socket } = request.req
  if (request.res.headersSent || !socket.writable) socket.destroy()
  else write(socket, [408, 'too-slow', message], request.id)
  request.abort()
}

/**
 * True for a request that a proxy may interpret differently: several Host headers (RFC 9112, 3.2), a Transfer-Encoding other than `chunked`, any
 * Transfer-Encoding in HTTP/1.0 (6.1), or another version. Node's parser refuses all other cases.
 */
const isAmbiguous = ({ headers, httpVersion, httpVersionMajor, rawHeaders }: IncomingMessage): boolean => {
  const coding = headers['transfer-encoding']
  if (httpVersionMajor !== 1) return true
  if (coding !== undefined && (httpVersion === '1.0' || coding.toLowerCase() !== 'chunked')) return true
  const isHost = (name: string, index: number): boolean => index % 2 === 0 && name.length === 4 && name.toLowerCase() === 'host'
  return rawHeaders.findIndex(isHost) !== rawHeaders.findLastIndex(isHost)
}

const bodyOf = ([, code, message]: Refusal, requestId: string): string => JSON.stringify({ status: 'error', message, code, requestId })

/** Sends the refusal after earlier responses on the connection, and closes it. */
const refuseInOrder = (res: ServerResponse, refusal: Refusal, requestId: string): void => {
  const body = bodyOf(refusal, requestId)
  const headers = { 'Content-Type': 'application/json', 'X-Request-Id': requestId, 'Content-Length': body.length, Connection: 'close' }
  res.writeHead(refusal[0], headers).end(body)
}

const write = (socket: Socket, refusal: Refusal, requestId: string): void => {
  const [status] = refusal
  const body = bodyOf(refusal, requestId)
  const retry = status === 429 ? 'Retry-After: 5\r\n' : ''
  const head = `HTTP/1.1 ${status} ${http.STATUS_CODES[status]}\r\nContent-Type: application/json\r\nX-Request-Id: ${requestId}\r\nContent-Length: ${body.length}\r\n${retry}Connection: close\r\n\r\n`
  socket.end(head + body, () => socket.destroy())
}

/**
 * Counts open connections per address (IPv6: per /64), so that one address cannot use all of them. Behind a trusted proxy, all connections come from the
 * proxy, which has to limit its clients.
 */
class ConnectionShare {
  readonly #max: number
  readonly #open = new Map<string, number>()

  constructor(max: number) {
    this.#max = max
  }

  /** False, without counting the connection, if the address has reached its limit. */
  admit(socket: Socket): boolean {
    const network = networkOf(socket.remoteAddress ?? '')
    const open = this.#open.get(network) ?? 0
    if (open >= this.#max) return false
    this.#open.set(network, open + 1)
    socket.once('close', () => {
      const left = (this.#open.get(network) ?? 1) - 1
      if (left > 0) this.#open.set(network, left)
      else this.#open.delete(network)
    })
    return true
  }
}

type Limits = Pick<HttpConfig, 'bodyRateWindowMs' | 'minBodyRate' | 'jsonBodyTimeoutMs'>

/** The progress of a body at the start of the current window. */
interface Progress {
  startedMs: number
  seenMs: number
  windowMs: number
  bytesRead: number
  /** True if the last check found it too slow. After a process pause, timers fire before pending bytes are read, so the next check decides. */
  isSuspect: boolean
}

const mebibyte = 1024 * 1024

/**
 * Ends requests whose bodies are received too slowly: each window must reach the minimum rate, and JSON must be complete within its time limit. Time in
 * which the server itself does not read, because a store is slower than the client, is not counted.
 */
class BodyDeadlines {
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

  /** Checks all requests whose body is still being received. */
  check(nowMs: number): void {
    for (const request of this.#running) {
      // After a response, `ResponseWriter` closes the connection with its own time limit.
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
    const isWaiting = isHeldUp(req)
    if (isWaiting) progress.startedMs += nowMs - progress.seenMs
    progress.seenMs = nowMs
    const allMs = jsonTimeMs(request, this.#limits)
    if (nowMs - progress.startedMs > allMs) return `A JSON body of this size must be complete within ${Math.ceil(allMs / 1000)} s`
    const windowMs = nowMs - progress.windowMs
    if (!isWaiting && windowMs < bodyRateWindowMs) return undefined
    const isSlow = !isWaiting && ((req.socket.bytesRead - progress.bytesRead) * 1000) / windowMs < minBodyRate
    if (isSlow && progress.isSuspect) return `A body must be sent at a rate of at least ${minBodyRate} bytes per second`
    progress.isSuspect = isSlow
    if (isSlow) return undefined
    progress.windowMs = nowMs
    progress.bytesRead = req.socket.bytesRead
    return undefined
  }
}

/** JSON that is read as a whole: not newline-delimited JSON, which has no maximum length. */
const wholeJson = /[/+]json\b/i

/** Infinite for bodies other than JSON. Each MiB adds the time of the first. */
const jsonTimeMs = ({ req: { headers } }: RequestContext, { jsonBodyTimeoutMs }: Limits): number =>
  wholeJson.test(headers['content-type'] ?? '')
    ? jsonBodyTimeoutMs * Math.max(1, Math.ceil(Number(headers['content-length'] ?? 0) / mebibyte))
    : Number.POSITIVE_INFINITY
