import type { Agent, ClientRequest, IncomingMessage } from 'node:http'
import { BlockList, isIP, isIPv6, type LookupFunction } from 'node:net'
import { pipeline } from 'node:stream'
import { domainToASCII } from 'node:url'
import { configPort, type Fetch, Forbidden, Invalid, Problem, s, TooLarge, Unreachable, wire } from 'pounce/sdk'
import { isPrivateAddress } from 'pounce/sdk/kit'
import { HostLookup } from './host-lookup.ts'
import { counting, RequestDeadline } from './request-deadline.ts'
import { decoderOf, limited } from './response-body.ts'

/** How many times a path is decoded to detect what later decoding may turn it into. */
const decodings = 5

const isPlainPath = (path: string): boolean => {
  const segments = path.split('/').slice(1)
  const isStep = (segment: string): boolean => /^\.{1,2}$/.test(segment.replace(/;.*$/s, ''))
  const isEmptyInside = segments.some((segment, at) => segment === '' && at < segments.length - 1)
  return !/[\\\p{Cc}]/u.test(path) && !isEmptyInside && !segments.some(isStep)
}

/** True for a path that stays below its base, even when it is decoded again on its way. */
const staysBelow = (path: string): boolean => {
  let now = path
  for (let time = 0; time < decodings; time++) {
    if (!isPlainPath(now)) return false
    let next: string
    try {
      next = decodeURIComponent(now)
    } catch (error) {
      if (error instanceof URIError) return false
      throw error
    }
    if (next === now) return true
    now = next
  }
  return false
}

/**
 * A URL below a server's base URL. `path` is empty or begins with a slash, `search` is empty or begins with a question mark,
 * both as sent. Throws `Invalid` for a path that might lead outside: with `.` or `..`, empty segments, backslashes or control characters, however encoded.
 */
const addressBelow = (server: string, path: string, search: string): URL => {
  const base = new URL(server)
  const prefix = base.pathname.replace(/\/$/, '')
  if (path !== '' && !(path.startsWith('/') && staysBelow(path))) {
    throw new Invalid('The path must not contain . or .. segments, empty segments, backslashes or control characters')
  }
  const url = new URL(`${base.protocol}//${base.host}${path === '' ? base.pathname : prefix + path}${search}`)
  const isBelow = url.pathname === base.pathname || url.pathname.startsWith(`${prefix}/`)
  if (url.origin !== base.origin || !isBelow || url.hash !== '') throw new Invalid('The path leaves the endpoint')
  return url
}

const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIPv6(address) ? 'ipv6' : 'ipv4')

const listOf = (networks: readonly (readonly [string, number])[]): BlockList => {
  const list = new BlockList()
  for (const [network, bits] of networks) list.addSubnet(network, bits, familyOf(network))
  return list
}

const networkOf = (entry: string): readonly [string, number] | undefined => {
  const [network = '', bits, ...more] = entry.split('/')
  const maxPrefixBits = isIPv6(network) ? 128 : 32
  if (isIP(network) === 0 || more.length > 0 || (bits !== undefined && !/^\d{1,3}$/.test(bits))) return undefined
  const prefix = bits === undefined ? maxPrefixBits : Number(bits)
  return prefix <= maxPrefixBits ? [network, prefix] : undefined
}

/** The host name as in URLs: in lower case and ASCII, without a dot at the end. Undefined for an IP address, however it is written. */
const hostOf = (entry: string): string | undefined => {
  const host = domainToASCII(entry).replace(/\.$/, '')
  const isName = !/[:/]/.test(entry) && /^[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?$/.test(host) && !/(?:^|\.)\d+$/.test(host)
  return isName ? host : undefined
}

/** The hosts and addresses that may be contacted: public ones, and those on the list (`files.example.org`, `10.1.0.0/16`). */
export class AllowedAddresses {
  readonly #hosts: ReadonlySet<string>
  readonly #networks: BlockList

  /** Throws `Invalid` for an entry that is neither a host name nor a network. */
  constructor(allow: readonly string[]) {
    const entries = allow.map(entry => ({ entry, network: networkOf(entry.trim()), host: hostOf(entry.trim()) }))
    const invalid = entries.find(({ network, host }) => network === undefined && host === undefined)
    if (invalid)
      throw new Invalid(
        `outbound.allow: ${JSON.stringify(invalid.entry)} is neither a host name nor a network; use for instance files.example.org, 10.1.2.3 or 10.1.0.0/16`,
      )
    this.#networks = listOf(entries.flatMap(({ network }) => (network ? [network] : [])))
    this.#hosts = new Set(entries.flatMap(({ host }) => host ?? []))
  }

  /** True for a host name on the list. */
  lists(host: string): boolean {
    return this.#hosts.has(host.toLowerCase().replace(/\.$/, ''))
  }

  /** True when this address of this host may be connected to; false for an invalid address. */
  has(host: string, address: string): boolean {
    if (isIP(address) === 0) return false
    if (this.lists(host)) return true
    // BlockList compares `::ffff:10.0.0.1` with the rules for 10.0.0.1.
    const family = familyOf(address)
    return this.#networks.check(address, family) || !isPrivateAddress(address)
  }
}

type Options = Parameters<Fetch['get']>[1]

type Answer = Awaited<ReturnType<Fetch['get']>>

const maxRedirects = 5

const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

const bare = (host: string): string => host.replace(/^\[|\]$/g, '')

/** Codes of Node's HTTP parser begin with HPE. Only a host that may be contacted gets as far as that or a certificate. */
const reasonOf = (host: string, { code = '' }: NodeJS.ErrnoException): string => {
  if (code.startsWith('HPE_')) return `The answer of ${host} is not HTTP`
  if (/CERT|UNABLE_TO_(GET_ISSUER|VERIFY_LEAF)/.test(code)) return `The TLS certificate of ${host} is not valid (${code})`
  if (/^(?:EPROTO|ERR_SSL_|ERR_TLS_)/.test(code)) return `The TLS handshake with ${host} failed (${code})`
  return `${host} is unreachable or has no public address`
}

const unreachable = ({ host }: URL, error: NodeJS.ErrnoException): Unreachable => new Unreachable(reasonOf(host, error), { cause: error })

/** Node closes a connection that switches to another protocol (101) without a response, an error or a timeout. */
const onUnanswered = (request: ClientRequest, { host }: URL, fail: (error: Unreachable) => void): void => {
  let isAnswered = false
  request.once('response', () => {
    isAnswered = true
  })
  request.once('close', () => {
    if (!isAnswered) fail(new Unreachable(`The answer of ${host} is not HTTP`))
  })
}

const refused = (host: string): Forbidden => new Forbidden(`${host} is not a public address and not allowed by outbound.allow`)

export const config = s.Object({
  allow: s.Array(s.String(), {
    default: [],
    description: 'Hosts (`files.example.org`) and networks (`10.1.0.0/16`) that may be fetched although they are not public',
  }),
})

const Config = configPort(config)

/** The only way to send requests to other servers. The addresses that a name resolves to are checked, and only a checked address is connected to. */
export class GuardedFetch implements Fetch {
  readonly #allowed: AllowedAddresses
  readonly #hosts: HostLookup
  #agents: Agents | undefined

  constructor({ allow }: { readonly allow: readonly string[] }, hosts = new HostLookup()) {
    this.#allowed = new AllowedAddresses(allow)
    this.#hosts = hosts
  }

  async get(address: string, options: Options): ReturnType<Fetch['get']> {
    let url = this.#checked(address)
    const until = Date.now() + options.timeoutMs
    for (let hop = 0; hop <= maxRedirects; hop++) {
      const headers = url.origin === new URL(address).origin ? (options.headers ?? {}) : {}
      const { answer, deadline } = await this.#ask(url, headers, until, options)
      const status = answer.statusCode ?? 0
      if (!redirects.has(status) || answer.headers.location === undefined) {
        return answered(answer, url, options.maxBytes, deadline)
      }
      deadline.end()
      answer.destroy()
      url = this.#checked(answer.headers.location, url)
    }
    throw new Unreachable(`${address} redirects more than ${maxRedirects} times`)
  }

  check(address: string): void {
    this.#checked(address)
  }

  async post(address: string, options: Parameters<Fetch['post']>[1]): ReturnType<Fetch['post']> {
    const url = this.#checked(address)
    this.#agents ??= keptConnections(this.#lookup)
    const { send, agent } = this.#agents[url.protocol === 'https:' ? 'https' : 'http']
    try {
      return await this.#post(url, options, send, agent)
    } catch (error) {
      // The other side may close a connection just as it is reused, and other idle ones with it.
      if (error instanceof StaleConnection) return this.#post(url, options, send, false)
      throw error
    }
  }

  #post(
    url: URL,
    { headers, body, maxBytes, timeoutMs, signal }: Parameters<Fetch['post']>[1],
    send: Agents['http']['send'],
    agent: Agent | false,
  ): ReturnType<Fetch['post']> {
    return new Promise((resolve, reject) => {
      const request = send(url, {
        method: 'POST',
        headers: { ...headers, 'content-length': body.byteLength, 'accept-encoding': 'identity' },
        agent,
        lookup: this.#lookup,
        ...(signal ? { signal } : {}),
      })
      let timedOut: (() => void) | undefined
      const deadline = new RequestDeadline(Date.now() + timeoutMs, undefined, () => {
        if (timedOut) timedOut()
        else request.destroy(new Unreachable(`Request to ${url.host} timed out`))
      })
      request.on('error', (error: NodeJS.ErrnoException) => {
        deadline.end()
        if (request.reusedSocket && error.code === 'ECONNRESET') reject(new StaleConnection())
        else reject(error instanceof Unreachable ? error : unreachable(url, error))
      })
      onUnanswered(request, url, error => {
        deadline.end()
        reject(error)
      })
      request.on('response', answer => {
        const pieces: Buffer[] = []
        let length = 0
        const end = (isCut: boolean): void => {
          deadline.end()
          const read = Buffer.concat(pieces).subarray(0, maxBytes)
          resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: read, isCut })
          if (isCut) request.destroy()
        }
        timedOut = () => end(true)
        answer.on('data', (piece: Buffer) => {
          pieces.push(piece)
          length += piece.length
          if (length > maxBytes) end(true)
        })
        answer.on('end', () => end(false))
        answer.on('error', () => end(true))
      })
      request.end(body)
    })
  }

  dispose(): void {
    this.#hosts.dispose()
    for (const { agent } of Object.values(this.#agents ?? {})) agent.destroy()
  }

  async below(server: string, where: Parameters<Fetch['below']>[1], options: Parameters<Fetch['below']>[2]): ReturnType<Fetch['below']> {
    const url = addressBelow(server, where.path, where.search)
    const { username, password } = new URL(server)
    const basic = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64')
    const headers = { ...options.headers, ...(username === '' && password === '' ? {} : { authorization: `Basic ${basic}` }) }
    const { answer, deadline } = await sent(url, { ...options, headers })
    return answered(answer, url, options.method === 'HEAD' ? Number.POSITIVE_INFINITY : options.maxBytes, deadline, options.method)
  }

  #checked(address: string, base?: URL): URL {
    if (!URL.canParse(address, base?.href)) throw new Invalid('Invalid URL')
    const url = new URL(address, base)
    if (url.protocol !== 'http:' && url.protocol !== 'https:') throw new Invalid('Only http and https URLs can be fetched')
    if (url.username !== '' || url.password !== '') throw new Invalid('URLs with a user name or password cannot be fetched')
    const host = bare(url.hostname)
    if (isIP(host) !== 0 && !this.#allowed.has(host, host)) throw refused(host)
    return url
  }

  readonly #lookup: LookupFunction = (hostname, options, callback) => {
    this.#hosts.of(hostname, { ...options, all: true }, this.#allowed.lists(hostname), (error, addresses) => {
      if (error) return callback(error, '', 0)
      const usable = addresses.filter(({ address }) => this.#allowed.has(hostname, address))
      const [first] = usable
      // A private address among public ones indicates rebinding: the whole name is rejected, like one that does not exist, since the difference would
      // reveal which names the internal network has.
      if (!first || usable.length < addresses.length) return callback(refused(hostname), '', 0)
      if (options.all) callback(null, usable)
      else callback(null, first.address, first.family)
    })
  }

  #ask(url: URL, headers: Readonly<Record<string, string>>, untilMs: number, { silenceMs, signal }: Options): Promise<GuardedRequest> {
    const timeoutMs = untilMs - Date.now()
    return sent(url, { method: 'GET', headers, timeoutMs, silenceMs, signal, lookup: this.#lookup })
  }
}
wire(GuardedFetch, Config)

/** The other side closed the connection before the request was sent. */
class StaleConnection extends Error {}

/** Maximum connections per host, and in total. */
const [maxSockets, maxTotalSockets] = [32, 256]

/** Connections kept open for the next request. Each was made to a checked address. */
const keptConnections = (lookup: LookupFunction) => {
  const [http, https] = [process.getBuiltinModule('node:http'), process.getBuiltinModule('node:https')]
  const options = { keepAlive: true, maxSockets, maxTotalSockets, maxFreeSockets: maxSockets, timeout: 60_000, lookup }
  return {
    http: { send: http.request, agent: new http.Agent(options) },
    https: { send: https.request, agent: new https.Agent(options) },
  }
}
type Agents = ReturnType<typeof keptConnections>

interface GuardedRequest {
  readonly answer: IncomingMessage
  readonly deadline: RequestDeadline
}

interface Sending {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly timeoutMs: number
  readonly silenceMs?: number | undefined
  readonly lookup?: LookupFunction
  readonly signal?: AbortSignal | undefined
  readonly body?: Parameters<Fetch['below']>[2]['body']
}

const sent = (url: URL, { method, headers, timeoutMs, silenceMs, lookup, signal, body }: Sending): Promise<GuardedRequest> =>
  new Promise((resolve, reject) => {
    // Imported here, because a static import of either would load Node's own fetch at each start.
    const { request: send } = process.getBuiltinModule(url.protocol === 'https:' ? 'node:https' : 'node:http')
    const length = body?.sizeBytes === undefined ? {} : { 'content-length': body.sizeBytes }
    const request: ClientRequest = send(url, {
      method,
      headers: { ...headers, ...length, 'accept-encoding': 'identity' },
      ...(lookup ? { lookup } : {}),
      ...(signal ? { signal } : {}),
      agent: false,
    })
    const deadline = new RequestDeadline(Date.now() + timeoutMs, silenceMs, () =>
      request.destroy(new Unreachable(`Request to ${url.host} timed out`)),
    )
    request.on('response', answer => resolve({ answer, deadline }))
    let cause: Error | undefined
    request.on('error', error => {
      deadline.end()
      const reason = cause ?? error
      const isAnswer = reason instanceof Problem && !(reason instanceof Forbidden)
      reject(isAnswer ? reason : unreachable(url, reason))
    })
    onUnanswered(request, url, error => {
      deadline.end()
      reject(error)
    })
    if (!body) {
      request.end()
      return
    }
    const counter = counting(body.maxBytes, deadline, `The body must be at most ${body.maxBytes} bytes`)
    const fails = (error: Error): void => {
      cause ??= error
    }
    body.stream.once('error', fails)
    counter.once('error', fails)
    // The request reports its end, unless a response arrived before everything was sent: then the body no longer matters.
    pipeline(body.stream, counter, request, () => undefined)
  })

const answered = (answer: IncomingMessage, url: URL, maxBytes: number, deadline: RequestDeadline, method = 'GET'): Answer => {
  const status = answer.statusCode ?? 0
  // A length beside these statuses is that of the body that another response would have (RFC 9110, 8.6).
  const hasLength = status >= 200 && status !== 204 && status !== 304
  const length = hasLength ? Number(answer.headers['content-length'] ?? Number.NaN) : Number.NaN
  if (length > maxBytes) {
    deadline.end()
    answer.destroy()
    throw new TooLarge(`The response has ${length} bytes; the limit is ${maxBytes}`)
  }
  const decoder = hasLength && length !== 0 ? decoderOf(answer, url) : undefined
  return {
    status,
    contentType: answer.headers['content-type'] ?? 'application/octet-stream',
    ...(decoder || Number.isNaN(length) ? {} : { sizeBytes: length }),
    ...(answer.headers['content-disposition'] === undefined ? {} : { disposition: answer.headers['content-disposition'] }),
    body: limited(answer, maxBytes, deadline, method === 'HEAD' ? undefined : decoder),
    url: url.href,
  }
}
