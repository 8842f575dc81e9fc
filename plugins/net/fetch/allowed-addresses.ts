import { BlockList, isIP, isIPv6 } from 'node:net'
import { isPrivateAddress } from 'pounce/sdk'

const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIPv6(address) ? 'ipv6' : 'ipv4')

const listOf = (networks: readonly (readonly [string, number])[]): BlockList => {
  const list = new BlockList()
  for (const [network, bits] of networks) list.addSubnet(network, bits, familyOf(network))
  return list
}

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
    return this.#networks.check(address, family) || !isPrivateAddress(address)
  }
}
