import { hash } from 'node:crypto'
import { Readable, type Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ByteRange, Bytes, EventStream, Log } from 'pounce/sdk'
import { BufferStream, RawJson } from 'pounce/sdk/kit'
import type { SchemaShape } from '../json-schema.ts'
import { BytesResponder, includesTag } from './bytes-responder.ts'
import type { Middleware, RequestContext } from './request-context.ts'
import { drained, type ResponseWriter, sendEvents } from './response-writer.ts'
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
  send(request: RequestContext, route: RegisteredRoute, given: AnyReply, status: number): Promise<void> | undefined {
    const { body } = given
    const headers = headersOf(route.declaration.headers, given.headers)
    const reply = headers ? { status, body, headers } : { status, body }
    const schema = route.declaration.responses[given.status] as SchemaShape | undefined
    switch (schema?.['x-body']) {
      case 'empty':
        this.#writer.send(request, status, { ...headers }, undefined)
        return undefined
      case 'text':
        return this.#sendText(request, reply, String(body))
      case 'bytes':
        return this.#sendBytes(request, reply)
      case 'rows':
        if (!isIterable(body)) return this.#sendJson(request, reply)
        return this.#rows.send(request, schema.type === 'object' ? { ...reply, body: new ObjectRows(body as Lists) } : reply)
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
  if (known === undefined || !includesTag(known, etag.slice('W/'.length), true)) return writer.sendText(request, status, head, text)
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

type Lists = AsyncIterable<readonly [name: string, rows: AsyncIterable<unknown>]>

const textOf = (row: unknown): string => (row instanceof RawJson ? row.text : JSON.stringify(row))

/** An object of lists as text that commas separate, as they do the rows of a list. */
class ObjectRows {
  readonly #lists: Lists

  constructor(lists: Lists) {
    this.#lists = lists
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<RawJson> {
    for await (const [name, rows] of this.#lists) {
      let text = `${JSON.stringify(name)}:[`
      let isFirst = true
      for await (const row of rows) {
        if (!isFirst) {
          yield new RawJson(text)
          text = ''
        }
        isFirst = false
        text += textOf(row)
      }
      yield new RawJson(`${text}]`)
    }
  }
}

/** Streams a list of rows, or an object of such lists, as JSON. */
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
      const end = body instanceof ObjectRows ? '}' : ']'
      let piece = body instanceof ObjectRows ? '{' : '['
      let isFirst = true
      for await (const row of body as AsyncIterable<unknown>) {
        piece += (isFirst ? '' : ',') + textOf(row)
        isFirst = false
        if (piece.length < pieceLength) continue
        if (res.destroyed) return
        out ??= this.#writer.begin(request, status, head, this.#writer.mayStreamGzip(request, head))
        if (request.isHead) break
        if (!out.write(piece)) await drained(out)
        piece = ''
      }
      if (res.destroyed) return
      if (!out) return await sendJson(this.#writer, request, { status, headers: head }, `${piece}${end}`)
      if (request.isHead) res.end()
      else out.end(`${piece}${end}`)
    } catch (error) {
      if (!res.headersSent) throw error
      this.#log.error('Streamed list interrupted', { requestId: request.id, path: request.target.redactedPath, error })
      res.destroy()
    }
  }
}

/**
 * Sends the handler's reply, with the status that plugin middleware may have changed after it, or the response that such middleware set through Koa. Before
 * all of them in the chain, so that they can set headers after `next`.
 */
export const respond = (writer: ResponseWriter, log: Log): Middleware => {
  const responder = new Responder(writer, log)
  return async (context, next) => {
    const { request } = context.state
    // Koa's own value ignores trusted proxies.
    context.request.ip = request.address
    await next()
    if (request.head) return
    const { reply } = request
    const { status, body, message } = context
    request.isPluginAnswer = body !== undefined || status !== reply?.status
    if (reply && body === undefined) {
      const sent = responder.send(request, request.route as RegisteredRoute, reply, status)
      if (sent) await sent
    } else if (body instanceof Readable) {
      writer.head(request, status, {})
      await pipeline(body, request.res)
    } else {
      const isSendable = typeof body === 'string' || Buffer.isBuffer(body)
      writer.send(request, status, {}, isSendable ? body : body == null ? message : JSON.stringify(body))
    }
  }
}
