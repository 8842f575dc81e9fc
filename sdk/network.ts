/** Uses the URL parser: an extractor that imports the SDK may not load `node:net`. */
const isIPv6 = (text: string): boolean => /^[0-9a-f:.]+$/i.test(text) && URL.canParse(`http://[${text}]/`)

/** The part of a client address that identifies a caller in limits: an IPv6 client can choose from a whole /64, so its addresses are counted as one. */
export const networkOf = (address: string): string => {
  const [plain = ''] = address.split('%', 1)
  if (!isIPv6(plain)) return plain
  // The URL parser normalizes all spellings of an address.
  const [head = '', tail] = (URL.parse(`http://[${plain}]/`)?.hostname.slice(1, -1) ?? plain).split('::')
  const first = head === '' ? [] : head.split(':')
  const last = tail === undefined || tail === '' ? [] : tail.split(':')
  const groups = [...first, ...Array<string>(Math.max(0, 8 - first.length - last.length)).fill('0'), ...last]
  return mappedIPv4(groups) ?? `${groups.slice(0, 4).join(':')}::/64`
}

/** `::ffff:192.0.2.7` is an IPv4 address on a dual-stack socket. */
const mappedIPv4 = (groups: readonly string[]): string | undefined => {
  if (groups.slice(0, 6).join(':') !== '0:0:0:0:0:ffff') return undefined
  const [high = 0, low = 0] = groups.slice(6).map(group => Number.parseInt(group, 16))
  return [high >> 8, high & 255, low >> 8, low & 255].join('.')
}
