import { Readable } from 'node:stream'
import { type ByteRange, type Bytes, RawJson, streamed } from 'pounce/sdk'
import type { BlobResponder } from './blob-responder.ts'
import type { Exchange } from './exchange.ts'
import type { Mount } from './mount.ts'
import type { RowsResponder } from './rows-responder.ts'
import type { SchemaShape } from './schema-shape.ts'
import type { Sender } from './sender.ts'

/** What a handler answered. */
export interface AnyReply {
  readonly status: number
  readonly body: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** Sends what handlers answer, each body the way its schema says. */
export class Replier {
  readonly #sender: Sender
  readonly #blobs: BlobResponder
  readonly #rows: RowsResponder
  readonly #checks: boolean

  constructor(sender: Sender, blobs: BlobResponder, rows: RowsResponder, checks: boolean) {
    this.#sender = sender
    this.#blobs = blobs
    this.#rows = rows
    this.#checks = checks
  }

  /** Resolves, or returns undefined, when the answer is on its way. */
  send(exchange: Exchange, mount: Mount, given: AnyReply): Promise<void> | undefined {
    const always = mount.declaration.headers
    const reply = given.headers || always ? { ...given, headers: { ...always, ...lowerCase(given.headers ?? {}) } } : given
    const { status, body, headers } = reply
    const schema = mount.declaration.responses[status] as SchemaShape | undefined
    switch (schema?.['x-body']) {
      case 'empty':
        this.#sender.send(exchange, status, { ...headers }, undefined)
        return undefined
      case 'text':
        return this.#sender.sendText(exchange, status, { 'content-type': 'text/plain; charset=utf-8', ...headers }, String(body))
      case 'bytes':
        return this.#sendBytes(exchange, reply)
      case 'rows':
        return isIterable(body) ? this.#rows.send(exchange, reply) : this.#sendJson(exchange, mount, reply)
      default:
        return this.#sendJson(exchange, mount, reply)
    }
  }

  #sendJson(exchange: Exchange, mount: Mount, { status, body, headers }: AnyReply): Promise<void> | undefined {
    const text = body instanceof RawJson ? body.text : JSON.stringify(body)
    if (this.#checks) {
      const fault = mount.checks.reply(status, text === undefined ? undefined : JSON.parse(text))
      if (fault) throw new Error(`${mount.name} of ${mount.plugin} answered ${status} differently from what it declares: ${fault}`)
    }
    if (text === undefined) {
      this.#sender.send(exchange, status, { ...headers }, undefined)
      return undefined
    }
    return this.#sender.sendText(
      exchange,
      status,
      { 'content-type': 'application/json', 'cache-control': 'private, no-cache', ...headers },
      text,
    )
  }

  async #sendBytes(exchange: Exchange, { status, body, headers }: AnyReply): Promise<void> {
    if (isBytes(body)) return this.#blobs.send(exchange, status, headers, body)
    const contentType = headers?.['content-type'] ?? 'application/octet-stream'
    if (body instanceof Readable) return this.#blobs.send(exchange, status, headers, { open: () => body, contentType })
    if (!(body instanceof Uint8Array)) throw new TypeError('a body of bytes must be a Bytes, a Buffer or a Readable')
    const open = (range?: ByteRange): Readable => streamed([Buffer.from(range ? body.subarray(range.start, range.end + 1) : body)])
    return this.#blobs.send(exchange, status, headers, { open, contentType, sizeBytes: body.byteLength })
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
