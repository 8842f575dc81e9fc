/** By the URL parser: an extractor that imports the SDK may not load `node:net`. */
const isIPv6 = (text: string): boolean => /^[0-9a-f:.]+$/i.test(text) && URL.canParse(`http://[${text}]/`)

/** What counts of an address where callers are counted: one line has a whole /64 of IPv6 addresses to choose from, so these are one. */
export const networkOf = (address: string): string => {
  const [plain = ''] = address.split('%', 1)
  if (!isIPv6(plain)) return plain
  // The URL parser writes every spelling of an address in one way.
  const [head = '', tail] = (URL.parse(`http://[${plain}]/`)?.hostname.slice(1, -1) ?? plain).split('::')
  const first = head === '' ? [] : head.split(':')
  const last = tail === undefined || tail === '' ? [] : tail.split(':')
  const groups = [...first, ...Array<string>(Math.max(0, 8 - first.length - last.length)).fill('0'), ...last]
  return mappedIPv4(groups) ?? `${groups.slice(0, 4).join(':')}::/64`
}

/** `::ffff:192.0.2.7` is how an IPv4 address looks on a socket that takes both. */
const mappedIPv4 = (groups: readonly string[]): string | undefined => {
  if (groups.slice(0, 6).join(':') !== '0:0:0:0:0:ffff') return undefined
  const [high = 0, low = 0] = groups.slice(6).map(group => Number.parseInt(group, 16))
  return [high >> 8, high & 255, low >> 8, low & 255].join('.')
}
