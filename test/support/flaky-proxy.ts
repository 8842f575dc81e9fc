import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'

/**
 * `pass` forwards data; `slow` also, with each chunk delayed by `slowMs`; `silent` buffers data until the mode changes, like a paused server;
 * `refuse` stops listening and closes open connections; `cut` closes a connection at its first byte.
 */
export type ProxyMode = 'pass' | 'slow' | 'silent' | 'refuse' | 'cut'

/** A TCP proxy that simulates network faults. The mode applies to both open and new connections. */
export interface FlakyProxy {
  readonly port: number
  /** A URL of the server, through the proxy. */
  urlFor(url: string): string
  become(mode: ProxyMode): Promise<void>
  /** Number of open connections. */
  readonly open: number
}

interface Options {
  /** The delay of each chunk in mode `slow`; 2 s by default. */
  readonly slowMs?: number
}

interface Faults {
  mode: ProxyMode
  readonly slowMs: number
}

/** A client's socket and its counterpart to the server. */
class Link {
  readonly #sockets: readonly [near: Socket, far: Socket]
  readonly #faults: Faults

  constructor(near: Socket, far: Socket, faults: Faults) {
    this.#sockets = [near, far]
    this.#faults = faults
    this.#pump(near, far)
    this.#pump(far, near)
    for (const socket of this.#sockets) {
      // An error is always followed by `close`.
      socket.on('error', () => undefined)
      socket.on('close', () => this.end())
    }
    this.follow()
  }

  /** Pauses or resumes according to the mode. */
  follow(): void {
    for (const socket of this.#sockets)
      if (this.#faults.mode === 'silent') socket.pause()
      else socket.resume()
  }

  end(): void {
    // Not `resetAndDestroy`: during a write, libuv would never call back, and the test's thread would not exit.
    for (const socket of this.#sockets) socket.destroy()
  }

  #pump(from: Socket, to: Socket): void {
    let waiting = 0
    let lastDueMs = 0
    let delivered = Promise.resolve()
    const handOn = (work: () => void): void => {
      const isSlow = this.#faults.mode === 'slow'
      if (!isSlow && waiting === 0) {
        work()
        return
      }
      // Chunks after a delayed one wait for it, to keep the order, but are not delayed further once the mode is `pass` again.
      const now = performance.now()
      lastDueMs = Math.max(lastDueMs, isSlow ? now + this.#faults.slowMs : now)
      waiting += 1
      delivered = Promise.all([delivered, pause(lastDueMs - now)]).then(() => {
        waiting -= 1
        work()
      })
    }
    from.on('data', (piece: Buffer) => {
      if (this.#faults.mode === 'cut') return this.end()
      handOn(() => to.writable && to.write(piece))
    })
    from.on('end', () => handOn(() => to.writable && to.end()))
  }
}

const listen = async (server: Server, port: number): Promise<number> => {
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

/** A proxy in front of the server at a URL, closed after the test. Its initial mode is `pass`. */
export const flakyProxy = async (
  t: { teardown(end: () => Promise<void>): void },
  target: string,
  { slowMs = 2_000 }: Options = {},
): Promise<FlakyProxy> => {
  const [, origin = '', host = '', targetPort] = /^([a-z0-9+]+:\/\/(?:[^@/]*@)?)([^:/?]+):(\d+)/.exec(target) ?? []
  if (targetPort === undefined) throw new Error(`${target} has no host and port after ${origin}`)
  const faults: Faults = { mode: 'pass', slowMs }
  const links = new Set<Link>()
  const server = createServer({ noDelay: true, allowHalfOpen: true }, near => {
    const far = connect({ port: Number(targetPort), host, noDelay: true, allowHalfOpen: true })
    const link = new Link(near, far, faults)
    links.add(link)
    near.on('close', () => links.delete(link))
  })
  const port = await listen(server, 0)
  const close = async (): Promise<void> => {
    if (!server.listening) return
    const closed = once(server, 'close')
    server.close()
    for (const link of links) link.end()
    await closed
  }
  t.teardown(close)
  return {
    port,
    urlFor: url => url.replace(/^([a-z0-9+]+:\/\/(?:[^@/]*@)?)[^/?]+/, `$1127.0.0.1:${port}`),
    become: async mode => {
      faults.mode = mode
      if (mode === 'refuse') return close()
      if (!server.listening) await listen(server, port)
      for (const link of links) link.follow()
    },
    get open() {
      return links.size
    },
  }
}
