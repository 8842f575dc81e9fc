import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Number of waiting requests at which no more are read from a connection. */
const maxWaiting = 16

/** The requests of one connection. */
interface Line {
  isBusy: boolean
  isFull: boolean
  readonly waiting: (() => void)[]
}

/**
 * Processes the requests of a connection one after the other. Responses are sent in their order anyway: a client that sends requests without waiting for
 * responses, or without reading them, would otherwise make the server hold all of them.
 */
export class PipelinedRequests {
  readonly #lines = new WeakMap<Socket, Line>()

  /** Calls `process` when all earlier requests of the connection have been answered; never if the connection ends first. */
  inTurn(socket: Socket, res: ServerResponse, process: () => void): void {
    const line = this.#lineOf(socket)
    const begin = () => {
      line.isBusy = true
      res.once('close', () => this.#next(socket, line))
      process()
    }
    if (!line.isBusy) begin()
    else if (line.waiting.push(begin) >= maxWaiting && !line.isFull) {
      line.isFull = true
      socket.pause()
    }
  }

  #lineOf(socket: Socket): Line {
    const known = this.#lines.get(socket)
    if (known) return known
    const line: Line = { isBusy: false, isFull: false, waiting: [] }
    this.#lines.set(socket, line)
    // Node resumes reading after each request that it has parsed, and when a response has been sent.
    socket.on('resume', () => {
      if (line.isFull) socket.pause()
    })
    return line
  }

  #next(socket: Socket, line: Line): void {
    line.isBusy = false
    if (socket.destroyed || socket.writableEnded) {
      line.waiting.length = 0
      return
    }
    line.waiting.shift()?.()
    if (!line.isFull || line.waiting.length >= maxWaiting) return
    line.isFull = false
    socket.resume()
  }
}
