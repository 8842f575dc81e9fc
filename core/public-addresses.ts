import { BlockList, isIP, isIPv6 } from 'node:net'

/** Networks that are not the public Internet (IANA special-purpose registries, IPv4 and IPv6). */
const privateNetworks: readonly (readonly [network: string, bits: number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
  // Both embed IPv4 addresses: RFC 4291, 2.5.5.1 (`::127.0.0.1`) and RFC 2765, 2.1 (`::ffff:0:127.0.0.1`).
  ['::', 96],
  ['::ffff:0:0:0', 96],
  ['64:ff9b::', 96],
  ['64:ff9b:1::', 48],
  ['100::', 64],
  ['100:0:0:1::', 64],
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
  ['5f00::', 16],
  ['fc00::', 7],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
]

const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIPv6(address) ? 'ipv6' : 'ipv4')

const listOf = (networks: readonly (readonly [string, number])[]): BlockList => {
  const list = new BlockList()
  for (const [network, bits] of networks) list.addSubnet(network, bits, familyOf(network))
  return list
}

const blocked = listOf(privateNetworks)

/** Which hosts and addresses may be reached: public ones, and those on the list (`files.example.org`, `10.1.0.0/16`). */
export class AllowedAddresses {
  readonly #hosts: ReadonlySet<string>
  readonly #networks: BlockList

  constructor(allow: readonly string[]) {
    const networks = allow.filter(one => isIP(one.split('/')[0] ?? '') !== 0)
    this.#hosts = new Set(allow.filter(one => !networks.includes(one)).map(host => host.toLowerCase()))
    this.#networks = listOf(
      networks.map(one => {
        const [network = '', bits] = one.split('/')
        return [network, bits === undefined ? (isIPv6(network) ? 128 : 32) : Number(bits)]
      }),
    )
  }

  /** True when this address of this host may be connected to; false for what is no address. */
  has(host: string, address: string): boolean {
    if (isIP(address) === 0) return false
    if (this.#hosts.has(host.toLowerCase())) return true
    // BlockList compares `::ffff:10.0.0.1` with the rules for 10.0.0.1.
    const family = familyOf(address)
    return this.#networks.check(address, family) || !blocked.check(address, family)
  }
}
