import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Writable } from 'node:stream'
import { promisify } from 'node:util'
import { brotliCompress, constants, createGzip, gzip } from 'node:zlib'
import Negotiator from 'negotiator'
import type { EventConnection, EventStream } from 'pounce/sdk'
import type { HttpConfig } from './config.ts'
import { corsHeaders, exposedHeaders } from './origins.ts'
import type { RequestContext } from './request-context.ts'
import type { AnyReply } from './respond.ts'

/** Not imported: see `server.ts`. */
const http = process.getBuiltinModule('node:http')

type Headers = Record<string, string | number>

/** For a year and without subdomains, so that other servers of the domain are not affected. */
const strictTransport = 'max-age=31536000'

/** Maximum number of responses compressed concurrently; further ones are sent uncompressed, so that slow clients cannot exhaust the memory. */
const maxGzips = 256

const varies = (headers: Headers): void => {
  const { vary } = headers
  headers['vary'] = vary === undefined ? 'Accept-Encoding' : `${vary}, Accept-Encoding`
}

/** Writes responses: common headers, compression, and closing of connections. */
export class ResponseWriter {
  readonly #config: HttpConfig
  readonly #isEncrypted: boolean
  readonly #exposed: string
  #isStopping = false
  readonly #stopListeners = new Set<() => void>()
  #gzips = 0

  /** `isEncrypted`: the server is reached over TLS, so browsers may be restricted to it (HSTS). `exposed`: plugin headers for pages of other origins. */
  constructor(config: HttpConfig, isEncrypted: boolean, exposed: readonly string[]) {
    this.#config = config
    this.#exposed = [...exposedHeaders, ...exposed].join(', ')
    this.#isEncrypted = isEncrypted
  }

  /** True once connections are closed after their response. */
  get isStopping(): boolean {
    return this.#isStopping
  }

  /** Closes each connection after its response, and ends streams. */
  stop(): void {
    this.#isStopping = true
    for (const listener of this.#stopListeners) listener()
  }

  /** Calls the listener at `stop`, or soon if already stopped. Returns a function that cancels it. */
  onStopping(listener: () => void): () => void {
    if (this.#isStopping) queueMicrotask(listener)
    this.#stopListeners.add(listener)
    return () => this.#stopListeners.delete(listener)
  }

  /** True if pages of any origin may read responses. */
  get isForAllOrigins(): boolean {
    return this.#config.allowedOrigins.includes('*')
  }

  /** Sends a complete text response, compressed if worthwhile. */
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
   * Whether a streamed response of this type is sent as gzip once it is long. Adds `Vary` to the headers if that depends on
   * the client.
   */
  mayStreamGzip(request: RequestContext, headers: Headers): boolean {
    const isMeant = headers['content-encoding'] === undefined && !String(headers['cache-control'] ?? '').includes('no-transform')
    if (!this.#config.compress || !isMeant || !isCompressible(String(headers['content-type']))) return false
    varies(headers)
    return this.#gzips < maxGzips && acceptsGzip(request.req.headers['accept-encoding'])
  }

  /** Writes the head of a streamed response and returns the stream for its body. */
  begin(request: RequestContext, status: number, headers: Headers, isGzip: boolean): Writable {
    const { res } = request
    if (!isGzip) {
      this.head(request, status, headers)
      return res
    }
    const etag = headers['etag']
    // A different encoding of the same content has a weak tag.
    const weak = typeof etag === 'string' && !etag.startsWith('W/') ? { etag: `W/${etag}` } : {}
    this.head(request, status, { ...headers, ...weak, 'content-encoding': 'gzip' })
    if (request.isHead) return res
    this.#gzips += 1
    res.on('close', () => {
      this.#gzips -= 1
    })
    return gzipInto(res)
  }

  /** Sends a complete response, with an optional body. */
  send(request: RequestContext, status: number, headers: Headers, body: string | Buffer | undefined): void {
    const { res } = request
    if (res.headersSent || res.destroyed) return
    // HEAD does not compress the body, so its length is unknown.
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

  /** Writes the head of a response; its body follows. */
  head(request: RequestContext, status: number, headers: Headers): void {
    const { req, res } = request
    headers['x-request-id'] = request.id
    headers['x-content-type-options'] = 'nosniff'
    if (this.#isEncrypted) headers['strict-transport-security'] = strictTransport
    if (this.#isStopping || request.isBodyOpen) headers['connection'] = 'close'
    const cors = corsHeaders(req.headers.origin, this.#config.allowedOrigins, this.#exposed)
    if (cors)
      for (const [name, value] of Object.entries(cors))
        headers[name] = name === 'vary' && headers['vary'] ? `${headers['vary']}, ${value}` : value
    request.head = headers
    request.headMs = performance.now()
    request.admission?.worked()
    // Plugin middleware may have set another status, and with it its reason.
    res.writeHead(status, http.STATUS_CODES[status], headers)
  }
}

/** Maximum part of an unwanted body that is read and discarded, so that a client that sends before it reads gets the response. */
const lingerBytes = 64 * 1024 * 1024
const lingerMs = 10_000

/**
 * Ends a response sent before the request body was received. Closing immediately would reset the connection and lose the response in
 * transit, so the rest of the body is read for a while first.
 */
const endAfterRequest = ({ req, res, isContinueDue }: RequestContext): void => {
  // A client that waits for `100 Continue` sends nothing after a final response.
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

const toGzip = promisify(gzip)
const toBrotli = promisify(brotliCompress)

/** Below this size in bytes compression costs more than it saves. */
export const worthCompressing = 1024

/** The best supported coding that the client accepts, preferably brotli; undefined if there is none. */
const codingFor = (acceptEncoding: string | undefined): 'br' | 'gzip' | undefined => {
  const accepted = acceptedOf(acceptEncoding, ['br', 'gzip'])
  return accepted.includes('br') ? 'br' : accepted[0]
}

/** Whether a client accepts gzip, the coding of streamed responses. */
const acceptsGzip = (acceptEncoding: string | undefined): boolean => acceptedOf(acceptEncoding, ['gzip']).length > 0

const acceptedOf = <T extends string>(header: string | undefined, ours: T[]): T[] =>
  header === undefined ? [] : (new Negotiator({ headers: { 'accept-encoding': header } }).encodings(ours) as T[])

const compressible = /^(?:text\/(?!event-stream)|application\/(?:[\w.-]+\+)?(?:json|xml|x-ndjson|ndjson|jsonl|javascript)(?=\s*(?:;|$)))/i

/** True for text types, whose chunks may be buffered. */
const isCompressible = (contentType: string): boolean => compressible.test(contentType)

/** Compresses outside the event loop. */
export const compress = (text: string, coding: 'br' | 'gzip'): Promise<Buffer> =>
  coding === 'br'
    ? toBrotli(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 4, [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT } })
    : toGzip(text, { level: 5 })

/**
 * Level 2 compresses 1.6 million table rows per second and core by a factor of 4.5; level 6 a third of that by a factor of 4.9. With this window
 * and memory level a stream needs 100 kB instead of 270 kB, at no measurable cost.
 */
const streamed = { level: 2, windowBits: 13, memLevel: 7, chunkSize: 32 * 1024 }
/** Data is collected up to this size before it is compressed, regardless of the size of its chunks. */
const waitingBytes = 128 * 1024
/** Maximum time that data of a slow source is held before it is sent. */
const flushMs = 100

/**
 * A stream that compresses a long response with gzip; it has back-pressure, and is destroyed with the response. If it is destroyed
 * before its end, the client's gzip stream is incomplete, too.
 */
const gzipInto = (res: ServerResponse): Writable => {
  const zip = createGzip(streamed)
  const pieces = new Writable({
    highWaterMark: waitingBytes,
    writev: (waiting, done) => {
      const [first, ...more] = waiting.map(({ chunk }) => chunk as Buffer)
      zip.write(more.length > 0 && first ? Buffer.concat([first, ...more]) : first, done)
    },
    final: done => {
      zip.end(done)
    },
  })
  let flushed = 0
  const flushing = setInterval(() => {
    if (zip.bytesWritten === flushed) return
    flushed = zip.bytesWritten
    zip.flush(constants.Z_SYNC_FLUSH)
  }, flushMs).unref()
  zip.on('data', piece => {
    if (!res.write(piece)) zip.pause()
  })
  zip.on('end', () => res.end())
  for (const part of [pieces, zip]) part.on('error', () => res.destroy())
  res.on('drain', () => zip.resume())
  res.on('close', () => {
    clearInterval(flushing)
    pieces.destroy()
    zip.destroy()
  })
  return pieces
}

/** Resolves when the written data has been flushed, or the client has disconnected. */
export const drained = (out: Writable): Promise<void> =>
  new Promise(resolve => {
    const done = (): void => {
      out.off('drain', done)
      out.off('close', done)
      resolve()
    }
    if (out.destroyed) return done()
    out.on('drain', done)
    out.on('close', done)
  })

/** Connects a client to an event stream. Proxies must neither cache nor buffer it. */
export const sendEvents = (
  writer: ResponseWriter,
  request: RequestContext,
  { status, headers }: Pick<AnyReply, 'status' | 'headers'>,
  stream: EventStream,
): void => {
  const { res } = request
  if (res.destroyed) {
    stream.closed()
    return
  }
  writer.head(request, status, {
    'content-type': 'text/event-stream',
    'cache-control': 'no-store, no-transform',
    'x-accel-buffering': 'no',
    ...headers,
  })
  if (request.isHead) {
    res.end()
    stream.closed()
    return
  }
  res.flushHeaders()
  const forget = writer.onStopping(() => stream.stopping())
  res.once('close', () => {
    forget()
    stream.closed()
  })
  stream.open(new ResponseConnection(res))
}

/** One chunk of a body in chunked transfer coding (RFC 9112, 7.1). */
const chunkOf = (bytes: Uint8Array): Buffer => Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')])

/** The last events sent, as a chunk: connections that receive the same events share one buffer. */
let last: { readonly events: Uint8Array; readonly chunk: Buffer } | undefined

class ResponseConnection implements EventConnection {
  readonly #res: ServerResponse
  /** Set once the response has the connection, after those to earlier requests. Cached, because an event is sent to thousands of connections. */
  #socket: Socket | undefined
  #isEnded = false

  constructor(res: ServerResponse) {
    this.#res = res
  }

  get pendingBytes(): number {
    return (this.#socket ?? this.#res).writableLength
  }

  /** Sends a chunk through the socket: `ServerResponse.write` would create three buffers and a `writev` for each connection. */
  write(events: Uint8Array): void {
    if (this.#isEnded || events.length === 0) return
    if (!this.#socket) {
      const { socket, destroyed, chunkedEncoding } = this.#res
      if (destroyed) return
      if (!socket || !chunkedEncoding) {
        this.#res.write(events)
        return
      }
      this.#socket = socket
    }
    if (last?.events !== events) last = { events, chunk: chunkOf(events) }
    if (this.#socket.writable) this.#socket.write(last.chunk)
  }

  async drained(): Promise<void> {
    const { socket, writableNeedDrain } = this.#res
    if (writableNeedDrain) await drained(this.#res)
    if (socket?.writableNeedDrain) await drained(socket)
  }

  end(): void {
    this.#isEnded = true
    this.#res.end()
  }

  destroy(): void {
    this.#res.destroy()
  }
}
