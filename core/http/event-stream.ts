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

class ResponseConnection implements EventConnection {
  readonly #res: ServerResponse

  constructor(res: ServerResponse) {
    this.#res = res
  }

  get pendingBytes(): number {
    return this.#res.writableLength
  }

  write(events: Uint8Array): void {
    if (!this.#res.writableEnded && !this.#res.destroyed) this.#res.write(events)
  }

  drained(): Promise<void> {
    return this.#res.writableNeedDrain ? drained(this.#res) : Promise.resolve()
  }

  end(): void {
    this.#res.end()
  }

  destroy(): void {
    this.#res.destroy()
  }
}
