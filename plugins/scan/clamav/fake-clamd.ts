import { createServer, type Socket } from 'node:net'
import { inflateRawSync } from 'node:zlib'
import { eicar, silent } from 'pounce/sdk/testing'
import { ClamavScan } from './clamav-scan.ts'
import type { ClamavConfig } from './config.ts'

interface Ending {
  teardown(end: () => unknown): void
}

/** The behaviour of the fake clamd; it implements the z commands of clamd's manual. */
export interface FakeClamdOptions {
  readonly maxStreamBytes?: number
  /** Replaces its reply to a stream; undefined: it does not reply and keeps the connection open. */
  readonly streamReply?: (bytes: Buffer) => string | undefined
  readonly pingReply?: string | undefined
  /** Closes the connection after this many bytes of a stream, without a reply. */
  readonly dropsAfter?: number
}

const unpacked = (bytes: Buffer): Buffer => {
  if (!bytes.subarray(0, 4).equals(Buffer.from('PK\x03\x04'))) return bytes
  const start = 30 + bytes.readUInt16LE(26)
  return inflateRawSync(bytes.subarray(start, start + bytes.readUInt32LE(18)))
}

const scanResult = (bytes: Buffer): string => `stream: ${unpacked(bytes).includes(eicar) ? 'Eicar-Test-Signature FOUND' : 'OK'}`

/** Serves one connection; resolves when it has replied. */
class FakeSession {
  readonly #socket: Socket
  readonly #options: FakeClamdOptions
  #received = Buffer.alloc(0)
  #stream: Buffer | undefined

  constructor(socket: Socket, options: FakeClamdOptions) {
    this.#socket = socket
    this.#options = options
    socket.on('data', piece => this.#take(piece))
    socket.on('error', () => undefined)
  }

  #take(piece: Buffer): void {
    this.#received = Buffer.concat([this.#received, piece])
    if (this.#stream === undefined) this.#command()
    if (this.#stream !== undefined) this.#pieces(this.#stream)
  }

  #command(): void {
    const end = this.#received.indexOf(0)
    if (end < 0) return
    const command = this.#received.subarray(0, end).toString()
    this.#received = this.#received.subarray(end + 1)
    if (command === 'zINSTREAM') this.#stream = Buffer.alloc(0)
    else if (command === 'zVERSION') this.#reply('ClamAV 0.0.0/fake')
    else if (command !== 'zPING') this.#reply('UNKNOWN COMMAND')
    else this.#reply('pingReply' in this.#options ? this.#options.pingReply : 'PONG')
  }

  #pieces(stream: Buffer): void {
    const { maxStreamBytes = Number.POSITIVE_INFINITY, dropsAfter = Number.POSITIVE_INFINITY, streamReply = scanResult } = this.#options
    const whole = [stream]
    let size = stream.length
    while (this.#received.length >= 4) {
      const length = this.#received.readUInt32BE(0)
      if (this.#received.length < 4 + length) break
      whole.push(this.#received.subarray(4, 4 + length))
      this.#received = this.#received.subarray(4 + length)
      size += length
      if (size > dropsAfter) this.#socket.destroy()
      else if (size > maxStreamBytes) this.#reply('INSTREAM size limit exceeded. ERROR')
      else if (length === 0) this.#reply(streamReply(Buffer.concat(whole)))
      else continue
      return
    }
    this.#stream = Buffer.concat(whole)
  }

  #reply(text: string | undefined): void {
    this.#socket.removeAllListeners('data').resume()
    if (text !== undefined) this.#socket.end(`${text}\0`)
  }
}

/** A fake clamd on a free port of this machine, or on `path`. */
export const fakeClamd = async (t: Ending, options: FakeClamdOptions & { readonly path?: string } = {}) => {
  const sockets = new Set<Socket>()
  const concurrent = { now: 0, ever: 0 }
  const server = createServer({ allowHalfOpen: true }, socket => {
    sockets.add(socket)
    concurrent.now += 1
    concurrent.ever = Math.max(concurrent.ever, concurrent.now)
    socket.once('close', () => {
      sockets.delete(socket)
      concurrent.now -= 1
    })
    new FakeSession(socket, options)
  })
  await new Promise<void>(resolve => {
    if (options.path !== undefined) server.listen(options.path, resolve)
    else server.listen(0, '127.0.0.1', resolve)
  })
  const stop = async (): Promise<void> => {
    for (const socket of sockets) socket.destroy()
    await new Promise<void>(resolve => server.close(() => resolve()))
  }
  t.teardown(stop)
  const address = server.address()
  return { socket: typeof address === 'object' && address ? `tcp://127.0.0.1:${address.port}` : String(address), most: concurrent, stop }
}

/** The plugin's scanner, connected to a clamd. */
export const scannerAt = (socket: string, config: Partial<ClamavConfig> = {}): ClamavScan =>
  new ClamavScan(
    {
      ...{ socket, maxScanMiB: 25, largerFiles: 'allow', maxConnections: 4, connectTimeoutMs: 20_000, scanTimeoutMs: 60_000 },
      ...config,
    },
    silent,
  )
