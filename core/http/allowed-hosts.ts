import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { Invalid, isPrivateAddress, type Log, Problem } from 'pounce/sdk'
import type { HttpConfig } from './config.ts'
import type { Middleware } from './request-context.ts'

/** 421: the request is meant for another server, or comes from a page that made its own name lead here (DNS rebinding). */
export class UnknownHost extends Problem {
  constructor(name: string) {
    super(
      421,
      'unknown-host',
      `Unknown host ${name.slice(0, 200)}: set http.baseUrl to the public URL of the server, or add the name to http.allowedHosts`,
    )
  }
}

/**
 * Which names in `Host` are answered: that of the base URL and those that the configuration lists. Addresses in digits and names without a dot are no names that
 * somebody else could make lead here.
 */
export class AllowedHosts {
  readonly #names: ReadonlySet<string>
  readonly #isOpen: boolean
  #last: string | undefined

  constructor(baseUrl: string, allowed: readonly string[]) {
    const own = URL.parse(baseUrl)?.hostname
    this.#names = new Set([...(own === undefined ? [] : [own]), ...allowed].map(name => name.toLowerCase()))
    this.#isOpen = allowed.includes('*')
  }

  /** Throws `UnknownHost`, and `Invalid` where HTTP/1.1 asks for a name and none was sent. */
  require({ headers: { host }, httpVersion }: IncomingMessage): void {
    if (host === undefined && httpVersion !== '1.0') throw new Invalid('A request must have a Host header')
    if (this.#isOpen || host === undefined || host === '' || host === this.#last) return
    const name = nameIn(host)
    if (!this.#isKnown(name)) throw new UnknownHost(name)
    this.#last = host
  }

  #isKnown(name: string): boolean {
    return this.#names.has(name) || isIP(name) !== 0 || !name.includes('.') || name.endsWith('.localhost')
  }
}

/** Answers 421 where a request is meant for another server. */
export const requireAllowedHost =
  (hosts: AllowedHosts): Middleware =>
  (context, next) => {
    hosts.require(context.req)
    return next()
  }

/** Without brackets, port and the dot of the root. */
const nameIn = (host: string): string => {
  const bracket = host.startsWith('[') ? host.indexOf(']') : -1
  if (bracket > 0) return host.slice(1, bracket).toLowerCase()
  const colon = host.lastIndexOf(':')
  const name = (colon < 0 ? host : host.slice(0, colon)).toLowerCase()
  return name.endsWith('.') ? name.slice(0, -1) : name
}

/**
 * Warns, once, of a reverse proxy in front that nobody told the server about: all its clients count as one address, for throttling, limits and the
 * audit log. Only a peer in a private network is taken for a proxy, as anybody on the Internet may send the header.
 */
export const untrustedProxyWarning = ({ trustedProxies }: HttpConfig, log: Log): ((req: IncomingMessage) => void) => {
  let isDue = trustedProxies === 0
  return ({ headers, socket }) => {
    if (!isDue || (headers['x-forwarded-for'] === undefined && headers.forwarded === undefined)) return
    if (!isPrivateAddress(socket.remoteAddress ?? '')) return
    isDue = false
    log.warn('X-Forwarded-For ignored: all clients of a reverse proxy share one address; set http.trustedProxies', {
      peer: socket.remoteAddress,
    })
  }
}
