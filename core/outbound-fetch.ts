import { lookup as resolveName } from 'node:dns'
import type { ClientRequest, IncomingMessage } from 'node:http'
import { isIP, type LookupFunction } from 'node:net'
import { type Readable, Transform } from 'node:stream'
import { type Fetch, Forbidden, Invalid, TooLarge, Unreachable } from 'pounce/sdk'
import { AllowedAddresses } from './public-addresses.ts'
import { messageOf } from './start-refused.ts'

type Options = Parameters<Fetch['get']>[1]

const maxRedirects = 5
const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

const bare = (host: string): string => host.replace(/^\[|\]$/g, '')

const refused = (host: string): Forbidden => new Forbidden(`${host} is not a public address, and is not allowed by outbound.allow`)

/** The two clocks of one request: for all of it, and for silence. */
class Patience {
  readonly #whole: NodeJS.Timeout
  readonly #silence: NodeJS.Timeout | undefined

  constructor(untilMs: number, silenceMs: number | undefined, giveUp: () => void) {
    this.#whole = setTimeout(giveUp, Math.max(1, untilMs - Date.now()))
    this.#silence = silenceMs === undefined ? undefined : setTimeout(giveUp, silenceMs)
  }

  /** Something came. */
  heard(): void {
    this.#silence?.refresh()
  }

  end(): void {
    clearTimeout(this.#whole)
    clearTimeout(this.#silence)
  }
}

/** Counts bytes and fails beyond a limit. */
const limited = (source: IncomingMessage, maxBytes: number, patience: Patience): Readable => {
  let seen = 0
  const counter = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      seen += chunk.length
      patience.heard()
      if (seen > maxBytes) done(new TooLarge(`The answer is longer than ${maxBytes} bytes`))
      else done(null, chunk)
    },
  })
  counter.on('close', () => {
    patience.end()
    source.destroy()
  })
  source.on('error', error => counter.destroy(new Unreachable(`The answer broke off: ${messageOf(error)}`, { cause: error })))
  source.on('aborted', () => counter.destroy(new Unreachable('The answer broke off')))
  return source.pipe(counter)
}

/** The only door to other servers. What a name resolves to is checked, and the checked address is the one connected to. */
export class GuardedFetch implements Fetch {
  readonly #allowed: AllowedAddresses

  /** `allow`: hosts and networks that may be reached although they are not public. */
  constructor(allow: readonly string[] = []) {
    this.#allowed = new AllowedAddresses(allow)
  }

  async get(address: string, options: Options): ReturnType<Fetch['get']> {
    let url = this.#checked(address)
    const until = Date.now() + options.timeoutMs
    for (let hop = 0; hop <= maxRedirects; hop++) {
      const headers = url.origin === new URL(address).origin ? (options.headers ?? {}) : {}
      const { answer, patience } = await this.#ask(url, headers, until, options.silenceMs)
      const status = answer.statusCode ?? 0
      if (!redirects.has(status) || answer.headers.location === undefined) {
        const length = Number(answer.headers['content-length'] ?? Number.NaN)
        if (length > options.maxBytes) {
          patience.end()
          answer.destroy()
          throw new TooLarge(`The answer has ${length} bytes; the limit is ${options.maxBytes}`)
        }
        return {
          status,
          contentType: answer.headers['content-type'] ?? 'application/octet-stream',
          ...(Number.isNaN(length) ? {} : { sizeBytes: length }),
          ...(answer.headers['content-disposition'] === undefined ? {} : { disposition: answer.headers['content-disposition'] }),
          body: limited(answer, options.maxBytes, patience),
          url: url.href,
        }
      }
      patience.end()
      answer.destroy()
      url = this.#checked(answer.headers.location, url)
    }
    throw new Unreachable(`${address} redirects more than ${maxRedirects} times`)
  }

  #checked(address: string, base?: URL): URL {
    if (!URL.canParse(address, base?.href)) throw new Invalid('The address is not a URL')
    const url = new URL(address, base)
    if (url.protocol !== 'http:' && url.protocol !== 'https:') throw new Invalid('Only http and https addresses can be fetched')
    if (url.username !== '' || url.password !== '') throw new Invalid('An address with a user name or password cannot be fetched')
    const host = bare(url.hostname)
    if (isIP(host) !== 0 && !this.#allowed.has(host, host)) throw refused(host)
    return url
  }

  readonly #lookup: LookupFunction = (hostname, options, callback) => {
    resolveName(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, '', 0)
      const usable = addresses.filter(({ address }) => this.#allowed.has(hostname, address))
      const [first] = usable
      // One private address among public ones is how rebinding looks: the whole name is refused.
      if (!first || usable.length < addresses.length) return callback(refused(hostname), '', 0)
      if (options.all) callback(null, usable)
      else callback(null, first.address, first.family)
    })
  }

  #ask(
    url: URL,
    headers: Readonly<Record<string, string>>,
    until: number,
    silenceMs: number | undefined,
  ): Promise<{ answer: IncomingMessage; patience: Patience }> {
    return new Promise((resolve, reject) => {
      // Asked for here, because an ES import of either would load Node's own fetch at each start (see http/lean-modules.ts).
      const { request: send } = process.getBuiltinModule(url.protocol === 'https:' ? 'node:https' : 'node:http')
      const request: ClientRequest = send(url, {
        method: 'GET',
        headers: { ...headers, 'accept-encoding': 'identity' },
        lookup: this.#lookup,
        agent: false,
      })
      const patience = new Patience(until, silenceMs, () => request.destroy(new Unreachable(`${url.host} took too long`)))
      request.on('response', answer => resolve({ answer, patience }))
      request.on('error', error => {
        patience.end()
        reject(
          error instanceof Forbidden || error instanceof Unreachable
            ? error
            : new Unreachable(`${url.host} cannot be reached`, { cause: error }),
        )
      })
      request.end()
    })
  }
}
