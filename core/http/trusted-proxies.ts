import type { IncomingHttpHeaders } from 'node:http'
import { BlockList, isIP } from 'node:net'

const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIP(address) === 6 ? 'ipv6' : 'ipv4')

/** The trusted proxies in front of the server: a number of them at any address, or a list of addresses. */
export class TrustedProxies {
  readonly #count: number
  readonly #listed: BlockList | undefined

  constructor(setting: number | readonly string[]) {
    this.#count = typeof setting === 'number' ? setting : 0
    this.#listed = typeof setting === 'number' ? undefined : listOf(setting)
  }

  /** True of a listed peer. With a number instead of a list, no peer is listed. */
  lists(peer: string | undefined): boolean {
    return peer !== undefined && this.#listed !== undefined && isIP(peer) !== 0 && this.#listed.check(peer, familyOf(peer))
  }

  /** True of a peer that connects on behalf of many clients. */
  mayForward(peer: string | undefined): boolean {
    return this.#count > 0 || this.lists(peer)
  }

  /** The client's address: the one seen by the outermost trusted proxy, otherwise that of the connection. */
  clientOf(headers: IncomingHttpHeaders, peer: string | undefined): string {
    const forwarded = headers['x-forwarded-for']
    if (typeof forwarded !== 'string' || !this.mayForward(peer)) return peer ?? ''
    const hops = forwarded.split(',').map(hop => withoutPort(hop.trim()))
    const seen = this.#listed ? this.#lastUnlisted(hops) : hops[Math.max(0, hops.length - this.#count)]
    return seen !== undefined && isIP(seen) !== 0 ? seen : (peer ?? '')
  }

  /** Entries added by an untrusted hop are ignored. */
  #lastUnlisted(hops: readonly string[]): string | undefined {
    return hops.findLast(hop => !this.lists(hop)) ?? hops[0]
  }
}

const listOf = (networks: readonly string[]): BlockList => {
  const list = new BlockList()
  for (const network of networks) {
    const [address = '', bits] = network.trim().split('/')
    const longest = isIP(address) === 6 ? 128 : 32
    const prefix = bits === undefined ? longest : Number(bits)
    if (isIP(address) === 0 || bits === '' || !Number.isInteger(prefix) || prefix < 0 || prefix > longest)
      throw new Error(`http.trustedProxies: ${network} is no IP address or network; write 10.0.0.5, 10.0.0.0/24 or 2001:db8::/64`)
    list.addSubnet(address, prefix, familyOf(address))
  }
  return list
}

/** Some proxies add the port, which differs from connection to connection. */
const withoutPort = (text: string): string => /^\[([^\]]+)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text
