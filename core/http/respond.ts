import { Readable, type Writable } from 'node:stream'
import { type ByteRange, type Bytes, type Log, RawJson, streamed } from 'pounce/sdk'
import type { SchemaShape } from '../json-schema.ts'
import { drained } from './compression.ts'
import type { Middleware, RequestContext } from './request-context.ts'
import { BytesResponder } from './respond-bytes.ts'
import type { ResponseWriter } from './response-writer.ts'
import type { RegisteredRoute } from './router.ts'

/** What a handler answered. */
export interface AnyReply {
  readonly status: number
  readonly body: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** Sends replies, each body the way its schema says. */
class Responder {
  readonly #writer: ResponseWriter
  readonly #bytes: BytesResponder
  readonly #rows: RowsResponder

  constructor(writer: ResponseWriter, log: Log) {
    this.#writer = writer
    this.#bytes = new BytesResponder(writer, log)
    this.#rows = new RowsResponder(writer, log)
  }

  /** Resolves, or returns undefined, when the answer is on its way. */
  send(request: RequestContext, route: RegisteredRoute, given: AnyReply): Promise<void> | undefined {
    const always = route.declaration.headers
    const reply = given.headers || always ? { ...given, headers: { ...always, ...lowerCase(given.headers ?? {}) } } : given
    const { status, body, headers } = reply
    const schema = route.declaration.responses[status] as SchemaShape | undefined
    switch (schema?.['x-body']) {
      case 'empty':
        this.#writer.send(request, status, { ...headers }, undefined)
        return undefined
      case 'text':
        return this.#writer.sendText(request, status, { 'content-type': 'text/plain; charset=utf-8', ...headers }, String(body))
      case 'bytes':
        return this.#sendBytes(request, reply)
      case 'rows':
        return isIterable(body) ? this.#rows.send(request, reply) : this.#sendJson(request, reply)
      default:
        return this.#sendJson(request, reply)
    }
  }

  #sendJson(request: RequestContext, { status, body, headers }: AnyReply): Promise<void> | undefined {
    const text = body instanceof RawJson ? body.text : JSON.stringify(body)
    if (text === undefined) {
      this.#writer.send(request, status, { ...headers }, undefined)
      return undefined
    }
    return this.#writer.sendText(
      request,
      status,
      { 'content-type': 'application/json', 'cache-control': 'private, no-cache', ...headers },
      text,
    )
  }

  async #sendBytes(request: RequestContext, { status, body, headers }: AnyReply): Promise<void> {
    if (isBytes(body)) return this.#bytes.send(request, status, headers, body)
    const contentType = headers?.['content-type'] ?? 'application/octet-stream'
    if (body instanceof Readable) return this.#bytes.send(request, status, headers, { open: () => body, contentType })
    if (!(body instanceof Uint8Array)) throw new TypeError('a body of bytes must be a Bytes, a Buffer or a Readable')
    const open = (range?: ByteRange): Readable => streamed([Buffer.from(range ? body.subarray(range.start, range.end + 1) : body)])
    return this.#bytes.send(request, status, headers, { open, contentType, sizeBytes: body.byteLength })
  }
}

/** One name, one header: ours give way to a handler's, however it writes them. */
const lowerCase = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))

/** A list of rows may be declared together with another answer, such as their number, and one that is there already goes out at once. */
const isIterable = (body: unknown): boolean =>
  typeof body === 'object' && body !== null && !Array.isArray(body) && (Symbol.asyncIterator in body || Symbol.iterator in body)

const isBytes = (body: unknown): body is Bytes =>
  typeof body === 'object' && body !== null && 'open' in body && typeof body.open === 'function'

/** Pieces of a list are sent when this many characters have come together; a shorter list goes out whole. */
const pieceLength = 32 * 1024

/** Answers with a list that is written while its rows come. */
class RowsResponder {
  readonly #writer: ResponseWriter
  readonly #log: Log

  constructor(writer: ResponseWriter, log: Log) {
    this.#writer = writer
    this.#log = log
  }

  /** Rejects only before the first piece is out; rows that fail later end the connection: nobody may take half a list for the whole. */
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
      if (!out) return await this.#writer.sendText(request, status, head, `${piece}]`)
      if (request.isHead) res.end()
      else out.end(`${piece}]`)
    } catch (error) {
      if (!res.headersSent) throw error
      this.#log.error('streamed list interrupted', { requestId: request.id, path: request.target.redactedPath, error })
      res.destroy()
    }
  }
}

/** Sends what the handler answered. */
export const respond = (writer: ResponseWriter, log: Log): Middleware => {
  const responder = new Responder(writer, log)
  return async (context, next) => {
    await next()
    const { request } = context.state
    // Undefined where a plugin's middleware answered.
    if (!request.reply) return
    const sent = responder.send(request, request.route as RegisteredRoute, request.reply)
    if (sent) await sent
  }
}
