import { codingFor, compress, worthCompressing } from './compression.ts'
import type { HttpConfig } from './config.ts'
import type { Exchange } from './exchange.ts'
import { endAfterRequest } from './linger.ts'
import { corsHeaders } from './origin.ts'

type Headers = Record<string, string | number>

/** Writes answers: the headers that all have in common, compression, and a connection that ends when it must. */
export class Sender {
  readonly #config: HttpConfig
  /** From now on each connection is closed after its answer. */
  isStopping = false

  constructor(config: HttpConfig) {
    this.#config = config
  }

  /** Sends a whole answer of text, compressed when that is worth it. */
  sendText(exchange: Exchange, status: number, headers: Headers, text: string): Promise<void> | undefined {
    if (this.#config.compress && text.length > worthCompressing && !exchange.isHead) {
      headers['vary'] = 'Accept-Encoding'
      const coding = codingFor(exchange.req.headers['accept-encoding'])
      if (coding) return this.#sendCompressed(exchange, status, headers, text, coding)
    }
    this.send(exchange, status, headers, text)
    return undefined
  }

  async #sendCompressed(exchange: Exchange, status: number, headers: Headers, text: string, coding: 'br' | 'gzip'): Promise<void> {
    headers['content-encoding'] = coding
    this.send(exchange, status, headers, await compress(text, coding))
  }

  /** Sends a whole answer; without a body when there is none. */
  send(exchange: Exchange, status: number, headers: Headers, body: string | Buffer | undefined): void {
    const { res } = exchange
    if (res.headersSent || res.destroyed) return
    if (status !== 204 && status !== 304) headers['content-length'] = body === undefined ? 0 : Buffer.byteLength(body)
    this.head(exchange, status, headers)
    if (!exchange.isBodyOpen) {
      res.end(exchange.isHead ? undefined : body)
      return
    }
    if (body !== undefined && !exchange.isHead) res.write(body)
    else res.flushHeaders()
    endAfterRequest(exchange)
  }

  /** Writes the head of an answer whose body follows. */
  head(exchange: Exchange, status: number, headers: Headers): void {
    const { req, res } = exchange
    headers['x-request-id'] = exchange.id
    headers['x-content-type-options'] = 'nosniff'
    if (this.isStopping || exchange.isBodyOpen) headers['connection'] = 'close'
    const cors = corsHeaders(req.headers.origin, this.#config.allowedOrigins)
    if (cors)
      for (const [name, value] of Object.entries(cors))
        headers[name] = name === 'vary' && headers['vary'] ? `${headers['vary']}, ${value}` : value
    res.writeHead(status, headers)
  }
}

/** Waits until the client has taken what was written, or is gone. */
export const drained = (res: Exchange['res']): Promise<void> =>
  new Promise(resolve => {
    const done = (): void => {
      res.off('drain', done)
      res.off('close', done)
      resolve()
    }
    res.on('drain', done)
    res.on('close', done)
  })
