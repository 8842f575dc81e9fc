import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { Invalid, type Log, Problem } from 'pounce/sdk'
import { isPrivateAddress } from 'pounce/sdk/kit'
import type { HttpConfig } from './config.ts'
import { NoSuchAddress } from './problems.ts'
import type { Middleware } from './request-context.ts'
import type { ResponseWriter } from './response-writer.ts'
import type { Addresses, PrefixRouter } from './router.ts'
import { TrustedProxies } from './trusted-proxies.ts'

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
 * someone else could make lead here.
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

  /** Throws `UnknownHost`, and `Invalid` where HTTP/1.1 requires a name and none was sent. */
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
 * Warns, once, of a reverse proxy that is not configured: all its clients count as one address, for throttling, limits and the
 * audit log. Only a peer in a private network is taken for a proxy, as anyone on the Internet may send the header.
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

/** A page of another site tried to use the session of anyone who looks at it. */
class CrossOrigin extends Problem {
  constructor() {
    super(
      403,
      'cross-origin',
      'A change with a session cookie must come from a page of this server; programs, and pages of origins in http.allowedOrigins, send an API key',
    )
  }
}

/**
 * Lets a change on a route that looks at no credentials pass unless a browser says that a page of another site sent it: else that page could
 * sign its visitors in as someone else, or out. Programs say nothing of the kind.
 */
export const refuseOtherOrigins = (headers: IncomingHttpHeaders, baseUrl: string): void => {
  if (headers['sec-fetch-site'] ?? headers.origin ?? headers.referer) requireSameOrigin(headers, baseUrl)
}

/**
 * Lets a session's change pass only when the browser says that a page of this server sent it; throws a 403 otherwise. Browsers send one of
 * these headers with every such request, so none at all is refused too.
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

/** A page that came unencrypted where the server is encrypted may be anyone's. */
const isDowngrade = (from: URL, own: URL | undefined): boolean => own?.protocol === 'https:' && from.protocol !== 'https:'

/** Undefined of what is no URL. */
export const originOf = (text: string | undefined): URL | undefined => (text === undefined ? undefined : (URL.parse(text) ?? undefined))

/** Headers of answers that pages of other origins may read, besides those of plugins. */
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
 * The headers that let a page of another origin read an answer: only for origins that the configuration names, never a reflection, never with
 * cookies. `*` lets all read what they may see without a session.
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
const longestOrigin = 255

/**
 * Logs once per origin that its pages cannot read responses, and which setting allows it: browsers tell
 * their users only that something failed.
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
    if (noted.has(origin) || noted.size >= maxNoted || origin.length > longestOrigin) return
    noted.add(origin)
    log.warn('cross-origin request blocked by CORS; to allow it add its origin to http.allowedOrigins', {
      origin,
    })
  }
}

const allowedHeaders = [
  ...['Content-Type', 'X-API-Key', 'Authorization', 'X-HTTP-Method-Override'],
  ...['Range', 'If-Range', 'If-Match', 'If-None-Match', 'If-Modified-Since', 'If-Unmodified-Since'],
]

/** What answers to OPTIONS are made of. */
export interface CorsOptions {
  readonly router: PrefixRouter
  readonly addresses: Addresses
  readonly writer: ResponseWriter
  readonly allowedOrigins: readonly string[]
  /** Headers of plugins that pages of these origins may send. */
  readonly requestHeaders: readonly string[]
}

/** Answers OPTIONS: the methods of an address, and CORS preflights. */
export const cors =
  ({ router, addresses, writer, allowedOrigins, requestHeaders }: CorsOptions): Middleware =>
  (context, next) => {
    const { request } = context.state
    if (request.req.method !== 'OPTIONS') return next()
    const path = addresses.withoutSlash(request.target.path) ?? request.target.path
    const allowed = router.allowed(path)
    if (allowed.length === 0 && request.req.url !== '*') throw new NoSuchAddress()
    const allow = [...allowed, 'OPTIONS'].join(', ')
    const preflight = {
      'access-control-allow-methods': allow,
      'access-control-allow-headers': [...allowedHeaders, ...requestHeaders].join(', '),
      'access-control-max-age': '600',
    }
    // 200 as in Clowder 1.x, whose success is 200 everywhere.
    writer.send(request, 200, { ...router.headersOf(path), allow, ...(allowedOrigins.length > 0 ? preflight : {}) }, undefined)
  }
