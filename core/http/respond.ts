import { hash } from 'node:crypto'
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import { Readable, type Writable } from 'node:stream'
import { encodeExtended } from 'content-disposition'
import { type ByteRange, type Bytes, type EventStream, Forbidden, type Log } from 'pounce/sdk'
import { BufferStream, pagePolicy, RawJson, youngGarbage } from 'pounce/sdk/kit'
import parseRange from 'range-parser'
import type { SchemaShape } from '../json-schema.ts'
import type { Middleware, RequestContext } from './request-context.ts'
import type { ResponseWriter } from './response-writer.ts'
import { drained, sendEvents, worthCompressing } from './response-writer.ts'
import type { RegisteredRoute } from './router.ts'

/** A handler's reply. */
export interface AnyReply {
  readonly status: number
  readonly body: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** Sends replies, with the body format that the schema declares. */
class Responder {
  readonly #writer: ResponseWriter
  readonly #bytes: BytesResponder
  readonly #rows: RowsResponder

  constructor(writer: ResponseWriter, log: Log) {
    this.#writer = writer
    this.#bytes = new BytesResponder(writer, log)
    this.#rows = new RowsResponder(writer, log)
  }

  /** Resolves, or returns undefined, when the response is being sent. */
  send(request: RequestContext, route: RegisteredRoute, given: AnyReply): Promise<void> | undefined {
    const { status, body } = given
    const headers = headersOf(route.declaration.headers, given.headers)
    const reply = headers ? { status, body, headers } : given
    const schema = route.declaration.responses[status] as SchemaShape | undefined
    switch (schema?.['x-body']) {
      case 'empty':
        this.#writer.send(request, status, { ...headers }, undefined)
        return undefined
      case 'text':
        return this.#sendText(request, reply, String(body))
      case 'bytes':
        return this.#sendBytes(request, reply)
      case 'rows':
        return isIterable(body) ? this.#rows.send(request, reply) : this.#sendJson(request, reply)
      case 'events':
        sendEvents(this.#writer, request, reply, body as EventStream)
        return undefined
      default:
        if (typeof body === 'string' && schema?.['x-content']?.['text/plain']) return this.#sendText(request, reply, body)
        return this.#sendJson(request, reply)
    }
  }

  #sendText(request: RequestContext, { status, headers }: AnyReply, text: string): Promise<void> | undefined {
    return this.#writer.sendText(request, status, { 'content-type': 'text/plain; charset=utf-8', ...headers }, text)
  }

  #sendJson(request: RequestContext, reply: AnyReply): Promise<void> | undefined {
    const { status, body, headers } = reply
    const text = body instanceof RawJson ? body.text : JSON.stringify(body)
    if (text === undefined) {
      this.#writer.send(request, status, { ...headers }, undefined)
      return undefined
    }
    return sendJson(this.#writer, request, reply, text)
  }

  async #sendBytes(request: RequestContext, { status, body, headers }: AnyReply): Promise<void> {
    if (isBytes(body)) return this.#bytes.send(request, status, headers, body)
    const contentType = headers?.['content-type'] ?? 'application/octet-stream'
    if (body instanceof Readable) return this.#bytes.send(request, status, headers, { open: () => body, contentType })
    if (!(body instanceof Uint8Array)) throw new TypeError('a body of bytes must be a Bytes, a Buffer or a Readable')
    const open = (range?: ByteRange): Readable => new BufferStream(Buffer.from(range ? body.subarray(range.start, range.end + 1) : body))
    return this.#bytes.send(request, status, headers, { open, contentType, sizeBytes: body.byteLength })
  }
}

/** Sends JSON text, or 304 if the client already has it. */
const sendJson = (
  writer: ResponseWriter,
  request: RequestContext,
  { status, headers }: Omit<AnyReply, 'body'>,
  text: string,
): Promise<void> | undefined => {
  const head: Record<string, string> = { 'content-type': 'application/json', 'cache-control': 'private, no-cache', ...headers }
  const isRead = status === 200 && request.route?.declaration.method === 'GET' && head['cache-control'] !== 'no-store'
  if (!isRead) return writer.sendText(request, status, head, text)
  const etag = tagOfJson(text, head['etag'])
  head['etag'] = etag
  const known = request.req.headers['if-none-match']
  if (known === undefined || !names(known, etag.slice('W/'.length), true)) return writer.sendText(request, status, head, text)
  const { 'content-type': _, ...rest } = head
  writer.send(request, 304, { ...rest, vary: 'Accept-Encoding' }, undefined)
  return undefined
}

/** A weak tag, because the text is sent in several codings. The handler's version comes first (`versionTag`). */
const tagOfJson = (text: string, version = '""'): string => {
  const prefix = version.slice(1, -1)
  return `W/"${prefix}${prefix && '.'}${hash('sha1', text, 'base64url')}"`
}

/** A handler's header replaces the default one, case-insensitively. */
const headersOf = (always: AnyReply['headers'], given: AnyReply['headers']): Record<string, string> | undefined => {
  if (!always && !given) return undefined
  const headers: Record<string, string> = { ...always }
  for (const name in given) headers[name.toLowerCase()] = given[name] as string
  return headers
}

/** Rows may be declared as an alternative to another body, such as their number, and an existing list is sent at once. */
const isIterable = (body: unknown): boolean =>
  typeof body === 'object' && body !== null && !Array.isArray(body) && (Symbol.asyncIterator in body || Symbol.iterator in body)

const isBytes = (body: unknown): body is Bytes =>
  typeof body === 'object' && body !== null && 'open' in body && typeof body.open === 'function'

/** A list is sent in pieces of at least this many characters; a shorter list is sent at once. */
const pieceLength = 32 * 1024

/** Streams a list of rows as JSON. */
class RowsResponder {
  readonly #writer: ResponseWriter
  readonly #log: Log

  constructor(writer: ResponseWriter, log: Log) {
    this.#writer = writer
    this.#log = log
  }

  /** Rejects only before the first piece is sent; later errors close the connection, so that clients cannot mistake a partial list for a complete one. */
  async send(request: RequestContext, { status, body, headers }: AnyReply): Promise<void> {
    const { res } = request
    const head: Record<string, string> = { 'content-type': 'application/json', 'cache-control': 'private, no-cache', ...headers }
    let out: Writable | undefined
    try {
      let piece = '['
      let isFirst = true
      for await (const row of body as AsyncIterable<unknown>) {
        piece += (isFirst ? '' : ',') + (row instanceof RawJson ? row.text : JSON.stringify(row))
        isFirst = false
        if (piece.length < pieceLength) continue
        if (res.destroyed) return
        out ??= this.#writer.begin(request, status, head, this.#writer.mayStreamGzip(request, head))
        if (request.isHead) break
        if (!out.write(piece)) await drained(out)
        piece = ''
      }
      if (res.destroyed) return
      if (!out) return await sendJson(this.#writer, request, { status, headers: head }, `${piece}]`)
      if (request.isHead) res.end()
      else out.end(`${piece}]`)
    } catch (error) {
      if (!res.headersSent) throw error
      this.#log.error('streamed list interrupted', { requestId: request.id, path: request.target.redactedPath, error })
      res.destroy()
    }
  }
}

/** Sends the handler's reply. */
export const respond = (writer: ResponseWriter, log: Log): Middleware => {
  const responder = new Responder(writer, log)
  return async (context, next) => {
    await next()
    const { request } = context.state
    // Undefined if plugin middleware produced the response.
    if (!request.reply) return
    const sent = responder.send(request, request.route as RegisteredRoute, request.reply)
    if (sent) await sent
  }
}

/** Types that a browser displays without executing content. All others are sent as attachments. */
const harmless =
  /^(?:image\/(?:png|jpeg|gif|webp|avif|bmp|tiff|x-icon|vnd\.microsoft\.icon)|audio\/[\w.+-]+|video\/[\w.+-]+|text\/(?:plain|csv)|application\/(?:pdf|json))(?:\s*;|$)/i

const sandbox = "sandbox; default-src 'none'"

/** `Sec-Fetch-Dest` values for which a browser would execute the resource or apply it to a page. */
const running: ReadonlySet<unknown> = new Set([
  'script',
  'worker',
  'sharedworker',
  'serviceworker',
  'audioworklet',
  'paintworklet',
  'style',
  'xslt',
])

interface Answer {
  readonly status: number
  readonly head: Record<string, string | number>
  readonly mayCompress: boolean
}

/** Sends stored or generated bytes with ranges and conditional requests, as nothing a browser would execute. */
export class BytesResponder {
  readonly #writer: ResponseWriter
  readonly #log: Log

  constructor(writer: ResponseWriter, log: Log) {
    this.#writer = writer
    this.#log = log
  }

  /** Sends bytes, with the handler's headers by lower-case name. Rejects only before the head is sent; a later source error closes the connection. */
  async send(request: RequestContext, status: number, given: Readonly<Record<string, string>> | undefined, bytes: Bytes): Promise<void> {
    const { headers } = request.req
    // Uploaded files are served from our origin, so their own policy does not protect it.
    if (!bytes.isTrusted && running.has(headers['sec-fetch-dest']))
      throw new Forbidden('Uploaded files are not served as scripts or styles')
    const head: Record<string, string | number> = { ...headOf(bytes, this.#writer.isForAllOrigins), ...given }
    // If the length or digest is known, all clients get the same bytes.
    const mayCompress = bytes.sizeBytes === undefined && bytes.sha256 === undefined && this.#writer.mayStreamGzip(request, head)
    if (status !== 200) return this.#stream(request, { status, head, mayCompress }, bytes, undefined)
    if (isOther(headers, bytes)) {
      const refusal = { code: 'changed', message: 'The requested version no longer exists: the bytes have changed' }
      return this.#refuse(request, 412, refusal, { ...(head['etag'] === undefined ? {} : { etag: head['etag'] }) })
    }
    if (isUnchanged(headers, bytes)) {
      delete head['content-type']
      return this.#writer.send(request, 304, head, undefined)
    }
    const { sizeBytes } = bytes
    const isWhole = request.isHead || sizeBytes === undefined || !rangeStillHolds(headers, bytes)
    const range = isWhole ? 'whole' : rangeOf(headers.range, sizeBytes)
    if (range === 'whole') {
      const address = headers.range === undefined ? await elsewhere(request, head, bytes) : undefined
      if (address === undefined) return this.#stream(request, { status: 200, head, mayCompress }, bytes, undefined)
      return this.#writer.send(
        request,
        302,
        { location: address, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' },
        undefined,
      )
    }
    if (range === 'none') {
      const refusal = { code: 'no-such-range', message: `The range is outside the ${sizeBytes} bytes` }
      return this.#refuse(request, 416, refusal, { 'content-range': `bytes */${sizeBytes}`, 'accept-ranges': 'bytes' })
    }
    head['content-range'] = `bytes ${range.start}-${range.end}/${sizeBytes}`
    return this.#stream(request, { status: 206, head, mayCompress }, bytes, range)
  }

  #refuse(
    request: RequestContext,
    status: number,
    refusal: { readonly code: string; readonly message: string },
    headers: Record<string, string | number>,
  ): void {
    const text = JSON.stringify({ status: 'error', ...refusal, requestId: request.id })
    this.#writer.send(request, status, { ...headers, 'content-type': 'application/json' }, text)
  }

  async #stream(request: RequestContext, { status, head, mayCompress }: Answer, bytes: Bytes, range: ByteRange | undefined): Promise<void> {
    const length = range ? range.end - range.start + 1 : bytes.sizeBytes
    if (length !== undefined) head['content-length'] = length
    if (request.isHead) {
      this.#writer.head(request, status, head)
      request.res.end()
      return
    }
    const source = await bytes.open(range)
    if (source instanceof BufferStream && source.bytes.length === length) {
      youngGarbage.passed(length)
      if (!request.res.destroyed) this.#writer.begin(request, status, head, false).end(source.bytes)
      return
    }
    await pipeBody(source, {
      res: request.res,
      length,
      mayCompress,
      begin: isGzip => this.#writer.begin(request, status, head, isGzip),
      onCut: error => this.#log.error('download interrupted', { requestId: request.id, path: request.target.redactedPath, error }),
    })
  }
}

/** Only for attachments, because our policies do not apply on another server. */
const elsewhere = async (
  request: RequestContext,
  head: Readonly<Record<string, string | number>>,
  bytes: Bytes,
): Promise<string | undefined> =>
  request.isHead || !String(head['content-disposition']).startsWith('attachment') ? undefined : bytes.elsewhere?.()

const headOf = (bytes: Bytes, isForAllOrigins: boolean): Record<string, string | number> => {
  const { contentType, filename, sha256, lastModified, sizeBytes, inline, isTrusted } = bytes
  const etag = etagOf(bytes)
  const type = isMediaType(contentType) ? contentType : 'application/octet-stream'
  const kind = isTrusted || (inline && harmless.test(type)) ? 'inline' : 'attachment'
  return {
    'content-type': type,
    'content-security-policy': isTrusted ? pagePolicy() : sandbox,
    'cross-origin-resource-policy': isForAllOrigins ? 'cross-origin' : 'same-origin',
    'referrer-policy': isTrusted ? 'same-origin' : 'no-referrer',
    ...(isTrusted ? { 'cross-origin-opener-policy': 'same-origin' } : {}),
    'cache-control': 'private, no-cache',
    'accept-ranges': sizeBytes === undefined ? 'none' : 'bytes',
    ...(isTrusted && filename === undefined ? {} : { 'content-disposition': contentDisposition(kind, filename) }),
    ...(etag === undefined ? {} : { etag }),
    ...(sha256 === undefined ? {} : { 'repr-digest': `sha-256=:${Buffer.from(sha256, 'hex').toString('base64')}:` }),
    ...(lastModified === undefined ? {} : { 'last-modified': lastModified.toUTCString() }),
  }
}

type Chunk = Buffer | string

/** How long the first bytes are held until there are enough to be worth compressing. */
const holdMs = 50

/** The destination of a body, with its callbacks. */
interface BodyPipe {
  readonly res: ServerResponse
  /** The number of bytes, if known. */
  readonly length: number | undefined
  /** Delays the head until it is known whether there are enough bytes to be worth compressing. */
  readonly mayCompress: boolean
  /** Writes the head and returns the stream for the bytes. */
  begin(isGzip: boolean): Writable
  /** Called if the response is truncated. */
  onCut(error: unknown): void
}

/**
 * Writes a stream as a response body, and resolves when the response is complete or the client has disconnected. Rejects if the source fails before its
 * first bytes, so that a problem can still be sent. If it fails later, or does not have `length` bytes, the connection is closed, so that clients
 * cannot mistake a part for the whole.
 */
const pipeBody = (source: Readable, pipe: BodyPipe): Promise<void> =>
  new Promise((resolve, reject) => {
    const { res, length, mayCompress } = pipe
    let sent = 0
    let out: Writable | undefined
    const first: Chunk[] = []
    // If the length is known, the last bytes are held until the source ends, because it may only then detect damaged data.
    let held: Chunk | undefined
    let isOver = false
    let holding: NodeJS.Timeout | undefined
    const fail = (error: unknown): void => {
      if (isOver) return
      isOver = true
      clearTimeout(holding)
      source.destroy()
      if (!res.headersSent && !res.destroyed) {
        reject(error)
        return
      }
      if (!res.destroyed) {
        pipe.onCut(error)
        res.destroy()
      }
      resolve()
    }
    /** Undefined if the head could not be written, for instance because of an invalid handler header. */
    const begun = (isLong: boolean): Writable | undefined => {
      if (out) return out
      clearTimeout(holding)
      try {
        out = pipe.begin(mayCompress && isLong)
      } catch (error) {
        fail(error)
        return undefined
      }
      out.on('drain', () => source.resume())
      for (const chunk of first) out.write(chunk)
      return out
    }
    source.on('data', (chunk: Chunk) => {
      const bytes = Buffer.byteLength(chunk)
      sent += bytes
      youngGarbage.passed(bytes)
      if (sent === length) {
        held ??= chunk
      } else if (length !== undefined && sent > length) {
        fail(new Error(`more than the announced ${length} bytes`))
      } else if (isOver) {
        return
      } else if (mayCompress && !out && sent <= worthCompressing) {
        first.push(chunk)
        holding ??= setTimeout(begun, holdMs, true)
      } else if (begun(true)?.write(chunk) === false) {
        source.pause()
      }
    })
    source.on('end', () => {
      if (isOver) return
      if (length !== undefined && sent !== length) {
        fail(new Error(`${sent} bytes instead of ${length}`))
        return
      }
      const to = begun(false)
      if (!to) return
      isOver = true
      to.end(held)
      resolve()
    })
    source.on('error', fail)
    source.on('close', () => {
      if (!isOver) fail(new Error('the source was closed early'))
    })
    res.on('close', () => {
      // No effect after the end.
      if (!isOver) fail(undefined)
    })
    // The client may have disconnected while the source was opened; `close` is not emitted again.
    if (res.destroyed) fail(undefined)
  })

/**
 * Evaluates a `Range` header for a known length: the range, `'whole'` if the header is absent, not in bytes or has several ranges
 * (for which sending everything is allowed), `'none'` if it is unsatisfiable.
 */
export const rangeOf = (header: string | undefined, sizeBytes: number): ByteRange | 'whole' | 'none' => {
  if (!header?.startsWith('bytes=') || header.includes(',')) return 'whole'
  const found = parseRange(sizeBytes, header)
  if (found === -2) return 'whole'
  return found === -1 ? withoutRange(header, sizeBytes) : (found[0] ?? 'whole')
}

/** Two cases that range-parser treats as unsatisfiable: by RFC 9110, the last 500 of 200 bytes are all bytes (14.1.2), and `5-2` is ignored (14.1.1). */
const withoutRange = (header: string, sizeBytes: number): ByteRange | 'whole' | 'none' => {
  const [first = '', last = ''] = header
    .slice('bytes='.length)
    .split('-')
    .map(each => each.trim())
  if (first === '' && sizeBytes > 0 && Number(last) > sizeBytes) return { start: 0, end: sizeBytes - 1 }
  return first !== '' && last !== '' && Number(last) < Number(first) ? 'whole' : 'none'
}

/** HTTP dates have a resolution of seconds. */
const seconds = (date: Date): number => Math.floor(date.getTime() / 1000)

/** A strong tag, because the bytes are identical. */
export const etagOf = ({ sha256, etag }: Bytes): string | undefined => {
  const tag = sha256 ?? etag
  return tag === undefined ? undefined : `"${tag}"`
}

const entityTags = /(W\/)?("[^"]*")/g

/** Whether a list of tags includes this one; weak tags match only if `weakWillDo`. */
const names = (header: string, etag: string | undefined, weakWillDo: boolean): boolean =>
  header.trim() === '*' || [...header.matchAll(entityTags)].some(([, weak, tag]) => tag === etag && (weakWillDo || weak === undefined))

/** Evaluates `If-Match` and `If-Unmodified-Since`: true if the bytes are not those that the client requires. */
export const isOther = (headers: IncomingHttpHeaders, bytes: Bytes): boolean => {
  const known = headers['if-match']
  if (known !== undefined) return !names(known, etagOf(bytes), false)
  const since = Date.parse(headers['if-unmodified-since'] ?? '')
  return bytes.lastModified !== undefined && seconds(bytes.lastModified) > Math.floor(since / 1000)
}

export const isUnchanged = (headers: IncomingHttpHeaders, bytes: Bytes): boolean => {
  const known = headers['if-none-match']
  if (known !== undefined) return names(known, etagOf(bytes), true)
  const since = headers['if-modified-since']
  return since !== undefined && bytes.lastModified !== undefined && seconds(bytes.lastModified) <= seconds(new Date(since))
}

/** Evaluates `If-Range`: a range is only useful if the client has the rest of the same bytes. */
export const rangeStillHolds = (headers: IncomingHttpHeaders, bytes: Bytes): boolean => {
  const condition = headers['if-range']
  if (typeof condition !== 'string') return true
  if (condition.startsWith('"')) return condition.trim() === etagOf(bytes)
  return bytes.lastModified !== undefined && seconds(bytes.lastModified) === seconds(new Date(condition))
}

/**
 * The Content-Disposition header (RFC 6266). File names are sent twice: with `_` in place of non-ASCII characters, and in full as
 * `filename*`, the only form that Clowder 1.x sends. Slashes become `_`, because recipients do so as well (section 4.3). The name is always
 * quoted, which the library omits if possible, because scripts search for `filename="`.
 */
export const contentDisposition = (kind: 'inline' | 'attachment', filename: string | undefined): string => {
  if (filename === undefined || filename === '') return kind
  const name = filename.toWellFormed().replaceAll(/[\p{Cc}/\\]/gu, '_')
  const fallback = name.replaceAll(/[^\x20-\x7e]/gu, '_').replaceAll(/["%]/g, '_')
  const isComplete = kind === 'inline' && fallback === name
  return `${kind}; filename="${fallback}"${isComplete ? '' : `; filename*=${encodeExtended(name)}`}`
}

/** Whether a string is a valid media type for a header. */
export const isMediaType = (text: string): boolean =>
  /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(?:\s*;\s*[\w!#$&^.+-]+=(?:[\w!#$&^.+-]+|"[^"\\\p{Cc}]*"))*$/u.test(text)
