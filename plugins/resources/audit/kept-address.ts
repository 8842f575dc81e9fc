import { isIP, isIPv4, isIPv6 } from 'node:net'
import type { Settings } from './config.ts'

/** The groups of an IPv6 address, from the first on, without leading zeros. */
const groupsOf = (address: string): readonly string[] => {
  const [head = '', tail] = address.toLowerCase().split('::')
  const [first, last] = [head, tail ?? ''].map(part => (part === '' ? [] : part.split(':'))) as [string[], string[]]
  const gap = tail === undefined ? [] : Array<string>(Math.max(0, 8 - first.length - last.length)).fill('0')
  return [...first, ...gap, ...last].map(group => group.replace(/^0+(?=.)/, ''))
}

/** The network that an address is in: the first 24 bits of IPv4, the first 48 of IPv6; null of what is no address. */
export const networkOf = (address: string): string | null => {
  const [unscoped = ''] = address.split('%', 1)
  const plain = unscoped.replace(/^::ffff:(?=\d+\.)/i, '')
  if (isIPv4(plain)) return plain.replace(/\.\d+$/, '.0/24')
  return isIPv6(plain) ? `${groupsOf(plain).slice(0, 3).join(':')}::/48` : null
}

/** As much of an address as is kept; null of what is none. */
export const keptAddress = (address: string | undefined, how: Settings['addresses']): string | null => {
  if (address === undefined || how === 'none') return null
  if (how === 'network') return networkOf(address)
  return isIP(address) === 0 ? null : address
}
