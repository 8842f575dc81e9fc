import type { ServerResponse } from 'node:http'
import type { EventConnection, EventStream } from 'pounce/sdk'
import type { RequestContext } from './request-context.ts'
import type { AnyReply } from './respond.ts'
import { drained, type ResponseWriter } from './response-writer.ts'

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

  constructor(res: ServerResponse) {
    this.#res = res
  }

  get pendingBytes(): number {
    return this.#res.writableLength
  }

  /** Sends a chunk through the socket: `ServerResponse.write` would make three buffers of it for each connection, and a `writev`. */
  write(events: Uint8Array): void {
    const { socket, writableEnded, destroyed, chunkedEncoding } = this.#res
    if (writableEnded || destroyed) return
    if (!socket || !chunkedEncoding) {
      this.#res.write(events)
      return
    }
    if (last?.events !== events) last = { events, chunk: chunkOf(events) }
    if (socket.writable && events.length > 0) socket.write(last.chunk)
  }

  async drained(): Promise<void> {
    const { socket, writableNeedDrain } = this.#res
    if (writableNeedDrain) await drained(this.#res)
    if (socket?.writableNeedDrain) await drained(socket)
  }

  end(): void {
    this.#res.end()
  }

  destroy(): void {
    this.#res.destroy()
  }
}
