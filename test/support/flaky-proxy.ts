import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'

/**
 * Behaviour: `pass` forwards; `slow` too, each piece late by `slowMs`; `silent` buffers it until
 * another mode lets it continue, as a paused server does; `refuse` has no one listen and ends what is open; `cut` ends it at the first byte.
 */
export type ProxyMode = 'pass' | 'slow' | 'silent' | 'refuse' | 'cut'

/** A TCP connection to a server with the faults of a network. A mode counts for open connections as well as for new ones. */
export interface FlakyProxy {
  readonly port: number
  /** An address of the server, through the proxy. */
  urlFor(url: string): string
  become(mode: ProxyMode): Promise<void>
  /** Connections open now. */
  readonly open: number
}

interface Options {
  /** How late each piece is in the mode `slow`: 2 s unless given. */
  readonly slowMs?: number
}

interface Faults {
  mode: ProxyMode
  readonly slowMs: number
}

/** A client's socket and the one to the server. */
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

  /** Stops or continues, as the mode says. */
  follow(): void {
    for (const socket of this.#sockets)
      if (this.#faults.mode === 'silent') socket.pause()
      else socket.resume()
  }

  end(): void {
    // Not `resetAndDestroy`: in the middle of a write libuv then never says that it is over, and the thread of the test does not end.
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
      // What follows a late piece comes after it, so the order is kept; it is not late by itself once the proxy passes again.
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

/** A proxy in front of the server that an address names, gone with the test. It begins in the mode `pass`. */
export const flakyProxy = async (
  t: { teardown(end: () => Promise<void>): void },
  target: string,
  { slowMs = 2_000 }: Options = {},
): Promise<FlakyProxy> => {
  const [, origin = '', host = '', targetPort] = /^([a-z0-9+]+:\/\/(?:[^@/]*@)?)([^:/?]+):(\d+)/.exec(target) ?? []
  if (targetPort === undefined) throw new Error(`${target} names no host and port after ${origin}`)
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
