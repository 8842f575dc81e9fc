import type { IncomingHttpHeaders } from 'node:http'
import { BlockList, isIP } from 'node:net'

const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIP(address) === 6 ? 'ipv6' : 'ipv4')

/** The trusted proxies in front of the server: a number of them with any addresses, or a list. */
export class TrustedProxies {
  readonly #count: number
  readonly #listed: BlockList | undefined

  constructor(setting: number | readonly string[]) {
    this.#count = typeof setting === 'number' ? setting : 0
    this.#listed = typeof setting === 'number' ? undefined : listOf(setting)
  }

  /** True if the peer is in the list; always false if only a number is configured. */
  lists(peer: string | undefined): boolean {
    return peer !== undefined && this.#listed !== undefined && isIP(peer) !== 0 && this.#listed.check(peer, familyOf(peer))
  }

  /** True if the peer may be a proxy, whose connections are those of many clients. */
  mayForward(peer: string | undefined): boolean {
    return this.#count > 0 || this.lists(peer)
  }

  /** The client's address: as the outermost trusted proxy saw it, or that of the connection. */
  clientOf(headers: IncomingHttpHeaders, peer: string | undefined): string {
    const forwarded = headers['x-forwarded-for']
    if (typeof forwarded !== 'string' || !this.mayForward(peer)) return peer ?? ''
    const hops = forwarded.split(',').map(hop => withoutPort(hop.trim()))
    const seen = this.#listed ? this.#lastUnlisted(hops) : hops[Math.max(0, hops.length - this.#count)]
    return seen !== undefined && isIP(seen) !== 0 ? seen : (peer ?? '')
  }

  /** The last hop that is not a listed proxy; entries before it are not trusted. */
  #lastUnlisted(hops: readonly string[]): string | undefined {
    return hops.findLast(hop => !this.lists(hop)) ?? hops[0]
  }
}

const listOf = (networks: readonly string[]): BlockList => {
  const list = new BlockList()
  for (const network of networks) {
    const [address = '', bits] = network.trim().split('/')
    const maxPrefixBits = isIP(address) === 6 ? 128 : 32
    const prefix = bits === undefined ? maxPrefixBits : Number(bits)
    if (isIP(address) === 0 || bits === '' || !Number.isInteger(prefix) || prefix < 0 || prefix > maxPrefixBits)
      throw new Error(
        `http.trustedProxies: ${network} is not an IP address or network; use for instance 10.0.0.5, 10.0.0.0/24 or 2001:db8::/64`,
      )
    list.addSubnet(address, prefix, familyOf(address))
  }
  return list
}

/** Some proxies add the port, which differs between connections. */
const withoutPort = (text: string): string => /^\[([^\]]+)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text
