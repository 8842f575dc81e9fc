import type { Writable } from 'node:stream'
import { acceptsGzip, codingFor, compress, gzipInto, isCompressible, worthCompressing } from './compression.ts'
import type { HttpConfig } from './config.ts'
import { corsHeaders, exposedHeaders } from './cors.ts'
import type { RequestContext } from './request-context.ts'

type Headers = Record<string, string | number>

/** For a year, of this name alone: other servers of the domain are not ours to speak for. */
const strictTransport = 'max-age=31536000'

/** Answers that are being compressed; more go out plain, so that many slow readers do not fill the memory. */
const maxGzips = 256

const varies = (headers: Headers): void => {
  const { vary } = headers
  headers['vary'] = vary === undefined ? 'Accept-Encoding' : `${vary}, Accept-Encoding`
}

/** Writes answers: the headers that all have in common, compression, and a connection that ends when it must. */
export class ResponseWriter {
  readonly #config: HttpConfig
  readonly #isEncrypted: boolean
  readonly #exposed: string
  /** From now on each connection is closed after its answer. */
  isStopping = false
  #gzips = 0

  /** `isEncrypted`: people reach the server over TLS, so browsers may be told to use nothing else. `exposed`: headers of plugins for pages of other origins. */
  constructor(config: HttpConfig, isEncrypted: boolean, exposed: readonly string[]) {
    this.#config = config
    this.#exposed = [...exposedHeaders, ...exposed].join(', ')
    this.#isEncrypted = isEncrypted
  }

  /** True where pages of any origin may read answers. */
  get isForAllOrigins(): boolean {
    return this.#config.allowedOrigins.includes('*')
  }

  /** Sends a whole answer of text, compressed when that is worth it. */
  sendText(request: RequestContext, status: number, headers: Headers, text: string): Promise<void> | undefined {
    if (this.#config.compress && text.length > worthCompressing) {
      varies(headers)
      const coding = codingFor(request.req.headers['accept-encoding'])
      if (coding) return this.#sendCompressed(request, status, headers, text, coding)
    }
    this.send(request, status, headers, text)
    return undefined
  }

  async #sendCompressed(request: RequestContext, status: number, headers: Headers, text: string, coding: 'br' | 'gzip'): Promise<void> {
    headers['content-encoding'] = coding
    this.send(request, status, headers, request.isHead ? '' : await compress(text, coding))
  }

  /**
   * Whether an answer of this type that is written bit by bit goes out in gzip once it is long. Marks the headers of one that would for
   * another client.
   */
  mayStreamGzip(request: RequestContext, headers: Headers): boolean {
    const isMeant = headers['content-encoding'] === undefined && !String(headers['cache-control'] ?? '').includes('no-transform')
    if (!this.#config.compress || !isMeant || !isCompressible(String(headers['content-type']))) return false
    varies(headers)
    return this.#gzips < maxGzips && acceptsGzip(request.req.headers['accept-encoding'])
  }

  /** Writes the head of an answer that is written bit by bit, and says where to. */
  begin(request: RequestContext, status: number, headers: Headers, isGzip: boolean): Writable {
    const { res } = request
    if (!isGzip) {
      this.head(request, status, headers)
      return res
    }
    const etag = headers['etag']
    // Other bytes that say the same have a weak tag.
    const weak = typeof etag === 'string' && !etag.startsWith('W/') ? { etag: `W/${etag}` } : {}
    this.head(request, status, { ...headers, ...weak, 'content-encoding': 'gzip' })
    if (request.isHead) return res
    this.#gzips += 1
    res.on('close', () => {
      this.#gzips -= 1
    })
    return gzipInto(res)
  }

  /** Sends a whole answer; without a body when there is none. */
  send(request: RequestContext, status: number, headers: Headers, body: string | Buffer | undefined): void {
    const { res } = request
    if (res.headersSent || res.destroyed) return
    // How long a compressed body would be, HEAD does not find out.
    const isUnknown = request.isHead && headers['content-encoding'] !== undefined
    if (status !== 204 && status !== 304 && !isUnknown) headers['content-length'] = body === undefined ? 0 : Buffer.byteLength(body)
    this.head(request, status, headers)
    if (!request.isBodyOpen) {
      res.end(request.isHead ? undefined : body)
      return
    }
    if (body !== undefined && !request.isHead) res.write(body)
    else res.flushHeaders()
    endAfterRequest(request)
  }

  /** Writes the head of an answer whose body follows. */
  head(request: RequestContext, status: number, headers: Headers): void {
    const { req, res } = request
    headers['x-request-id'] = request.id
    headers['x-content-type-options'] = 'nosniff'
    if (this.#isEncrypted) headers['strict-transport-security'] = strictTransport
    if (this.isStopping || request.isBodyOpen) headers['connection'] = 'close'
    const cors = corsHeaders(req.headers.origin, this.#config.allowedOrigins, this.#exposed)
    if (cors)
      for (const [name, value] of Object.entries(cors))
        headers[name] = name === 'vary' && headers['vary'] ? `${headers['vary']}, ${value}` : value
    request.head = headers
    res.writeHead(status, headers)
  }
}

/** How much of an unwanted body is taken and thrown away, so that a client which reads only after it has sent sees the answer. */
const lingerBytes = 64 * 1024 * 1024
const lingerMs = 10_000

/**
 * Ends an answer that was given before the request's body had come. Closing at once would reset the connection and lose the answer on its
 * way, so the rest is read for a while first.
 */
const endAfterRequest = ({ req, res, isContinueDue }: RequestContext): void => {
  // Who waits for `100 Continue` sends nothing after a final answer.
  if (isContinueDue || req.destroyed) {
    res.end()
    return
  }
  let left = lingerBytes
  const end = (): void => {
    clearTimeout(timer)
    req.off('data', count)
    res.end()
  }
  const count = (chunk: Buffer): void => {
    left -= chunk.length
    if (left < 0) end()
  }
  const timer = setTimeout(end, lingerMs)
  req.unpipe()
  req.on('data', count)
  req.once('end', end)
  req.once('close', end)
  req.resume()
}
