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

type Headers = Record<string, string | number>

/** For a year, of this name alone: other servers of the domain are not affected. */
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
  #isStopping = false
  readonly #stopListeners = new Set<() => void>()
  #gzips = 0

  /** `isEncrypted`: the server is reached over TLS, so browsers may be restricted to it (HSTS). `exposed`: headers of plugins for pages of other origins. */
  constructor(config: HttpConfig, isEncrypted: boolean, exposed: readonly string[]) {
    this.#config = config
    this.#exposed = [...exposedHeaders, ...exposed].join(', ')
    this.#isEncrypted = isEncrypted
  }

  /** True when each connection is closed after its response. */
  get isStopping(): boolean {
    return this.#isStopping
  }

  /** From now on each connection is closed after its response; streams end. */
  stop(): void {
    this.#isStopping = true
    for (const listener of this.#stopListeners) listener()
  }

  /** Calls back at `stop`, or soon when that was before. Returns how to cancel it. */
  onStopping(listener: () => void): () => void {
    if (this.#isStopping) queueMicrotask(listener)
    this.#stopListeners.add(listener)
    return () => this.#stopListeners.delete(listener)
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
    if (this.#isStopping || request.isBodyOpen) headers['connection'] = 'close'
    const cors = corsHeaders(req.headers.origin, this.#config.allowedOrigins, this.#exposed)
    if (cors)
      for (const [name, value] of Object.entries(cors))
        headers[name] = name === 'vary' && headers['vary'] ? `${headers['vary']}, ${value}` : value
    request.head = headers
    request.headMs = performance.now()
    request.admission?.worked()
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

const toGzip = promisify(gzip)
const toBrotli = promisify(brotliCompress)

/** Below this many bytes compression costs more than it saves. */
export const worthCompressing = 1024

/** Which of our codings a client reads best: brotli, where it reads that; undefined when none, or none was requested. */
export const codingFor = (acceptEncoding: string | undefined): 'br' | 'gzip' | undefined => {
  const accepted = acceptedOf(acceptEncoding, ['br', 'gzip'])
  return accepted.includes('br') ? 'br' : accepted[0]
}

/** True when a client reads the coding that long answers are streamed in. */
export const acceptsGzip = (acceptEncoding: string | undefined): boolean => acceptedOf(acceptEncoding, ['gzip']).length > 0

const acceptedOf = <T extends string>(header: string | undefined, ours: T[]): T[] =>
  header === undefined ? [] : (new Negotiator({ headers: { 'accept-encoding': header } }).encodings(ours) as T[])

const compressible = /^(?:text\/(?!event-stream)|application\/(?:[\w.-]+\+)?(?:json|xml|x-ndjson|ndjson|jsonl|javascript)(?=\s*(?:;|$)))/i

/** True of types that are text, whose pieces may wait for one another. */
export const isCompressible = (contentType: string): boolean => compressible.test(contentType)

/** Compresses off the event loop. */
export const compress = (text: string, coding: 'br' | 'gzip'): Promise<Buffer> =>
  coding === 'br'
    ? toBrotli(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 4, [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT } })
    : toGzip(text, { level: 5 })

/**
 * Level 2 makes 1.6 million rows a second of a table 4.5 times smaller on one core; level 6 a third of that, 4.9 times smaller. With this window
 * and memory a stream holds 100 kB instead of 270, at no cost that could be measured.
 */
const streamed = { level: 2, windowBits: 13, memLevel: 7, chunkSize: 32 * 1024 }
/** So much of an answer waits to be compressed, and is then compressed at once, however small its pieces are. */
const waitingBytes = 128 * 1024
/** What has come from a source that is slow does not wait longer for the rest. */
const flushMs = 100

/**
 * Where to write the pieces of a long answer that goes out in gzip; it has back-pressure, and is destroyed with the response. When the answer is
 * destroyed before the end was written, the client has no end of the gzip stream either.
 */
export const gzipInto = (res: ServerResponse): Writable => {
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

/** Resolves when what was written has been taken, or the client is gone. */
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

/** Connects a client to a stream of events. Proxies must neither keep nor gather them. */
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

/** The last events that were sent as a chunk: one buffer for all connections that receive the same ones. */
let last: { readonly events: Uint8Array; readonly chunk: Buffer } | undefined

class ResponseConnection implements EventConnection {
  readonly #res: ServerResponse
  /** Known once the response has the connection: earlier requests on it are answered first. Looked up once, as an event goes to thousands of connections. */
  #socket: Socket | undefined
  #isEnded = false

  constructor(res: ServerResponse) {
    this.#res = res
  }

  get pendingBytes(): number {
    return (this.#socket ?? this.#res).writableLength
  }

  /** Sends a chunk through the socket: `ServerResponse.write` would make three buffers of it for each connection, and a `writev`. */
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
