import type { Writable } from 'node:stream'
import { acceptsGzip, codingFor, compress, gzipInto, isCompressible, worthCompressing } from './compression.ts'
import type { HttpConfig } from './config.ts'
import type { Exchange } from './exchange.ts'
import { endAfterRequest } from './linger.ts'
import { corsHeaders } from './origin.ts'

type Headers = Record<string, string | number>

/** Answers that are being compressed; more go out plain, so that many slow readers do not fill the memory. */
const maxGzips = 256

const varies = (headers: Headers): void => {
  const { vary } = headers
  headers['vary'] = vary === undefined ? 'Accept-Encoding' : `${vary}, Accept-Encoding`
}

/** Writes answers: the headers that all have in common, compression, and a connection that ends when it must. */
export class Sender {
  readonly #config: HttpConfig
  /** From now on each connection is closed after its answer. */
  isStopping = false
  #gzips = 0

  constructor(config: HttpConfig) {
    this.#config = config
  }

  /** Sends a whole answer of text, compressed when that is worth it. */
  sendText(exchange: Exchange, status: number, headers: Headers, text: string): Promise<void> | undefined {
    if (this.#config.compress && text.length > worthCompressing) {
      varies(headers)
      const coding = codingFor(exchange.req.headers['accept-encoding'])
      if (coding) return this.#sendCompressed(exchange, status, headers, text, coding)
    }
    this.send(exchange, status, headers, text)
    return undefined
  }

  async #sendCompressed(exchange: Exchange, status: number, headers: Headers, text: string, coding: 'br' | 'gzip'): Promise<void> {
    headers['content-encoding'] = coding
    this.send(exchange, status, headers, exchange.isHead ? '' : await compress(text, coding))
  }

  /**
   * Whether an answer of this type that is written bit by bit goes out in gzip once it is long. Marks the headers of one that would for
   * another client.
   */
  mayStreamGzip(exchange: Exchange, headers: Headers): boolean {
    const isMeant = headers['content-encoding'] === undefined && !String(headers['cache-control'] ?? '').includes('no-transform')
    if (!this.#config.compress || !isMeant || !isCompressible(String(headers['content-type']))) return false
    varies(headers)
    return this.#gzips < maxGzips && acceptsGzip(exchange.req.headers['accept-encoding'])
  }

  /** Writes the head of an answer that is written bit by bit, and says where to. */
  begin(exchange: Exchange, status: number, headers: Headers, isGzip: boolean): Writable {
    const { res } = exchange
    if (!isGzip) {
      this.head(exchange, status, headers)
      return res
    }
    const etag = headers['etag']
    // Other bytes that say the same have a weak tag.
    const weak = typeof etag === 'string' && !etag.startsWith('W/') ? { etag: `W/${etag}` } : {}
    this.head(exchange, status, { ...headers, ...weak, 'content-encoding': 'gzip' })
    if (exchange.isHead) return res
    this.#gzips += 1
    res.on('close', () => {
      this.#gzips -= 1
    })
    return gzipInto(res)
  }

  /** Sends a whole answer; without a body when there is none. */
  send(exchange: Exchange, status: number, headers: Headers, body: string | Buffer | undefined): void {
    const { res } = exchange
    if (res.headersSent || res.destroyed) return
    // How long a compressed body would be, HEAD does not find out.
    const isUnknown = exchange.isHead && headers['content-encoding'] !== undefined
    if (status !== 204 && status !== 304 && !isUnknown) headers['content-length'] = body === undefined ? 0 : Buffer.byteLength(body)
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
