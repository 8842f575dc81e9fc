import type { IncomingMessage, RequestListener, Server } from 'node:http'
import type { Socket } from 'node:net'
import { type Ids, type Log, networkOf } from 'pounce/sdk'
import type { HttpConfig } from './config.ts'
import { http } from './lean-modules.ts'
import { markContinueDue, type RequestContext } from './request-context.ts'

const maxHeaderBytes = 16 * 1024

/** What a server is made of. */
export interface NodeServerOptions {
  readonly config: HttpConfig
  readonly log: Log
  readonly ids: Ids
}

/** Finds the request that a connection is busy with. */
export type Busy = (socket: Socket) => RequestContext | undefined

/**
 * Node's server with our limits: headers of 16 kB within their time, connections that are cut when a transfer falls silent, and malformed
 * requests answered with 400 and a closed connection. A request as a whole has no time limit here: transfers may last hours, as long as they move (see
 * `BodyDeadlines`). No address gets more than its share of the connections.
 */
export const nodeServer = ({ config, log, ids }: NodeServerOptions, listener: RequestListener, busy: Busy): Server => {
  /** Answers where there is no request to answer, and closes the connection. */
  const refuse = (socket: Socket, cause: string | undefined): void => {
    const refusal = refusals[cause ?? ''] ?? notHttp
    const requestId = ids.next()
    log.debug('connection refused', { requestId, status: refusal[0], code: refusal[1] })
    write(socket, refusal, requestId)
  }
  const server = http.createServer(
    {
      maxHeaderSize: maxHeaderBytes,
      headersTimeout: config.headersTimeoutMs,
      requestTimeout: 0,
      keepAliveTimeout: config.keepAliveTimeoutMs,
      connectionsCheckingInterval: Math.min(1000, config.headersTimeoutMs),
      noDelay: true,
      // Node would refuse with nothing in the answer; `AllowedHosts` does.
      requireHostHeader: false,
    },
    listener,
  )
  server.maxConnections = config.maxConnections
  server.timeout = config.silentTransferMs
  if (config.trustedProxies === 0) {
    const share = new ConnectionShare(config.maxConnectionsPerAddress)
    server.on('connection', (socket: Socket) => {
      if (!share.admit(socket)) refuse(socket, 'TOO_MANY_CONNECTIONS')
    })
  }
  server.on('timeout', (socket: Socket) => {
    const request = busy(socket)
    // A handler may think for longer than a transfer may be silent.
    if (request === undefined || request.isBodyOpen || socket.writableLength > 0) socket.destroy()
  })
  server.on('checkContinue', (req: IncomingMessage, res) => {
    markContinueDue(req)
    listener(req, res)
  })
  // Node would answer 417 with nothing in it to another expectation than `100-continue`, which need not be met (RFC 9110, 10.1.1).
  server.on('checkExpectation', listener)
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    const request = busy(socket)
    if (!socket.writable || error.code === 'ECONNRESET' || request?.res.headersSent) socket.destroy()
    else refuse(socket, error.code)
    request?.abort()
  })
  return server
}

type Refusal = readonly [status: number, code: string, message: string]

const refusals: Readonly<Record<string, Refusal>> = {
  HPE_HEADER_OVERFLOW: [431, 'headers-too-large', `The headers must be at most ${maxHeaderBytes} bytes`],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'too-slow', 'The request did not come in time'],
  TOO_MANY_CONNECTIONS: [429, 'too-many-connections', 'Too many connections from this address: close or reuse some'],
}

const notHttp: Refusal = [400, 'invalid', 'This is not a proper HTTP request']

/** Ends a request whose body comes too slowly, with 408 where nothing was answered yet. */
export const refuseSlowBody = (request: RequestContext, message: string): void => {
  const { socket } = request.req
  if (request.res.headersSent || !socket.writable) socket.destroy()
  else write(socket, [408, 'too-slow', message], request.id)
  request.abort()
}

const write = (socket: Socket, [status, code, message]: Refusal, requestId: string): void => {
  const body = JSON.stringify({ status: 'error', message, code, requestId })
  const retry = status === 429 ? 'Retry-After: 5\r\n' : ''
  const head = `HTTP/1.1 ${status} ${http.STATUS_CODES[status]}\r\nContent-Type: application/json\r\nX-Request-Id: ${requestId}\r\nContent-Length: ${body.length}\r\n${retry}Connection: close\r\n\r\n`
  socket.end(head + body, () => socket.destroy())
}

/**
 * Counts open connections by address (IPv6: by /64), so that one address cannot take them all. Behind a trusted proxy all connections are the proxy's, which
 * has to hold its own clients.
 */
export class ConnectionShare {
  readonly #max: number
  readonly #open = new Map<string, number>()

  constructor(max: number) {
    this.#max = max
  }

  /** False, and nothing is counted, when the address has its share already. */
  admit(socket: Socket): boolean {
    const network = networkOf(socket.remoteAddress ?? '')
    const open = this.#open.get(network) ?? 0
    if (open >= this.#max) return false
    this.#open.set(network, open + 1)
    socket.once('close', () => {
      const left = (this.#open.get(network) ?? 1) - 1
      if (left > 0) this.#open.set(network, left)
      else this.#open.delete(network)
    })
    return true
  }
}
