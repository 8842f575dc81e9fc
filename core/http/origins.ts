import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { Invalid, type Log, Problem } from 'pounce/sdk'
import { isPrivateAddress } from 'pounce/sdk/kit'
import type { HttpConfig } from './config.ts'
import type { Middleware } from './request-context.ts'
import type { ResponseWriter } from './response-writer.ts'
import type { Addresses, PrefixRouter } from './router.ts'
import { TrustedProxies } from './trusted-proxies.ts'

/** 421: the request is for another server, or comes from a page that resolved its own host name to this server (DNS rebinding). */
class UnknownHost extends Problem {
  constructor(name: string) {
    super(
      421,
      'unknown-host',
      `Unknown host ${name.slice(0, 200)}: set http.baseUrl to the public URL of the server, or add the name to http.allowedHosts`,
    )
  }
}

/**
 * The accepted `Host` names: that of the base URL and those in the configuration. IP addresses and names without a dot are also accepted, as an attacker
 * cannot point them to this server.
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

  /** Throws `UnknownHost`, and `Invalid` for an HTTP/1.1 request without a Host header. */
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

/** Refuses requests for another server with 421. */
export const requireAllowedHost =
  (hosts: AllowedHosts): Middleware =>
  (context, next) => {
    hosts.require(context.req)
    return next()
  }

/** The host name without brackets, port and trailing dot. */
const nameIn = (host: string): string => {
  const bracket = host.startsWith('[') ? host.indexOf(']') : -1
  if (bracket > 0) return host.slice(1, bracket).toLowerCase()
  const colon = host.lastIndexOf(':')
  const name = (colon < 0 ? host : host.slice(0, colon)).toLowerCase()
  return name.endsWith('.') ? name.slice(0, -1) : name
}

/**
 * Warns once about a reverse proxy that is not configured: all its clients share one address for throttling, limits and the
 * audit log. Only a peer in a private network is assumed to be a proxy, as any client on the Internet may send the header.
 */
export const untrustedProxyWarning = ({ trustedProxies }: HttpConfig, log: Log): ((req: IncomingMessage) => void) => {
  const proxies = new TrustedProxies(trustedProxies)
  let isDue = true
  return ({ headers, socket }) => {
    if (!isDue || (headers['x-forwarded-for'] === undefined && headers.forwarded === undefined)) return
    if (proxies.mayForward(socket.remoteAddress) || !isPrivateAddress(socket.remoteAddress ?? '')) return
    isDue = false
    log.warn('X-Forwarded-For ignored: all clients of a reverse proxy share one address; set http.trustedProxies', {
      peer: socket.remoteAddress,
    })
  }
}

/** A page of another site tried to use the session of its visitor. */
class CrossOrigin extends Problem {
  constructor() {
    super(
      403,
      'cross-origin',
      'A change with a session cookie must come from a page of this server; programs, and pages of origins in http.allowedOrigins, send an API key',
    )
  }
}

/** Whether a page in a browser sent a request: browsers send one of these headers with every change, other programs do not. */
export const isFromPage = (headers: IncomingHttpHeaders): boolean => Boolean(headers['sec-fetch-site'] ?? headers.origin ?? headers.referer)

/**
 * Refuses a change on a route without credentials if the browser's headers show that a page of another site sent it: otherwise that page could
 * sign its visitors out, or in to another account.
 */
export const refuseOtherOrigins = (headers: IncomingHttpHeaders, baseUrl: string): void => {
  if (isFromPage(headers)) requireSameOrigin(headers, baseUrl)
}

/**
 * Accepts a session's change only if the browser's headers show that a page of this server sent it; throws 403 otherwise. Browsers send one of
 * these headers with every such request, so a request without them is refused too.
 */
export const requireSameOrigin = (headers: IncomingHttpHeaders, baseUrl: string): void => {
  const site = headers['sec-fetch-site']
  if (site === 'same-origin') return
  if (site !== undefined && site !== 'none') throw new CrossOrigin()
  const from = originOf(headers.origin ?? headers.referer)
  const own = originOf(baseUrl)
  const isOwn = from !== undefined && (from.origin === own?.origin || (from.host === headers.host && !isDowngrade(from, own)))
  if (!isOwn) throw new CrossOrigin()
}

/** A page loaded without encryption from an encrypted server may be forged. */
const isDowngrade = (from: URL, own: URL | undefined): boolean => own?.protocol === 'https:' && from.protocol !== 'https:'

/** Undefined if the text is not a URL. */
export const originOf = (text: string | undefined): URL | undefined => (text === undefined ? undefined : (URL.parse(text) ?? undefined))

/** Response headers that pages of other origins may read, in addition to those of plugins. */
export const exposedHeaders = [
  'Link',
  'X-Request-Id',
  'Content-Disposition',
  'Content-Range',
  'Retry-After',
  'Location',
  'X-Total-Count',
  'ETag',
]

/**
 * The headers that allow a page of another origin to read a response: only for configured origins, never by reflecting the sent one, and never with
 * cookies. `*` allows all origins to read responses that need no session.
 */
export const corsHeaders = (
  origin: string | undefined,
  allowed: readonly string[],
  exposed: string,
): Readonly<Record<string, string>> | undefined => {
  if (allowed.length === 0) return undefined
  const expose = { 'access-control-expose-headers': exposed }
  if (allowed.includes('*')) return { 'access-control-allow-origin': '*', ...expose }
  const known = allowed.find(each => each === origin)
  return known === undefined ? { vary: 'Origin' } : { 'access-control-allow-origin': known, vary: 'Origin', ...expose }
}

const maxNoted = 100
const maxOriginLength = 255

/**
 * Logs once per origin that its pages cannot read responses, and which setting allows it: browsers only report
 * a generic failure.
 */
export const crossOriginWarning = (
  allowed: readonly string[],
  baseUrl: () => string,
  log: Log,
): ((req: Pick<IncomingMessage, 'headers'>) => void) => {
  const noted = new Set<string>()
  return ({ headers }) => {
    const { origin } = headers
    if (origin === undefined || headers['sec-fetch-site'] === 'same-origin' || allowed.includes('*') || allowed.includes(origin)) return
    const from = originOf(origin)
    if (from !== undefined && (from.host === headers.host || from.origin === originOf(baseUrl())?.origin)) return
    if (noted.has(origin) || noted.size >= maxNoted || origin.length > maxOriginLength) return
    noted.add(origin)
    log.warn('Cross-origin request blocked by CORS; to allow it add its origin to http.allowedOrigins', {
      origin,
    })
  }
}

const allowedHeaders = [
  ...['Content-Type', 'X-API-Key', 'Authorization', 'X-HTTP-Method-Override'],
  ...['Range', 'If-Range', 'If-Match', 'If-None-Match', 'If-Modified-Since', 'If-Unmodified-Since'],
]

/** The inputs of OPTIONS responses. */
export interface CorsOptions {
  readonly router: PrefixRouter
  readonly addresses: Addresses
  readonly writer: ResponseWriter
  readonly allowedOrigins: readonly string[]
  /** Plugin headers that pages of these origins may send. */
  readonly requestHeaders: readonly string[]
}

/** Handles OPTIONS: the methods of a path, and CORS preflights. 200 for every path, as in Clowder 1.x: an unknown one has no methods. */
export const cors =
  ({ router, addresses, writer, allowedOrigins, requestHeaders }: CorsOptions): Middleware =>
  (context, next) => {
    const { request } = context.state
    if (request.req.method !== 'OPTIONS') return next()
    const path = addresses.withoutSlash(request.target.path) ?? request.target.path
    const allowed = router.allowed(path)
    const allow = [...allowed, 'OPTIONS'].join(', ')
    const preflight = {
      'access-control-allow-methods': allow,
      'access-control-allow-headers': [...allowedHeaders, ...requestHeaders].join(', '),
      'access-control-max-age': '600',
    }
    writer.send(request, 200, { ...router.headersOf(path), allow, ...(allowedOrigins.length > 0 ? preflight : {}) }, undefined)
  }
