import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Writable } from 'node:stream'

/** A response of the proxy itself. */
export interface OwnAnswer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** Faults that a proxy injects. Each function is called for every request, with the path after the prefix. */
export interface Disturbance {
  answer?(method: string, path: string): OwnAnswer | undefined
  /** What a request waits for before it is forwarded. */
  waitsFor?(method: string, path: string): Promise<unknown> | undefined
  /** The number of bytes of the request body after which the connection is closed. */
  cutsRequestAfter?(method: string, path: string): number | undefined
  /** The number of bytes of the response body after which the connection is closed; if negative, not even the headers are sent. */
  cutsResponseAfter?(method: string, path: string): number | undefined
  /** Modifies the body of a JSON response. */
  changed?(path: string, body: unknown): unknown
}

export interface ReverseProxy {
  readonly url: string
  /** Replaces the faults. */
  become(next: Disturbance): void
  /** Bytes of request bodies forwarded since the last call. */
  sentBytes(): number
  /** Bytes of response bodies forwarded since the last call. */
  receivedBytes(): number
}

const connectionHeaders = ['connection', 'keep-alive', 'transfer-encoding', 'host']

const passedOn = (headers: IncomingMessage['headers']) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !connectionHeaders.includes(name)))

/** Resolves when the chunk has left this process, so that closing the connection does not discard it. Errors end the connection anyway. */
const written = (to: Writable, chunk: Buffer): Promise<void> => new Promise(resolve => to.write(chunk, () => resolve()))

/** A proxy in front of a server, with an optional path prefix, closed after the test. */
export const reverseProxy = async (t: { teardown(end: () => Promise<void>): void }, target: string, prefix = ''): Promise<ReverseProxy> => {
  let disturbance: Disturbance = {}
  let [sent, received] = [0, 0]

  const respond = async (response: IncomingMessage, { near, method, path }: { near: ServerResponse; method: string; path: string }) => {
    const { changed } = disturbance
    const headers = passedOn(response.headers)
    const isJson = changed !== undefined && String(response.headers['content-type']).startsWith('application/json')
    const limit = disturbance.cutsResponseAfter?.(method, path)
    if (isJson) {
      const body = Buffer.from(
        JSON.stringify(changed(path, JSON.parse(Buffer.concat(await Array.fromAsync(response)).toString() || 'null'))),
      )
      near.writeHead(response.statusCode ?? 500, { ...headers, 'content-length': body.length }).end(body)
      return
    }
    if (limit !== undefined && limit < 0) return void near.destroy()
    near.writeHead(response.statusCode ?? 500, headers)
    let passed = 0
    for await (const chunk of response as AsyncIterable<Buffer>) {
      received += chunk.length
      passed += chunk.length
      const isOver = limit !== undefined && passed > limit
      await written(near, isOver ? chunk.subarray(0, Math.max(chunk.length - (passed - limit), 0)) : chunk)
      if (isOver) return void near.destroy()
    }
    near.end()
  }

  const forward = async (incoming: IncomingMessage, near: ServerResponse): Promise<void> => {
    const { method = 'GET', url = '' } = incoming
    const path = url.startsWith(`${prefix}/`) ? url.slice(prefix.length) : undefined
    const own = path === undefined ? { status: 404 } : disturbance.answer?.(method, path)
    if (own || path === undefined) {
      incoming.resume()
      near.writeHead(own?.status ?? 404, own?.headers).end(own?.body)
      return
    }
    await disturbance.waitsFor?.(method, path)
    const far = request(new URL(path, target), { method, headers: passedOn(incoming.headers), agent: false })
    far.on('error', () => near.destroy())
    far.on('response', response => {
      response.on('error', () => near.destroy())
      respond(response, { near, method, path }).catch(() => near.destroy())
    })
    const limit = disturbance.cutsRequestAfter?.(method, path)
    let passed = 0
    for await (const chunk of incoming as AsyncIterable<Buffer>) {
      const kept = limit === undefined ? chunk : chunk.subarray(0, Math.max(limit - passed, 0))
      passed += chunk.length
      sent += kept.length
      await written(far, kept)
      if (limit !== undefined && passed >= limit) {
        far.destroy()
        near.destroy()
        return
      }
    }
    far.end()
  }

  const server: Server = createServer((incoming, near) => {
    forward(incoming, near).catch(() => near.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(async () => {
    server.close()
    server.closeAllConnections()
  })
  const take = (which: 'sent' | 'received'): number => {
    const value = which === 'sent' ? sent : received
    if (which === 'sent') sent = 0
    else received = 0
    return value
  }
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${prefix}`,
    become: next => {
      disturbance = next
    },
    sentBytes: () => take('sent'),
    receivedBytes: () => take('received'),
  }
}
