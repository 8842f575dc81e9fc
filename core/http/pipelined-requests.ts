import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Number of waiting requests at which no more are read from a connection. */
const maxWaiting = 16

/** The requests of one connection. */
interface ConnectionQueue {
  isBusy: boolean
  isFull: boolean
  readonly waiting: (() => void)[]
}

/**
 * Processes the requests of a connection one after the other. Responses are sent in their order anyway: a client that sends requests without waiting for
 * responses, or without reading them, would otherwise make the server hold all of them.
 */
export class PipelinedRequests {
  readonly #queues = new WeakMap<Socket, ConnectionQueue>()

  /** Calls `process` when all earlier requests of the connection have been answered; never if the connection ends first. */
  inTurn(socket: Socket, res: ServerResponse, process: () => void): void {
    const queue = this.#queueOf(socket)
    const begin = () => {
      queue.isBusy = true
      res.once('close', () => this.#next(socket, queue))
      process()
    }
    if (!queue.isBusy) begin()
    else if (queue.waiting.push(begin) >= maxWaiting && !queue.isFull) {
      queue.isFull = true
      socket.pause()
    }
  }

  #queueOf(socket: Socket): ConnectionQueue {
    const known = this.#queues.get(socket)
    if (known) return known
    const queue: ConnectionQueue = { isBusy: false, isFull: false, waiting: [] }
    this.#queues.set(socket, queue)
    // Node resumes reading after each request that it has parsed, and when a response has been sent.
    socket.on('resume', () => {
      if (queue.isFull) socket.pause()
    })
    return queue
  }

  #next(socket: Socket, queue: ConnectionQueue): void {
    queue.isBusy = false
    if (socket.destroyed || socket.writableEnded) {
      queue.waiting.length = 0
      return
    }
    queue.waiting.shift()?.()
    if (!queue.isFull || queue.waiting.length >= maxWaiting) return
    queue.isFull = false
    socket.resume()
  }
}
