/**
 * The name of a cookie of ours: with the prefix `__Host-` where people reach the server over TLS, so that browsers take it from this server alone, over TLS, for
 * all of its paths (RFC 6265bis, 4.1.3).
 */
export const cookieName = (name: string, baseUrl: string): string => (baseUrl.startsWith('https:') ? `__Host-${name}` : name)

/** The value of a `Set-Cookie` header: the cookie with the attributes that all of ours have. `maxAgeSeconds` 0 removes it. */
export const setCookie = (
  name: string,
  value: string,
  { maxAgeSeconds, baseUrl }: { readonly maxAgeSeconds: number; readonly baseUrl: string },
): string =>
  `${cookieName(name, baseUrl)}=${value}; Max-Age=${Math.floor(maxAgeSeconds)}; Path=/; HttpOnly; SameSite=Lax${baseUrl.startsWith('https:') ? '; Secure' : ''}`

/** The value of a cookie by its whole name. Two different ones are none that fits: the second may have been planted by another server of the domain. */
export const cookieIn = (header: string | undefined, name: string): string | undefined => {
  const values = new Set<string>()
  for (const pair of header?.split(';') ?? []) {
    const at = pair.indexOf('=')
    if (at > 0 && pair.slice(0, at).trim() === name) values.add(unquoted(pair.slice(at + 1).trim()))
  }
  return values.size === 0 ? undefined : [...values].join(', ')
}

const unquoted = (text: string): string => (text.length > 1 && text.startsWith('"') && text.endsWith('"') ? text.slice(1, -1) : text)

/** The cookie that carries a session. */
export const sessionCookie = 'pounce_session'
