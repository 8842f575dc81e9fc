import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { Problem, Unavailable } from 'pounce/sdk'

/** Address of clamd. */
export type ClamdAddress = { readonly path: string } | { readonly host: string; readonly port: number }

/** clamd's responses are one line; anything longer is not clamd. */
const maxReplyBytes = 8192

const endOfStream = Buffer.alloc(4)

/** One command on a separate connection: clamd closes it after the reply. */
export class ClamdConnection {
  readonly #socket: Socket
  readonly #reply: Promise<string>
  #isAnswered = false

  private constructor(socket: Socket) {
    this.#socket = socket
    this.#reply = this.#read()
    // The sender checks it afterwards.
    this.#reply.catch(() => undefined)
  }

  /** Throws `Unavailable` unless clamd accepts the connection in time. */
  static async open(address: ClamdAddress, signal: AbortSignal): Promise<ClamdConnection> {
    signal.throwIfAborted()
    const socket = connect(address)
    // Kept for the socket's lifetime: an error after the reply is irrelevant.
    socket.on('error', () => undefined)
    const stop = (): void => {
      socket.destroy()
    }
    signal.addEventListener('abort', stop, { once: true })
    socket.once('close', () => signal.removeEventListener('abort', stop))
    try {
      await once(socket, 'connect', { signal })
    } catch (error) {
      socket.destroy()
      throw unavailable(error)
    }
    return new ClamdConnection(socket)
  }

  /** Sends a command without data, and returns its reply. */
  async ask(command: 'PING' | 'VERSION'): Promise<string> {
    this.#socket.write(`z${command}\0`)
    return this.#reply
  }

  /** Sends bytes to be scanned, no faster than clamd reads them. It may reply before it has all of them. */
  async scan(bytes: AsyncIterable<Uint8Array>): Promise<string> {
    this.#socket.write('zINSTREAM\0')
    for await (const piece of bytes) {
      if (this.#isAnswered || this.#socket.destroyed) return this.#reply
      if (piece.length === 0) continue
      const length = Buffer.alloc(4)
      length.writeUInt32BE(piece.length)
      this.#socket.write(length)
      if (!this.#socket.write(piece)) await this.#drained()
    }
    if (!this.#isAnswered && !this.#socket.destroyed) this.#socket.write(endOfStream)
    return this.#reply
  }

  close(): void {
    this.#socket.destroy()
  }

  async #drained(): Promise<void> {
    const ended = new AbortController()
    const drained = once(this.#socket, 'drain', { signal: ended.signal }).catch(() => undefined)
    await Promise.race([drained, this.#reply.catch(() => undefined)])
    ended.abort()
  }

  async #read(): Promise<string> {
    let reply = ''
    try {
      for await (const piece of this.#socket.iterator({ destroyOnReturn: false })) {
        reply += String(piece)
        if (reply.length > maxReplyBytes) throw new Problem(502, 'scan-failed', 'The server at scan.clamav.socket is not clamd')
        if (reply.includes('\0')) break
      }
    } catch (error) {
      throw unavailable(error)
    }
    const end = reply.indexOf('\0')
    if (end < 0) throw unavailable(new Error('the connection was closed before the reply'))
    this.#isAnswered = true
    return reply.slice(0, end).trim()
  }
}

const unavailable = (cause: unknown): Problem =>
  cause instanceof Problem ? cause : new Unavailable('The malware scanner clamd is unreachable', { cause })
