import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

/** A message as received by a target. */
export interface Received {
  readonly headers: IncomingHttpHeaders
  readonly body: string
  readonly event: { readonly id: string; readonly type: string; readonly subject: string; readonly data: Readonly<Record<string, unknown>> }
}

/** A target server of webhooks. */
export interface Target {
  readonly url: string
  readonly port: number
  readonly received: readonly Received[]
  /** Handles subsequent requests; responds with 200 by default. */
  answer: RequestListener
  /** Stops listening; `open` listens again on the same port. */
  shut(): Promise<void>
  open(): Promise<void>
}

interface Ends {
  teardown(end: () => Promise<void>): void
}

/** Serves on 127.0.0.1 until the test ends. */
export const webhookTarget = async (t: Ends): Promise<Target> => {
  const received: Received[] = []
  const server = createServer((request, response) => {
    void buffer(request).then(bytes => {
      const body = bytes.toString()
      received.push({ headers: request.headers, body, event: JSON.parse(body) as Received['event'] })
      target.answer(request, response)
    })
  })
  const listen = (port: number) => new Promise<void>(resolve => server.listen(port, '127.0.0.1', resolve))
  const shut = async (): Promise<void> => {
    if (!server.listening) return
    const closed = new Promise<void>(resolve => server.close(() => resolve()))
    server.closeAllConnections()
    await closed
  }
  await listen(0)
  t.teardown(shut)
  const { port } = server.address() as AddressInfo
  const target: Target = {
    url: `http://127.0.0.1:${port}/hook`,
    port,
    received,
    answer: (_, response) => response.end('thanks'),
    shut,
    open: () => listen(port),
  }
  return target
}
