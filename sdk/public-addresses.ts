import type { BlockList } from 'node:net'

/** Networks that are not part of the public Internet (IANA special-purpose registries, IPv4 and IPv6). */
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

/** Loaded on first use: an extractor that imports the SDK may not load `node:net`. */
const net = (): typeof import('node:net') => process.getBuiltinModule('node:net')

let blocked: BlockList | undefined

const privateList = (): BlockList => {
  const { BlockList, isIPv6 } = net()
  const list = new BlockList()
  for (const [network, bits] of privateNetworks) list.addSubnet(network, bits, isIPv6(network) ? 'ipv6' : 'ipv4')
  return list
}

/** True for an IP address that is not on the public Internet; false for anything that is not an IP address. */
export const isPrivateAddress = (address: string): boolean => {
  const version = net().isIP(address)
  if (version === 0) return false
  blocked ??= privateList()
  return blocked.check(address, version === 6 ? 'ipv6' : 'ipv4')
}
