import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createApp, type HttpOptions } from './app.ts'
import { BodyDeadlines, nodeServer, refuseSlowBody } from './node-server.ts'
import { RequestTracker } from './request-context.ts'
import { ResponseWriter } from './response-writer.ts'
import { Addresses, PrefixRouter, registerRoutes } from './router.ts'
import { systemRoutes } from './system-routes.ts'

/** The HTTP server of a kernel. */
export interface Http {
  /** Starts to accept connections. Rejects with a message for people when the address is taken. */
  listen(): Promise<{ readonly host: string; readonly port: number; readonly url: string }>
  /** From now on `/readyz` says 503 and connections are closed after their answer. */
  setStopping(): void
  /** Lets running requests finish for at most `timeoutMs`; until they have, new ones are answered too. Then accepts nothing more and cuts what is left. */
  drain(timeoutMs: number): Promise<void>
  /** The OpenAPI 3.0.1 document of all routes. */
  openapi(): Promise<object>
}

/** Connections that may wait to be accepted: a thousand clients often start at once. The system has a limit of its own. */
const backlog = 4096

/**
 * Makes the HTTP server of a kernel. Throws one error that names every route which cannot be served (see `registerRoutes`);
 * nothing listens before `listen`.
 */
export const createHttp = (options: HttpOptions): Http => {
  const { config, log, installation, crossOriginHeaders } = options
  const writer = new ResponseWriter(config, installation.baseUrl.startsWith('https:'), crossOriginHeaders?.response ?? [])
  // Loaded when someone asks: a start does without it.
  const openapi = async (): Promise<object> => (await import('../openapi/openapi.ts')).openapiDocument(routes, installation)
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
    base: () => addresses.base,
    takesRoot: !options.routes.some(({ route: { declaration } }) => declaration.method === 'GET' && declaration.path === '/'),
  })
  const routes = registerRoutes([...options.routes, ...own], options.policy !== undefined)
  const router = new PrefixRouter(routes)
  const addresses = new Addresses(router, () => installation.baseUrl)
  const tracker = new RequestTracker(config, log, options.metrics)
  const app = createApp(options, { router, addresses, tracker, writer })
  const server = nodeServer(options, app.callback(), socket => tracker.requestOn(socket))
  const deadlines = new BodyDeadlines(config, tracker.running, refuseSlowBody)
  server.on('listening', () => deadlines.start())
  server.on('close', () => deadlines.stop())
  return new HttpServer(server, options, writer, tracker, openapi)
}

class HttpServer implements Http {
  readonly #server: Server
  readonly #options: HttpOptions
  readonly #writer: ResponseWriter
  readonly #tracker: RequestTracker
  readonly openapi: () => Promise<object>

  constructor(server: Server, options: HttpOptions, writer: ResponseWriter, tracker: RequestTracker, openapi: () => Promise<object>) {
    this.#server = server
    this.#options = options
    this.#writer = writer
    this.#tracker = tracker
    this.openapi = openapi
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
    // Others are still answered meanwhile: from `/readyz` they learn to go elsewhere.
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
  return error
}
