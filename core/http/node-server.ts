import type { IncomingMessage, RequestListener, Server } from 'node:http'
import type { Socket } from 'node:net'
import type { HttpConfig } from './config.ts'
import { type Exchange, markContinueDue } from './exchange.ts'
import { http } from './lean-modules.ts'

const maxHeaderBytes = 16 * 1024

/** Finds the request that a connection is busy with. */
export type Busy = (socket: Socket) => Exchange | undefined

/**
 * Node's server with our limits: headers of 16 kB within their time, connections that are cut when a transfer falls silent, and malformed
 * requests answered with 400 and a closed connection. A request as a whole has no time limit: transfers may last hours.
 */
export const nodeServer = (config: HttpConfig, listener: RequestListener, busy: Busy): Server => {
  const server = http.createServer(
    {
      maxHeaderSize: maxHeaderBytes,
      headersTimeout: config.headersTimeoutMs,
      requestTimeout: 0,
      keepAliveTimeout: config.keepAliveTimeoutMs,
      connectionsCheckingInterval: Math.min(1000, config.headersTimeoutMs),
      noDelay: true,
    },
    listener,
  )
  server.maxConnections = config.maxConnections
  server.timeout = config.silentTransferMs
  server.on('timeout', (socket: Socket) => {
    const exchange = busy(socket)
    // A handler may think for longer than a transfer may be silent.
    if (exchange === undefined || exchange.isBodyOpen || socket.writableLength > 0) socket.destroy()
  })
  server.on('checkContinue', (req: IncomingMessage, res) => {
    markContinueDue(req)
    listener(req, res)
  })
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    const exchange = busy(socket)
    if (!socket.writable || error.code === 'ECONNRESET' || exchange?.res.headersSent) socket.destroy()
    else socket.end(refusal(error.code), () => socket.destroy())
    exchange?.abort()
  })
  return server
}

const refusal = (code: string | undefined): string => {
  const [status, problem, message] =
    code === 'HPE_HEADER_OVERFLOW'
      ? [431, 'headers-too-large', `The headers must be at most ${maxHeaderBytes} bytes`]
      : code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? [408, 'too-slow', 'The request did not come in time']
        : [400, 'invalid', 'This is not a proper HTTP request']
  const body = JSON.stringify({ status: 'error', message, code: problem })
  return `HTTP/1.1 ${status} ${http.STATUS_CODES[Number(status)]}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`
}
