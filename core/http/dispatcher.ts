import type { Context } from 'koa'
import type { Exchange } from './exchange.ts'
import type { Pipeline } from './pipeline.ts'
import { MethodNotAllowed, NoSuchAddress } from './problems.ts'
import type { Replier } from './replier.ts'
import type { Match, RouteTable } from './route-table.ts'
import type { Sender } from './sender.ts'

const allowedHeaders =
  'Content-Type, X-API-Key, Authorization, Range, If-None-Match, X-HTTP-Method-Override, ' +
  'Tus-Resumable, Upload-Length, Upload-Offset, Upload-Metadata, Upload-Checksum, Upload-Defer-Length'

interface DispatcherOptions {
  readonly table: RouteTable
  readonly pipeline: Pipeline
  readonly replier: Replier
  readonly sender: Sender
  readonly allowedOrigins: readonly string[]
}

/** Leads a request to its route and the answer to its client. */
export class Dispatcher {
  readonly #options: DispatcherOptions

  constructor(options: DispatcherOptions) {
    this.#options = options
  }

  /** Throws `NoSuchAddress` and `MethodNotAllowed`, and what the route throws. */
  async dispatch(context: Context, exchange: Exchange): Promise<void> {
    const { pipeline, replier } = this.#options
    const method = exchange.req.method ?? 'GET'
    if (method === 'OPTIONS') return this.#describe(exchange)
    const match = this.#find(method === 'HEAD' ? 'GET' : method, exchange.line.path)
    if (!match) throw this.#missing(exchange.line.path)
    const { mount } = match
    exchange.mount = mount
    if (method === 'HEAD' && mount.declaration.effects !== undefined && !mount.declaration.answersHead) {
      throw new MethodNotAllowed(this.#allowed(exchange.line.path).filter(name => name !== 'HEAD'))
    }
    const sent = replier.send(exchange, mount, await pipeline.run(context, exchange, match))
    if (sent) await sent
  }

  #find(method: string, path: string): Match | undefined {
    const found = this.#options.table.find(method, path)
    // Clowder 1.x takes a trailing slash nowhere but here.
    return found ?? (path.startsWith('/api/proxy/') && path.endsWith('/') ? this.#options.table.find(method, path.slice(0, -1)) : undefined)
  }

  #missing(path: string): Error {
    const allowed = this.#allowed(path)
    return allowed.length === 0 ? new NoSuchAddress() : new MethodNotAllowed(allowed)
  }

  #allowed(path: string): readonly string[] {
    return this.#options.table.methodsOf(path).flatMap(method => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
  }

  #describe(exchange: Exchange): void {
    const { sender, allowedOrigins } = this.#options
    const allowed = this.#allowed(exchange.line.path)
    if (allowed.length === 0 && exchange.req.url !== '*') throw new NoSuchAddress()
    const allow = [...allowed, 'OPTIONS'].join(', ')
    const own = this.#options.table.headersOf(exchange.line.path)
    const preflight = {
      'access-control-allow-methods': allow,
      'access-control-allow-headers': allowedHeaders,
      'access-control-max-age': '600',
    }
    sender.send(exchange, 204, { ...own, allow, ...(allowedOrigins.length > 0 ? preflight : {}) }, undefined)
  }
}
