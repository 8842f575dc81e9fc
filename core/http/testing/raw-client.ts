import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** A raw connection, for requests that no client library would send. */
export class RawClient {
  readonly socket: Socket
  #received = ''
  #isClosed = false

  constructor(socket: Socket) {
    this.socket = socket
    socket.on('data', chunk => {
      this.#received += chunk.toString('latin1')
    })
    socket.on('close', () => {
      this.#isClosed = true
    })
    // A reset by the server is treated like a close.
    socket.on('error', () => undefined)
  }

  get received(): string {
    return this.#received
  }

  send(data: string | Uint8Array): this {
    this.socket.write(data)
    return this
  }

  /** Resolves with all received data when the server has closed the connection. */
  async closed(): Promise<string> {
    if (!this.#isClosed) await once(this.socket, 'close')
    return this.#received
  }

  /** Resolves when the received data matches; rejects if the connection ends first. */
  async receives(pattern: RegExp): Promise<string> {
    while (!pattern.test(this.#received)) {
      if (this.#isClosed) throw new Error(`closed after ${JSON.stringify(this.#received)}`)
      await new Promise<void>(resolve => {
        this.socket.once('data', () => resolve())
        this.socket.once('close', () => resolve())
      })
    }
    return this.#received
  }
}

/** Connects to a local server. */
export const rawClient = async (port: number): Promise<RawClient> => {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  return new RawClient(socket)
}
