import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import Koa from 'koa'
import { openapiDocument } from '../openapi.ts'
import { BlobResponder } from './blob-responder.ts'
import { Dispatcher } from './dispatcher.ts'
import { Exchange } from './exchange.ts'
import { mountAll } from './mount-all.ts'
import { nodeServer } from './node-server.ts'
import { ownRoutes } from './own-routes.ts'
import { Pipeline } from './pipeline.ts'
import { problemAnswer } from './problems.ts'
import { Replier } from './replier.ts'
import { RouteTable } from './route-table.ts'
import { RowsResponder } from './rows-responder.ts'
import { Sender } from './sender.ts'
import { Traffic } from './traffic.ts'
import type { Http, HttpOptions } from './types.ts'

/** Connections that may wait to be accepted: a thousand clients often start at once. The system has a limit of its own. */
const backlog = 4096

/** Koa's state of one request. */
interface State {
  exchange: Exchange
}

/**
 * Makes the HTTP server of a kernel. Throws one error that names every route which cannot be served (see `mountAll`);
 * nothing listens before `listen`.
 */
export const createHttp = (options: HttpOptions): Http => {
  const { config, log, installation } = options
  const sender = new Sender(config)
  const openapi = (): object => openapiDocument(mounts, installation)
  let openapiText: string | undefined
  const own = ownRoutes({
    readiness: options.readiness,
    isStopping: () => sender.isStopping,
    openapi: () => {
      openapiText ??= JSON.stringify(openapi())
      return openapiText
    },
    scrape: config.metrics ? options.scrape : undefined,
    takesRoot: !options.routes.some(({ route: { declaration } }) => declaration.method === 'GET' && declaration.path === '/'),
  })
  const mounts = mountAll([...options.routes, ...own], options.policy !== undefined)
  const pipeline = new Pipeline({
    log,
    installation,
    trustedProxies: config.trustedProxies,
    policy: options.policy,
    callers: options.callers,
    trails: options.trails,
    maxJsonBytes: config.maxJsonBytes,
    openScope: options.openScope,
  })
  const replier = new Replier(sender, new BlobResponder(sender, log), new RowsResponder(sender, log), options.checkResponses)
  const dispatcher = new Dispatcher({ table: new RouteTable(mounts), pipeline, replier, sender, allowedOrigins: config.allowedOrigins })
  const traffic = new Traffic(config, log, options.metrics)

  const app = new Koa<State>()
  // What happens to a connection after its answer; the rest is answered below and never gets there.
  app.on('error', error => log.debug('connection failed', { error }))
  app.use(async context => {
    const exchange = new Exchange(context.req, context.res, options.ids.next())
    // Answers are written by the sender, which knows how to end a connection early.
    context.respond = false
    traffic.enter(exchange)
    try {
      await dispatcher.dispatch(context, exchange)
    } catch (error) {
      if (exchange.res.destroyed) {
        // A client that goes away makes handlers fail in many ways; nobody is left to hear of it.
        log.debug('a request lost its client', { requestId: exchange.id, path: exchange.line.path, error })
        return
      }
      const { status, headers, text } = problemAnswer(error, exchange, log)
      if (exchange.res.headersSent) exchange.res.destroy()
      else sender.send(exchange, status, headers, text)
    }
  })
  const server = nodeServer(config, app.callback(), socket => traffic.on(socket))
  return new KoaHttp(server, options, sender, traffic, openapi)
}

class KoaHttp implements Http {
  readonly #server: Server
  readonly #options: HttpOptions
  readonly #sender: Sender
  readonly #traffic: Traffic
  readonly openapi: () => object

  constructor(server: Server, options: HttpOptions, sender: Sender, traffic: Traffic, openapi: () => object) {
    this.#server = server
    this.#options = options
    this.#sender = sender
    this.#traffic = traffic
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
    this.#sender.isStopping = true
  }

  async drain(timeoutMs: number): Promise<void> {
    this.setStopping()
    if (!this.#server.listening) return
    const limit = Promise.withResolvers<void>()
    const timer = setTimeout(limit.resolve, timeoutMs)
    // Others are still answered meanwhile: from `/readyz` they learn to go elsewhere.
    await Promise.race([this.#traffic.ofNow(), limit.promise])
    const closed = new Promise<void>(resolve => this.#server.close(() => resolve()))
    this.#server.closeIdleConnections()
    await Promise.race([this.#traffic.empty(), limit.promise])
    clearTimeout(timer)
    this.#traffic.abortAll()
    this.#server.closeAllConnections()
    await closed
  }
}

const explained = (error: NodeJS.ErrnoException, host: string, port: number): Error => {
  if (error.code === 'EADDRINUSE')
    return new Error(`Port ${port} of ${host} is taken: stop what listens there, or set http.port`, { cause: error })
  if (error.code === 'EACCES')
    return new Error(`Port ${port} of ${host} needs more rights: take one above 1023 with http.port`, { cause: error })
  if (error.code === 'EADDRNOTAVAIL') return new Error(`This machine has no address ${host}: set http.host`, { cause: error })
  return error
}
